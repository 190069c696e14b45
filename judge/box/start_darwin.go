package box

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/paxiom/relay/judge/box/internal/tree"
)

// macOS has no namespaces and no Landlock: the only means is a copy. The processes are
// a session of their own; one that leaves it is not found.

// Init must be the first statement of main. It tries out a box from inside, when relay
// was executed for that.
func Init() {
	if len(os.Args) == 3 && os.Args[0] == trialName {
		runTrial(os.Args[1], os.Args[2])
	}
}

// canScope: abstract unix sockets are Linux's.
func canScope() bool { return false }

// canGroup: control groups are Linux's.
func canGroup() bool { return false }

// ownPidMax is about pid namespaces.
func ownPidMax() bool { return false }

// SweepGroups finds none.
func SweepGroups() int { return 0 }

// Process is the direct child of a running box.
type Process struct {
	proc     *os.Process
	lock     *os.File // the layer's
	killed   atomic.Bool
	exceeded atomic.Pointer[Exceeded]
	done     chan struct{}
	state    ExitState
	err      error
}

// Start runs a process in the box. It returns when the process was executed, or with
// an *Error that says what could not be set up.
func (b *Box) Start(p Proc) (*Process, error) {
	if len(p.Argv) == 0 {
		return nil, &Error{Op: "start", Why: "no program was named"}
	}
	if b.spec.Means != Copy {
		return nil, &Error{Op: "use " + b.spec.Means, Unsupported: true, Why: "it is Linux's; macOS has the means copy",
			Fix: "`relay run --set box.means=copy`, or run relay in a Linux virtual machine"}
	}
	if p.Confine.Grants.Held {
		return nil, b.cantHold()
	}
	if p.Confine.OwnNetwork {
		return nil, &Error{Op: "close the network of", Path: b.spec.Root, Unsupported: true, Why: "a copy can't take the network away"}
	}
	lock, err := b.lock()
	if err != nil {
		return nil, err
	}
	what, err := b.errand(p)
	if err == nil {
		err = b.begin()
	}
	if err == nil {
		err = b.use()
	}
	run := &Process{lock: lock, done: make(chan struct{})}
	if err == nil {
		run.proc, err = execute(p, what)
	}
	if err != nil {
		tree.Remove(what.Run)
		unlock(lock)
		return nil, err
	}
	go func() {
		state, err := run.proc.Wait()
		run.Kill() // and so it leaves
		run.state, run.err = ExitState{Code: -1, Killed: true}, err
		if ended, ok := state.Sys().(syscall.WaitStatus); err == nil && ok {
			run.state = ExitState{Code: ended.ExitStatus()}
			if ended.Signaled() {
				run.state.Signal, run.state.Killed = ended.Signal(), run.killed.Load()
			}
		}
		run.state.Exceeded = run.exceeded.Load()
		run.err = errors.Join(run.err, b.end())
		tree.Remove(what.Run)
		run.left()
	}()
	return run, nil
}

// execute starts the child in a session of its own.
func execute(p Proc, what *errand) (*os.Process, error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, &Error{Op: "open", Path: os.DevNull, Err: err}
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
		return nil, &Error{Op: "find the program", Path: what.Argv[0], Err: err}
	}
	proc, err := os.StartProcess(path, what.Argv, &os.ProcAttr{Dir: what.Dir, Env: what.Env, Files: files, Sys: &syscall.SysProcAttr{Setsid: true}})
	if err != nil {
		return nil, &Error{Op: "start the program", Path: what.Argv[0], Err: err}
	}
	return proc, nil
}

// lookPath finds a program along the PATH that it gets.
func lookPath(what *errand) (string, error) {
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

// Pid is the process id of the child.
func (p *Process) Pid() int { return p.proc.Pid }

// Wait returns when the direct child has ended and what is left of its session with it.
func (p *Process) Wait() (ExitState, error) {
	<-p.done
	return p.state, p.err
}

// Exceed ends the box for a limit that somebody else watches.
func (p *Process) Exceed(e *Exceeded) {
	p.exceeded.CompareAndSwap(nil, e)
	p.Kill()
}

// Exceeded is the limit for which the box is being, or was, ended; nil for none.
func (p *Process) Exceeded() *Exceeded { return p.exceeded.Load() }

// Listeners are none.
func (p *Process) Listeners() []*os.File { return nil }

// Kill ends the child and its session at once.
func (p *Process) Kill() {
	p.killed.Store(true)
	p.leave()
	syscall.Kill(-p.proc.Pid, syscall.SIGKILL)
}
