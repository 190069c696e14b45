package box

import (
	"encoding/gob"
	"errors"
	"os"
	"syscall"
	"time"

	"github.com/paxiom/relay/judge/box/internal/tree"
)

// Launch says how relay executes itself as the first process of a box.
type Launch struct {
	// Name is its argv[0], Plan what it is sent, Attr how it is started.
	Name string
	Plan any
	Attr syscall.SysProcAttr
	// Limits hold for what is on disk in Written, the first of them on the disk that is watched.
	Limits  Limits
	Written []string
	// Away is removed when all is over.
	Away string
	// Kill ends the box, After does what is left to do then. Nil: the first process is ended,
	// and nothing is left.
	Kill  func(first *os.Process, control *os.File, done <-chan struct{})
	After func(*ExitState) error
}

// Launch starts the first process of a box and waits until it has started the child. The
// lock belongs to the process when there is one.
func (p Proc) Launch(l Launch, lock *os.File) (*Process, error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, &Error{Op: "open", Path: os.DevNull, Err: err}
	}
	defer null.Close()
	controlR, controlW, err := os.Pipe()
	if err != nil {
		return nil, &Error{Op: "start", Err: err}
	}
	defer controlR.Close()
	reportR, reportW, err := os.Pipe()
	if err != nil {
		controlW.Close()
		return nil, &Error{Op: "start", Err: err}
	}
	defer reportW.Close()
	hand, handed, err := socketPair()
	if err != nil {
		controlW.Close()
		reportR.Close()
		return nil, &Error{Op: "start", Err: err}
	}
	defer hand.Close()
	defer handed.Close()
	stdio := []*os.File{p.Stdin, p.Stdout, p.Stderr}
	for i := range stdio {
		if stdio[i] == nil {
			stdio[i] = null
		}
	}
	files := append([]*os.File{null, null, stdio[2], controlR, reportW}, stdio...)
	files = append(files, lock, handed)
	if p.Exe != nil {
		files = append(files, p.Exe)
	}
	q := newQuota(l.Limits, l.Written) // which looks at what is free before the start
	l.Attr.Setsid = true
	proc, err := os.StartProcess("/proc/self/exe", []string{l.Name}, &os.ProcAttr{Files: files, Env: []string{}, Dir: "/", Sys: &l.Attr})
	if err != nil {
		controlW.Close()
		reportR.Close()
		return nil, err
	}
	controlR.Close() // so that writing to a first process that is gone fails
	reportW.Close()  // so that its end is the end of its reports
	run := &Process{proc: proc, lock: lock, done: make(chan struct{})}
	run.kill = func() { proc.Kill() }
	if l.Kill != nil {
		run.kill = func() { l.Kill(proc, controlW, run.done) }
	}
	reports := gob.NewDecoder(reportR)
	var first report
	reportR.SetReadDeadline(time.Now().Add(setupTime))
	err = gob.NewEncoder(controlW).Encode(l.Plan)
	if read := reports.Decode(&first); read != nil {
		err = errors.Join(err, read)
	}
	reportR.SetReadDeadline(time.Time{})
	started := err == nil && first.Started
	if started {
		run.listeners, err = receiveSockets(hand, len(p.Confine.Listen))
	}
	if q != nil {
		q.of = run.Pid()
		go q.watch(run.done, run.Exceed)
	}
	var ended *os.ProcessState
	go run.follow(func() (state ExitState, err error) {
		state = run.reported(reports)
		run.leave()
		ended, err = proc.Wait() // when it is gone, so is every other process of the box
		if run.exceeded.Load() == nil && q != nil {
			run.exceeded.Store(q.look(true)) // what came after the last look
		}
		return state, err
	}, func() (err error) {
		reportR.Close()
		controlW.Close()
		for _, l := range run.Listeners() { // which nobody wanted
			l.Close()
		}
		if l.After != nil {
			err = l.After(&run.state)
		}
		tree.Remove(l.Away)
		return err
	})
	if started && err == nil {
		return run, nil
	}
	run.Kill()
	<-run.done
	return nil, setupError(first.Fail, err, ended)
}

// reported reads what the first process has to say, to its end.
func (p *Process) reported(reports *gob.Decoder) ExitState {
	for {
		var end report
		if reports.Decode(&end) != nil {
			return ExitState{Code: -1, Killed: true}
		}
		if end.Exceeded != nil {
			p.exceeded.CompareAndSwap(nil, end.Exceeded)
		}
		if end.Exited {
			return ExitState{Code: end.Code, Signal: end.Signal, Left: end.Left}
		}
	}
}
