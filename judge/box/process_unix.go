//go:build linux || darwin

package box

import (
	"errors"
	"os"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// Init must be the first statement of main: it turns the process into the first one of a
// box, and never returns, when relay was executed by [Box.Start] for that. In any
// other process it does nothing.
func Init() {
	ready.Store(true)
	asFirst()
	if len(os.Args) == 1 && roles[os.Args[0]] != nil {
		roles[os.Args[0]]()
	}
}

// ready is set by Init. Without it the processes that a box starts as this program would
// run its main once more, and that would start boxes again.
var ready atomic.Bool

// Process is the direct child of a running box.
type Process struct {
	proc *os.Process // the child, or the first process of the box
	// lock is the layer's. The first process has it too, until every process of the box is
	// gone, so that a layer whose host was killed is not touched too early.
	lock      *os.File
	kill      func() // ends the box
	taking    sync.Mutex
	listeners []*os.File // that nobody has taken yet
	exceeded  atomic.Pointer[Exceeded]
	done      chan struct{}
	state     ExitState
	err       error
}

// Start runs a process in the box. It returns when the process was executed, or
// with an *Error that says what could not be set up.
func (b *Box) Start(p Proc) (*Process, error) {
	if len(p.Argv) == 0 {
		return nil, &Error{Op: "start", Why: "no program was named"}
	}
	if !ready.Load() {
		return nil, &Error{Op: "start", Why: "the main function of this program does not call box.Init"}
	}
	run, err := b.start(p)
	if errors.Is(err, unix.EINVAL) && b.weak == nil { // perhaps something was just being mounted that the plan did not know
		run, err = b.start(p)
	}
	return run, err
}

func (b *Box) start(p Proc) (run *Process, err error) {
	lock, err := b.lock()
	if err != nil {
		return nil, err
	}
	switch {
	case b.weak == nil:
		run, err = b.startOverlay(p, lock)
	default:
		if err = b.cantDo(p); err == nil {
			err = b.use()
		}
		if err == nil {
			run, err = b.weak.Start(p, lock)
		}
	}
	if err != nil {
		unlock(lock)
	}
	return run, err
}

// Follow makes a running program the process of a box: kill ends it at any time, wait
// waits for its end, and after does what is left to do then.
func Follow(proc *os.Process, lock *os.File, kill func(), wait func() (ExitState, error), after func() error) *Process {
	p := &Process{proc: proc, lock: lock, kill: kill, done: make(chan struct{})}
	go p.follow(wait, after)
	return p
}

func (p *Process) follow(wait func() (ExitState, error), after func() error) {
	p.state, p.err = wait()
	p.leave()
	if p.state.Exceeded = p.exceeded.Load(); p.state.Exceeded != nil {
		p.state.Left = 0 // they did not outlive the child
	}
	p.err = errors.Join(p.err, after())
	p.left()
}

// Exceed ends the box for a limit that somebody else watches.
func (p *Process) Exceed(e *Exceeded) {
	p.exceeded.CompareAndSwap(nil, e)
	p.Kill()
}

// Exceeded is the limit for which the box is being, or was, ended; nil for none.
func (p *Process) Exceeded() *Exceeded { return p.exceeded.Load() }

// Listeners are sockets that listen in the box's own network, one for each address
// of Confine.Listen, in order. They are the caller's, who closes them, since a box can
// end at any time: asked again, there are none.
func (p *Process) Listeners() []*os.File {
	p.taking.Lock()
	defer p.taking.Unlock()
	taken := p.listeners
	p.listeners = nil
	return taken
}

// Pid is the process id of the first process of the box, as this process sees it.
func (p *Process) Pid() int { return p.proc.Pid }

// Wait returns when the direct child has ended and every other process of the box
// with it. It may be called more than once.
func (p *Process) Wait() (ExitState, error) {
	<-p.done
	return p.state, p.err
}

// Kill ends every process of the box at once.
func (p *Process) Kill() {
	p.leave()
	p.kill()
}
