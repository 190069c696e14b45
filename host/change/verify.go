package change

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/box"
	"github.com/paxiom/relay/verify"
)

// Checks are the verification commands of a change and their limits.
type Checks struct {
	Commands   []verify.Command
	Fast, Slow time.Duration // timeouts; 0 means verify's defaults
	Env        []string      // the whole environment of a command
	Log        io.Writer     // nil for none
	// Before is called before each command starts, to count it; an error keeps it
	// from starting. May be nil.
	Before func(verify.Command) error
}

// Verify runs the commands one after another, each in a fresh box that holds the
// real tree and exactly the judged change.
func (c *Change) Verify(ctx context.Context, k Checks) ([]verify.Result, judge.Code) {
	return verify.Run(ctx, k.Commands, verify.Options{FastTimeout: k.Fast, SlowTimeout: k.Slow,
		Exec: &boxExec{c: c, env: k.Env, before: k.Before}, Log: k.Log})
}

// boxExec runs each command in a box of its own.
type boxExec struct {
	c      *Change
	env    []string
	before func(verify.Command) error
	n      int
}

// Run implements verify.Exec.
func (x *boxExec) Run(ctx context.Context, cmd verify.Command, timeout time.Duration) verify.Result {
	res := verify.Result{Command: cmd, ExitCode: -1}
	begin := time.Now()
	defer func() { res.Duration = time.Since(begin) }()
	x.n++
	if x.before != nil {
		if res.Err = x.before(cmd); res.Err != nil {
			return res
		}
	}
	fresh, err := x.c.box.Fresh(fmt.Sprintf("%s.verify%d", x.c.layer, x.n), x.c.verdict.Kept)
	if err != nil {
		res.Err = err
		return res
	}
	res = x.in(ctx, fresh, cmd, timeout)
	if err := fresh.Discard(); err != nil && res.Err == nil {
		res.Err = fmt.Errorf("throw the check's box away: %w", err)
	}
	return res
}

// in runs the command in its box and ends the box when the time is over.
func (x *boxExec) in(ctx context.Context, b *box.Box, cmd verify.Command, timeout time.Duration) verify.Result {
	res := verify.Result{Command: cmd, ExitCode: -1}
	begin := time.Now()
	pr, pw, err := os.Pipe()
	if err != nil {
		res.Err = err
		return res
	}
	defer pr.Close()
	proc, err := b.Start(box.Proc{Argv: cmd.Argv, Env: x.env, Stdout: pw, Stderr: pw})
	pw.Close()
	if err != nil {
		res.Err, res.Duration = err, time.Since(begin)
		return res
	}
	out := &verify.Tail{}
	read := make(chan struct{})
	go func() { io.Copy(out, pr); close(read) }()
	ended := make(chan struct{})
	var state box.ExitState
	go func() { state, err = proc.Wait(); close(ended) }()

	clock := time.NewTimer(timeout)
	defer clock.Stop()
	select {
	case <-ended:
	case <-clock.C:
		res.TimedOut = true
		proc.Kill()
	case <-ctx.Done():
		proc.Kill()
	}
	<-ended
	select { // nothing that could hold the pipe outlives the box
	case <-read:
	case <-time.After(2 * time.Second):
	}
	pr.Close()
	<-read
	res.Duration = time.Since(begin)
	res.Output, res.Truncated = out.Bytes()
	switch {
	case ctx.Err() != nil:
		res.Err = ctx.Err()
	case err != nil && !res.TimedOut:
		res.Err = err
	case state.OK() && !res.TimedOut:
		res.ExitCode = 0
	case state.Signal == 0 && !state.Killed:
		res.ExitCode = state.Code
	}
	return res
}
