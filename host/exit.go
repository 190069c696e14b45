package host

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/paxiom/relay/host/fault"
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
	ExitTerminated  = 143
)

// ExitCode gives the exit code of an error; 0 for nil.
func ExitCode(err error) int {
	if err == nil {
		return ExitDone
	}
	var sig Interrupted
	if errors.As(err, &sig) {
		return sig.ExitCode()
	}
	if f, ok := fault.As(err); ok {
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

// ByOperator reports whether a person ends relay so: Ctrl-C. Whoever shuts a machine down
// sends others, and a line that broke, too.
func (i Interrupted) ByOperator() bool { return i.Signal == syscall.SIGINT }

// ExitCode is 128 and the signal's number.
func (i Interrupted) ExitCode() int { return 128 + int(i.Signal) }

// Interrupt gives a context that ends with an [Interrupted] cause at the first
// SIGINT, SIGTERM or SIGHUP. The second one calls exit at once with its exit code;
// what is under way then is left to the journal. A signal that relay was started with
// as ignored, as by nohup, stays ignored. A reader of its output that is gone is an
// error of the write, and not the end of relay. stop gives the signals back.
func Interrupt(parent context.Context, exit func(code int)) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	ch, pipe := make(chan os.Signal, 2), make(chan os.Signal, 1)
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) {
			signal.Notify(ch, s)
		}
	}
	signal.Notify(pipe, syscall.SIGPIPE) // nobody listens: it only must not end the process
	done := make(chan struct{})
	go func() {
		for first := true; ; first = false {
			select {
			case s := <-ch:
				sig := Interrupted{s.(syscall.Signal)}
				if !first {
					exit(sig.ExitCode())
				}
				cancel(sig)
			case <-done:
				return
			}
		}
	}()
	return ctx, func() { signal.Stop(ch); signal.Stop(pipe); close(done); cancel(nil) }
}

// exitOf gives the exit code of a run.
func exitOf(code judge.Code, question bool) int {
	if question && code == judge.Success {
		return ExitWaiting
	}
	return Explain(code).ExitCode
}
