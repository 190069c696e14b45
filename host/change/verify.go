package change

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/paxiom/relay/host/internal/confine"
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
	Plan       *confine.Plan // what the commands may use besides files; nil for everything
	// Before is called before each command starts, to count it; an error keeps it
	// from starting. May be nil.
	Before func(verify.Command) error
	// Base is what Baseline found; nil when every failure counts. Excuse: see
	// [verify.Options].
	Base   []verify.Base
	Excuse bool
}

func (k Checks) options(x *boxExec) verify.Options {
	x.env, x.plan, x.before = k.Env, k.Plan, k.Before
	return verify.Options{FastTimeout: k.Fast, SlowTimeout: k.Slow, Exec: x, Log: k.Log, Base: k.Base, Excuse: k.Excuse}
}

// Baseline runs the commands on the tree as it is, each in a fresh box, before
// anything is built. passed says which are known to pass on it. The error is that of
// Checks.Before, or the end of ctx.
func (c *Change) Baseline(ctx context.Context, k Checks, passed func(verify.Command) bool) ([]verify.Base, error) {
	x := &boxExec{c: c, on: "base"}
	bases := verify.RunBase(ctx, k.Commands, passed, k.options(x))
	if x.refused != nil {
		return nil, x.refused
	}
	return bases, ctx.Err()
}

// Verify runs the commands one after another, each in a fresh box that holds the
// real tree and exactly the judged change.
func (c *Change) Verify(ctx context.Context, k Checks) ([]verify.Result, judge.Code) {
	return verify.Run(ctx, k.Commands, k.options(&boxExec{c: c, on: "verify", kept: c.verdict.Kept}))
}

// boxExec runs each command in a box of its own.
type boxExec struct {
	c       *Change
	on      string         // part of the layers' names
	kept    []judge.Change // what is laid over the real tree
	env     []string
	plan    *confine.Plan
	before  func(verify.Command) error
	refused error // what before said
	n       int
}

// Run implements verify.Exec.
func (x *boxExec) Run(ctx context.Context, cmd verify.Command, timeout time.Duration) verify.Result {
	res := verify.Result{Command: cmd, ExitCode: -1}
	begin := time.Now()
	defer func() { res.Duration = time.Since(begin) }()
	x.n++
	if x.before != nil {
		if res.Err = x.before(cmd); res.Err != nil {
			x.refused = res.Err
			return res
		}
	}
	fresh, err := x.c.box.Fresh(fmt.Sprintf("%s.%s%d", x.c.layer, x.on, x.n), x.kept)
	if err != nil {
		res.Err = err
		return res
	}
	res = x.in(ctx, fresh, cmd, timeout)
	if err := x.c.gone.drop(fresh); err != nil && res.Err == nil {
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
	proc, err := x.plan.Start(b, box.Proc{Argv: cmd.Argv, Env: x.env, Stdout: pw, Stderr: pw})
	pw.Close()
	if err != nil {
		res.Err, res.Duration = err, time.Since(begin)
		return res
	}
	out := &verify.Tail{}
	to := io.Writer(out)
	if res.Tests = verify.NewTests(cmd.Results); res.Tests != nil {
		to = io.MultiWriter(out, res.Tests)
	}
	read := make(chan struct{})
	go func() { x.read(to, pr, proc); close(read) }()
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
	case state.Exceeded != nil:
		res.Err = state.Exceeded
	case err != nil && !res.TimedOut:
		res.Err = err
	case state.OK() && !res.TimedOut:
		res.ExitCode = 0
	case state.Signal == 0 && !state.Killed:
		res.ExitCode = state.Code
	}
	return res
}

// read collects what a command prints, and ends it when that is more than it may.
func (x *boxExec) read(to io.Writer, from io.Reader, proc *box.Process) {
	if most := x.plan.Output(); most > 0 {
		if n, _ := io.CopyN(to, from, most); n < most {
			return
		}
		proc.Exceed(&box.Exceeded{Limit: box.LimitOutput, Got: most, Max: most})
	}
	io.Copy(to, from)
}
