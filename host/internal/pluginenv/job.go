package pluginenv

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/catalog"
	"github.com/paxiom/relay/host/internal/launch"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/box"
)

// maxVerdicts bounds what is read of the verdicts on a plugin, in bytes.
const maxVerdicts = 4 << 20

// Job is what relay does with a plugin in a box.
type Job struct {
	Args  []string          // of relay; the plugin's file is added as the last one
	Files map[string][]byte // laid beside the plugin's file, by name
	// Calls says that the plugin is called, and not only asked: then it may start the
	// programs that it was granted.
	Calls bool
}

// InBox runs relay itself for a job with a plugin, in a box without network in which
// it may start that plugin, and gives what it prints. The plugin's file is a copy with
// the pinned hash, made for this.
func (e Env) InBox(ctx context.Context, relay string, entry catalog.Entry, job Job) ([]byte, error) {
	dir, remove, err := launch.NewSocketDir()
	if err != nil {
		return nil, diag.Wrap(err, judge.BlockedPlugin, "relay can't make a folder to try the plugin in", "`ls -ld /tmp /tmp/relay-*` shows who owns them")
	}
	defer remove()
	file := filepath.Join(dir, filepath.Base(entry.Path))
	if err := copyPinned(file, entry); err != nil {
		return nil, err
	}
	for name, raw := range job.Files {
		if err := os.WriteFile(filepath.Join(dir, name), raw, 0o600); err != nil {
			return nil, diag.Internal(err)
		}
	}
	boxed := catalog.Entry{Name: entry.Name, Pin: entry.Pin, Programs: []string{file}, Read: []string{dir}}
	if job.Calls {
		boxed.Programs = append(boxed.Programs, entry.Programs...)
	}
	if boxed.Pin == nil {
		boxed.Pin = &catalog.Pin{}
	}
	b, plan, _, gone, err := e.box(ctx, boxed)
	if err != nil {
		return nil, err
	}
	defer gone()
	exe, err := os.Open(relay)
	if err != nil {
		return nil, diag.Internal(err)
	}
	defer exe.Close()
	r, w, err := os.Pipe()
	if err != nil {
		return nil, diag.Internal(err)
	}
	defer r.Close()
	run, err := plan.Start(b, box.Proc{Exe: exe, Argv: append(append([]string{"relay"}, job.Args...), file), Env: launch.Env(nil, []string{"CI=1"}), Dir: b.Dir(), Stdout: w})
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
		return nil, diag.Internal(err)
	}
	return out.Bytes(), nil
}

// copyPinned copies the plugin's file, if it is the pinned one.
func copyPinned(to string, entry catalog.Entry) error {
	in, err := os.OpenFile(entry.Path, os.O_RDONLY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return diag.Wrap(err, judge.BlockedPlugin, "plugin "+entry.Name+" can't be tried", entry.Reinstall())
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o700)
	if err != nil {
		return diag.Internal(err)
	}
	h := sha256.New()
	_, err = io.Copy(io.MultiWriter(out, h), in)
	if bad := out.Close(); err == nil {
		err = bad
	}
	if err != nil {
		return diag.Internal(err)
	}
	if hex.EncodeToString(h.Sum(nil)) != entry.SHA256 {
		return diag.New(judge.BlockedPlugin, "plugin "+entry.Name+" is not the file that was pinned", "its SHA-256 is another", entry.Reinstall())
	}
	return nil
}
