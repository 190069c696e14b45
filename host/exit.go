package host

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/stoprequest"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/judge"
)

// Exit codes of every command.
const (
	ExitDone        = 0
	ExitWaiting     = 1   // something waits on the operator
	ExitStopped     = 2   // stopped or failed
	ExitBlocked     = 3   // blocked, or called wrongly
	ExitHungUp      = 129 // the terminal was closed
	ExitInterrupted = 130
	ExitQuit        = 131 // Ctrl-\
	ExitTerminated  = 143
)

// ExitCode gives the exit code of an error; 0 for nil.
func ExitCode(err error) int {
	if err == nil {
		return ExitDone
	}
	if sig, ok := errors.AsType[Interrupted](err); ok {
		return sig.ExitCode()
	}
	if f, ok := diag.As(err); ok {
		return Explain(f.Code).ExitCode
	}
	return ExitStopped
}

// Interrupted is the cause of a context that a signal ended.
type Interrupted struct{ Signal syscall.Signal }

// Error names the signal as people call it.
func (i Interrupted) Error() string {
	switch i.Signal {
	case syscall.SIGINT:
		return "interrupted by Ctrl-C"
	case syscall.SIGHUP:
		return "interrupted, since the terminal was closed"
	}
	return "interrupted by " + unix.SignalName(i.Signal)
}

// ByOperator reports whether a person ends relay so: Ctrl-C. A shutdown of the machine
// sends others, and a line that broke, too.
func (i Interrupted) ByOperator() bool { return i.Signal == syscall.SIGINT }

// ExitCode is 128 and the signal's number.
func (i Interrupted) ExitCode() int { return 128 + int(i.Signal) }

// AsInterrupted says of an error that only knows that ctx has ended what ended it: what was
// interrupted, and fix is what to type. Any other error stays.
func AsInterrupted(ctx context.Context, err error, what, fix string) error {
	cause := context.Cause(ctx)
	if cause == nil || !errors.Is(err, ctx.Err()) || !errors.As(cause, new(Interrupted)) || errors.As(err, new(Interrupted)) {
		return err
	}
	return &diag.Error{Code: judge.StopInterrupted, What: what + " was interrupted", Why: cause.Error(), Fix: fix, Err: cause}
}

// Interrupt gives a context that ends with an [Interrupted] cause at the first SIGINT,
// SIGTERM, SIGHUP or SIGQUIT. The second one calls exit at once with its exit code; what is
// under way then is left to the journal. A SIGHUP after the first signal is no second one,
// since the shell and the kernel both send one when a terminal is closed. Nor is the same
// signal within [echo]: a wrapper passes on what the terminal has sent to all. A signal that
// relay was started with as ignored, as by nohup, stays ignored. A reader of its output that
// is gone is an error of the write, and not the end of relay. stop gives the signals back.
func Interrupt(parent context.Context, exit func(code int)) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	ch, pipe := make(chan os.Signal, 2), make(chan os.Signal, 1)
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		if !signal.Ignored(s) {
			signal.Notify(ch, s)
		}
	}
	signal.Notify(pipe, syscall.SIGPIPE) // nobody listens: it only must not end the process
	done := make(chan struct{})
	go func() {
		var first Interrupted
		var since time.Time
		for {
			select {
			case s := <-ch:
				sig := Interrupted{s.(syscall.Signal)}
				switch {
				case since.IsZero():
					first, since = sig, time.Now()
					cancel(sig)
				case sig.Signal != syscall.SIGHUP && (sig != first || time.Since(since) > echo):
					exit(sig.ExitCode())
				}
			case <-done:
				return
			}
		}
	}()
	return ctx, func() { signal.Stop(ch); signal.Stop(pipe); close(done); cancel(nil) }
}

// echo is how soon nobody presses Ctrl-C a second time.
const echo = 100 * time.Millisecond

// exitOf gives the exit code of a run.
func exitOf(code judge.Code, question bool) int {
	if question && code == judge.Success {
		return ExitWaiting
	}
	return Explain(code).ExitCode
}

// Stoppable gives a context that a request of relay stop ends like SIGTERM. asked says
// whether an end was asked for; done ends the watch.
func Stoppable(ctx context.Context, ws *workspace.Workspace) (_ context.Context, asked func() bool, done func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	w := stoprequest.Watch(ctx, ws, func() { cancel(StopAsked{}) })
	return ctx, w.Asked, func() {
		_ = w.Stop() // a request that stays behind names a process that is gone
		cancel(nil)
	}
}

// StopAsked is the cause of a context that relay stop ended.
type StopAsked struct{}

// Error says it in words.
func (StopAsked) Error() string { return "relay stop asked for an end" }

// ByOperator is true: a person typed it.
func (StopAsked) ByOperator() bool { return true }

// As makes it the same as SIGTERM for callers that ask which signal it was.
func (StopAsked) As(target any) bool {
	if sig, ok := target.(*Interrupted); ok {
		*sig = Interrupted{syscall.SIGTERM}
		return true
	}
	return false
}
