package crew

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"github.com/paxiom/relay/host/fault"
	"github.com/paxiom/relay/host/internal/catalog"
	"github.com/paxiom/relay/host/internal/launch"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/box"
)

// maxVerdicts bounds what is read of the verdicts on a plugin, in bytes.
const maxVerdicts = 4 << 20

// InCell runs relay itself, with arguments and the file of a plugin as the last one, in a
// box in which it may start that file and nothing else, and gives what it prints. The
// file is a copy with the pinned hash, made for this.
func (e Env) InCell(ctx context.Context, relay string, entry catalog.Entry, args ...string) ([]byte, error) {
	dir, remove, err := launch.NewSocketDir()
	if err != nil {
		return nil, fault.Wrap(err, judge.BlockedPlugin, "there is no place to try the plugin", "`ls -ld /tmp /tmp/relay-*` shows who owns them")
	}
	defer remove()
	file := filepath.Join(dir, filepath.Base(entry.Path))
	if err := copyPinned(file, entry); err != nil {
		return nil, err
	}
	guest := catalog.Entry{Name: entry.Name, Pin: entry.Pin, Programs: []string{file}, Read: []string{dir}}
	if guest.Pin == nil {
		guest.Pin = &catalog.Pin{}
	}
	b, plan, _, gone, err := e.cell(ctx, guest)
	if err != nil {
		return nil, err
	}
	defer gone()
	exe, err := os.Open(relay)
	if err != nil {
		return nil, fault.Internal(err)
	}
	defer exe.Close()
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fault.Internal(err)
	}
	defer r.Close()
	run, err := plan.Start(b, box.Proc{Exe: exe, Argv: append(append([]string{"relay"}, args...), file), Env: launch.Env(nil, []string{"CI=1"}), Dir: b.Dir(), Stdout: w})
	w.Close()
	if err != nil {
		return nil, BoxFault(err)
	}
	stop := context.AfterFunc(ctx, run.Kill)
	defer stop()
	var out bytes.Buffer
	_, err = io.Copy(&out, io.LimitReader(r, maxVerdicts))
	run.Kill() // at the latest when it prints more than anybody reads
	run.Wait()
	switch trespass := plan.Trespass(); {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case trespass != nil:
		return nil, trespass
	case err != nil:
		return nil, fault.Internal(err)
	}
	return out.Bytes(), nil
}

// copyPinned copies the plugin's file, if it is the pinned one.
func copyPinned(to string, entry catalog.Entry) error {
	in, err := os.OpenFile(entry.Path, os.O_RDONLY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return fault.Wrap(err, judge.BlockedPlugin, "plugin "+entry.Name+" can't be tried", entry.Reinstall())
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o700)
	if err != nil {
		return fault.Internal(err)
	}
	h := sha256.New()
	_, err = io.Copy(io.MultiWriter(out, h), in)
	if bad := out.Close(); err == nil {
		err = bad
	}
	if err != nil {
		return fault.Internal(err)
	}
	if hex.EncodeToString(h.Sum(nil)) != entry.SHA256 {
		return fault.New(judge.BlockedPlugin, "plugin "+entry.Name+" is not the file that was pinned", "its SHA-256 is another", entry.Reinstall())
	}
	return nil
}
