package copies

import (
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/paxiom/relay/judge/box"
	"github.com/paxiom/relay/judge/box/internal/tree"
)

// macOS has no namespaces and no Landlock: the only means is a copy. The processes are
// a session of their own; one that leaves it is not found.

// Grouped: control groups are Linux's.
func (means) Grouped() bool { return false }

// Sweep finds none.
func (means) Sweep() int { return 0 }

// Start runs a process in a session of its own.
func (b *copied) Start(p box.Proc, lock *os.File) (*box.Process, error) {
	if b.Means != box.Copy {
		return nil, &box.Error{Op: "use " + b.Means, Unsupported: true, Why: "it is Linux's; macOS has the means copy",
			Fix: "`relay run --set box.means=copy`, or run relay in a Linux virtual machine"}
	}
	what, err := b.spec(p)
	if err == nil {
		err = b.begin()
	}
	var proc *os.Process
	if err == nil {
		proc, err = execute(p, what)
	}
	if err != nil {
		tree.Remove(what.Run)
		return nil, err
	}
	var killed atomic.Bool
	end := func() { syscall.Kill(-proc.Pid, syscall.SIGKILL) }
	return box.Follow(proc, lock, func() { killed.Store(true); end() }, func() (box.ExitState, error) {
		state, err := proc.Wait()
		end() // what is left of its session
		out := box.ExitState{Code: -1, Killed: true}
		if err != nil {
			return out, err
		}
		if ended, ok := state.Sys().(syscall.WaitStatus); ok {
			out = box.ExitState{Code: ended.ExitStatus()}
			if ended.Signaled() {
				out.Signal, out.Killed = ended.Signal(), killed.Load()
			}
		}
		return out, nil
	}, func() error {
		err := b.end()
		tree.Remove(what.Run)
		return err
	}), nil
}

// execute starts the child in a session of its own.
func execute(p box.Proc, what *spec) (*os.Process, error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, &box.Error{Op: "open", Path: os.DevNull, Err: err}
	}
	defer null.Close()
	files := []*os.File{p.Stdin, p.Stdout, p.Stderr}
	for i := range files {
		if files[i] == nil {
			files[i] = null
		}
	}
	var path string
	if p.Exe != nil {
		path = p.Exe.Name()
	} else if path, err = lookPath(what); err != nil {
		return nil, &box.Error{Op: "find the program", Path: what.Argv[0], Err: err}
	}
	proc, err := os.StartProcess(path, what.Argv, &os.ProcAttr{Dir: what.Dir, Env: what.Env, Files: files, Sys: &syscall.SysProcAttr{Setsid: true}})
	if err != nil {
		return nil, &box.Error{Op: "start the program", Path: what.Argv[0], Err: err}
	}
	return proc, nil
}

// lookPath finds a program along the PATH that it gets.
func lookPath(what *spec) (string, error) {
	if strings.Contains(what.Argv[0], "/") {
		return what.Argv[0], nil
	}
	for _, e := range what.Env {
		if dirs, ok := strings.CutPrefix(e, "PATH="); ok {
			for dir := range strings.SplitSeq(dirs, ":") {
				if path, err := exec.LookPath(dir + "/" + what.Argv[0]); err == nil && dir != "" {
					return path, nil
				}
			}
		}
	}
	return "", exec.ErrNotFound
}
