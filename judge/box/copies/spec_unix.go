//go:build linux || darwin

package copies

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/paxiom/relay/judge/box"
	"github.com/paxiom/relay/judge/box/internal/tree"
)

// spec is what a supervisor needs to know.
type spec struct {
	Argv, Env []string
	Dir       string
	HasExe    bool
	// Landlock: only Folders and Files can be written.
	Landlock       bool
	Folders, Files []string
	// Hidden can't be read.
	Hidden []string
	Limits box.Limits
	Group  string // the control group that holds the processes, "" for none
	// Run is removed in the end, and Layer's real folders are put back, when the host
	// is not there to do it.
	Run, Layer string
}

// writableDevices are the devices that may be written under Landlock.
var writableDevices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx"}

// spec works out what the process gets, and makes its home and temporary folder.
func (b *copied) spec(p box.Proc) (*spec, error) {
	name := strconv.FormatUint(rand.Uint64(), 36)
	run := filepath.Join(b.Scratch, name)
	if b.Layout.Dir != "" {
		run = filepath.Join(b.Layout.Dir, layerRun, name)
	}
	what := &spec{Argv: p.Argv, Dir: b.inside(p.Dir), HasExe: p.Exe != nil, Limits: p.Confine.Limits,
		Landlock: b.Means == box.Landlock, Run: run, Layer: b.Layout.Dir, Files: writableDevices}
	tmp, home := filepath.Join(run, "tmp"), filepath.Join(run, "home")
	err := os.MkdirAll(tmp, 0o700)
	if b.copies() && b.Home == b.Root {
		home = b.top()
	} else if err == nil {
		err = makeHome(b.Home, home, b.Persist, b.Shut)
	}
	for _, h := range b.Shut {
		what.Hidden = append(what.Hidden, h.Path)
	}
	what.Hidden = append(what.Hidden, b.statesToHide(p.Exe)...)
	if err != nil {
		return what, &box.Error{Op: "make a home in", Path: run, Err: err}
	}
	what.Folders = []string{run, "/dev/pts"}
	if b.copies() {
		for i := range b.Lowers {
			what.Folders = append(what.Folders, b.Copy(i))
		}
	}
	writable := b.Persist
	for _, bind := range b.Binds {
		if bind.Writable {
			writable = append(writable[:len(writable):len(writable)], bind.Path)
		}
	}
	for _, path := range writable {
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			what.Folders = append(what.Folders, path)
		} else {
			what.Files = append(what.Files[:len(what.Files):len(what.Files)], path)
		}
	}
	what.Env = box.WithoutSockets(homeless(p.Env, b.Home, home), map[string]string{"TMPDIR": tmp, "HOME": home})
	if b.copies() { // whose inodes and times of change git does not know
		what.Env = box.WithGitSetting(what.Env, "core.checkStat", "minimal")
	}
	return what, nil
}

// homeless lets the variables of the XDG folders lead into another home.
func homeless(env []string, home, made string) []string {
	var out []string
	for _, e := range env {
		name, value, _ := strings.Cut(e, "=")
		if strings.HasPrefix(name, "XDG_") && strings.HasSuffix(name, "_HOME") && home != "" && tree.Within(value, home) {
			e = name + "=" + made + strings.TrimPrefix(value, home)
		}
		if name != "XDG_RUNTIME_DIR" {
			out = append(out, e)
		}
	}
	return out
}

// inside gives the folder that stands for one of the real tree.
func (b *copied) inside(dir string) string {
	if dir == "" {
		return b.top()
	}
	if real := tree.RealPath(dir); b.copies() && tree.Within(real, b.Root) {
		return b.top() + strings.TrimPrefix(real, b.Root)
	}
	return dir
}
