package box

import (
	"encoding/gob"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/paxiom/relay/judge/box/internal/tree"
)

// collect waits for the end of the box.
func (p *Process) collect(reports *gob.Decoder, from *os.File, away string, q *quota) {
	var end report
	for !end.Exited {
		end = report{}
		if reports.Decode(&end) != nil {
			break
		}
		if end.Exceeded != nil {
			p.exceeded.CompareAndSwap(nil, end.Exceeded)
		}
	}
	p.leave()
	// When pid 1 is gone, the kernel has ended every other process of the box.
	p.ended, p.err = p.proc.Wait()
	if p.exceeded.Load() == nil && q != nil {
		p.exceeded.Store(q.look(true)) // what came after the last look
	}
	p.state = ExitState{Code: end.Code, Signal: end.Signal, Left: end.Left}
	if !end.Exited {
		p.state = ExitState{Code: -1, Killed: true}
	}
	if p.state.Exceeded = p.exceeded.Load(); p.state.Exceeded != nil {
		p.state.Left = 0 // they did not outlive the child
	}
	from.Close()
	p.control.Close()
	for _, l := range p.Listeners() { // which nobody wanted
		l.Close()
	}
	if p.after != nil {
		p.err = errors.Join(p.err, p.after())
	}
	tree.Remove(away)
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

// Pid is the process id of the box's pid 1, as this process sees it.
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
	if p.kill != nil {
		p.kill()
		return
	}
	p.proc.Kill()
}

// setupError turns what pid 1 reported into an error for the user; when it reported nothing,
// how it ended says more than that it did.
func setupError(f *failure, err error, ended *os.ProcessState) error {
	switch {
	case f == nil && errors.Is(err, os.ErrDeadlineExceeded):
		return &Error{Op: "start", Why: fmt.Sprintf("it was not set up within %v", setupTime), Err: err}
	case f == nil:
		return &Error{Op: "start", Why: fmt.Sprintf("its first process ended before it was set up: %v", ended), Err: err}
	}
	e := denied(f.Op, f.Errno)
	e.Path = f.Path
	if e.Why == "" {
		e.Why = f.Detail
	}
	if f.Errno == 0 {
		e.Err = nil
	}
	if f.Op == "find the program" || f.Op == "start the program" {
		e.Unsupported, e.Why, e.Fix = false, f.Detail, ""
		if f.Errno == 0 && f.Detail == "" {
			e.Err = fs.ErrNotExist
		}
	}
	return e
}
