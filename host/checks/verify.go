package checks

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/box"
	"github.com/paxiom/relay/verify"
	"github.com/paxiom/relay/verify/evidence"
)

// Checks are the verification commands of a change and their limits.
type Checks struct {
	Commands   []verify.Command
	Fast, Slow time.Duration // timeouts; 0 means verify's defaults
	Env        []string      // the environment of every command
	// Settings is what the command of an id has besides; nil for nothing.
	Settings Settings
	Log      io.Writer // nil for none
	Plan     Plan      // what the commands may use besides files; nil for everything
	// Before is called before each command starts, to count it; an error keeps it
	// from starting. May be nil.
	Before func(verify.Command) error
	// Base is what Baseline found; nil when every failure counts. Excuse: see
	// [verify.Options].
	Base   []verify.Base
	Excuse bool
	// Hidden run after all others have passed; see Change.Hidden. They make their values
	// from Seed; 0 for another one in each run.
	Hidden []verify.Command
	Seed   uint64
	// Removed reports whether tests of a file may be gone; nil for none.
	Removed func(file string) bool
	// Agreed is asked where a command no longer runs tests of the base (StopTestsMissing), and
	// where the commands pass with the tests of the change and fail with those of the base
	// (StopOldTestsFail), with how it ended: true lets the change be. nil does not.
	Agreed func(judge.Code, verify.Result) bool
	// Tests are globs of test files. Where a change adds some, the tests of the base must
	// pass without them too; see Change.without.
	Tests []string
	// PutBack gives a changed file the tests that lay in it on the base; write is nil where
	// they are the same, ok false where that can't be told. May be nil.
	PutBack func(name string, base func() string, now string) (write func(Checks, *box.Box) error, ok bool)
}

// Settings is what a command is run with besides its arguments: a folder within the
// repository, "" for its root; variables, NAME=value; a limit, 0 for that of its phase.
type Settings func(id string) (dir string, env []string, limit time.Duration)

// of is Settings where there may be none.
func (s Settings) of(id string) (dir string, env []string, limit time.Duration) {
	if s == nil {
		return "", nil, 0
	}
	return s(id)
}

// Identity tells commands apart that may say different things of the same files.
func (k Checks) Identity(cmd verify.Command) []string {
	words := slices.Clone(cmd.Argv)
	if dir, env, _ := k.Settings.of(cmd.ID); dir != "" || len(env) > 0 {
		words = append(words, fmt.Sprintf("\nin %q with %q", dir, env))
	}
	return words
}

// Plan starts commands in their boxes with the network and the limits that they get: a
// plan of package confine, which no change to a repository depends on.
type Plan interface {
	Start(b *box.Box, p box.Proc) (*box.Process, error)
	Output() int64 // how much a command may print, in bytes; 0 is any amount
}

// everything is the plan that takes nothing away.
type everything struct{}

func (everything) Start(b *box.Box, p box.Proc) (*box.Process, error) { return b.Start(p) }
func (everything) Output() int64                                      { return 0 }

// Limit is how long a command may run.
func (k Checks) Limit(cmd verify.Command) time.Duration {
	_, _, limit := k.Settings.of(cmd.ID)
	return cmp.Or(limit, verify.Options{FastTimeout: k.Fast, SlowTimeout: k.Slow}.Timeout(cmd))
}

func (k Checks) options(x *boxExec) verify.Options {
	x.env, x.plan, x.before, x.settings = k.Env, k.Plan, k.Before, k.Settings
	if x.plan == nil {
		x.plan = everything{}
	}
	return verify.Options{FastTimeout: k.Fast, SlowTimeout: k.Slow, Exec: x, Log: k.Log, Base: k.Base, Excuse: k.Excuse}
}

// Baseline runs the commands on the tree as it is, each in a fresh box, before
// anything is built. passed says which are known to pass on it. The error is that of
// Checks.Before, or the end of ctx.
func (c *Checker) Baseline(ctx context.Context, k Checks, passed func(verify.Command) bool) ([]verify.Base, error) {
	x := &boxExec{c: c, on: "base"}
	bases := verify.RunBase(ctx, k.Commands, passed, k.options(x))
	if x.refused != nil {
		return nil, x.refused
	}
	return bases, ctx.Err()
}

// Verify runs the commands one after another, each in a fresh box that holds the
// real tree and exactly the judged change. Where a program that one of them names is not
// what it was before the build, none runs, and the code is StopVerifyTainted. Where the
// change touches tests, they run once more with the tests of the base: the results are
// then those of the run that failed. Hidden checks come last.
func (c *Checker) Verify(ctx context.Context, k Checks) ([]verify.Result, judge.Code) {
	if results, code := c.tainted(slices.Concat(k.Commands, k.Hidden)); code != judge.Success {
		return results, code
	}
	results, code := c.verifyTwice(ctx, k)
	if code == judge.Success {
		code = c.verifyHidden(ctx, k)
	}
	return results, code
}

func (c *Checker) verifyTwice(ctx context.Context, k Checks) ([]verify.Result, judge.Code) {
	results, code := c.verify(ctx, k, "verify", c.of.Verdict().Kept)
	if code == judge.Success {
		code = c.without(ctx, k, results)
	}
	if code == judge.Success {
		c.reported = map[string]verify.Report{}
		for _, r := range results {
			if r.Report != nil && r.ExitCode == 0 {
				c.reported[key(k.Identity(r.Command))] = *r.Report
			}
		}
	}
	if code != judge.Success || len(results) == 0 {
		return results, code
	}
	kept, err := c.withOldTests(ctx, k)
	var write func(*box.Box) error
	if err == nil {
		write, err = c.withOldParts(ctx, k)
	}
	if err != nil {
		last := results[len(results)-1]
		last.Err = fmt.Errorf("look for the tests of the base: %w", err)
		if k.Agreed != nil && k.Agreed(judge.StopOldTestsFail, last) && ctx.Err() == nil {
			return results, judge.Success
		}
		results[len(results)-1] = last
		return results, judge.StopOldTestsFail
	}
	if len(kept) == len(c.of.Verdict().Kept) && write == nil {
		return results, code
	}
	old, code := c.verifyIn(ctx, k, &boxExec{c: c, on: "old", kept: kept, prepare: write})
	switch {
	case code == judge.Success:
		return results, code
	case ctx.Err() != nil:
		return old, judge.StopInterrupted
	case k.Agreed != nil && k.Agreed(judge.StopOldTestsFail, old[len(old)-1]) && ctx.Err() == nil:
		return results, judge.Success
	}
	return old, judge.StopOldTestsFail
}

func (c *Checker) verify(ctx context.Context, k Checks, on string, kept []judge.Change) ([]verify.Result, judge.Code) {
	return c.verifyIn(ctx, k, &boxExec{c: c, on: on, kept: kept})
}

func (c *Checker) verifyIn(ctx context.Context, k Checks, x *boxExec) ([]verify.Result, judge.Code) {
	o := k.options(x)
	o.Prove = func(ctx context.Context, r *verify.Result, so verify.Finding) verify.Finding {
		return c.prove(ctx, k, r, so)
	}
	if k.Agreed != nil && x.on == "verify" {
		o.Agreed = func(r verify.Result) bool { return k.Agreed(judge.StopTestsMissing, r) }
	}
	return verify.Run(ctx, k.Commands, o)
}

// boxExec runs each command in a box of its own.
type boxExec struct {
	c       *Checker
	on      string         // part of the layers' names
	kept    []judge.Change // what is laid over the real tree
	prepare func(*box.Box) error
	env     []string
	plan    Plan
	before  func(verify.Command) error
	refused error // what before said
	n       int
	// settings are those of single commands, by id; hidden checks have none.
	settings Settings
}

// Run implements verify.Exec.
func (x *boxExec) Run(ctx context.Context, cmd verify.Command, timeout time.Duration) verify.Result {
	res := verify.Result{Command: cmd, ExitCode: -1}
	begin := time.Now()
	defer func() { res.Duration = time.Since(begin) }()
	if x.before != nil {
		if res.Err = x.before(cmd); res.Err != nil {
			x.refused = res.Err
			return res
		}
	}
	w, err := x.c.witness()
	if err != nil {
		res.Err = err
		return res
	}
	fresh, err := x.fresh(w.binds(x.c.of.Box().Means()))
	if err != nil {
		w.close()
		res.Err = err
		return res
	}
	x.warm(ctx, fresh)
	dir, env, limit := x.settings.of(cmd.ID)
	proc := box.Proc{Argv: cmd.Argv, Env: w.environ(slices.Concat(x.env, env), fresh.Dir())}
	if dir != "" {
		proc.Dir = filepath.Join(fresh.Dir(), dir)
	}
	if x.prepare != nil {
		res.Err = x.prepare(fresh)
	}
	if res.Err == nil {
		res = x.in(ctx, fresh, proc, cmd, cmp.Or(limit, timeout))
	}
	if res.Report = w.close(); !res.Report.Named() {
		x.written(fresh, &res)
	}
	res.Report.Rewrote = x.rewrote(ctx, fresh)
	x.collect(ctx, fresh, res)
	if res.Tests == nil && res.Report.Named() {
		res.Tests = evidence.TestsOf(*res.Report)
	}
	if err := fresh.Discard(); err != nil && res.Err == nil {
		res.Err = fmt.Errorf("throw the check's box away: %w", err)
	}
	return res
}

// in runs the command in its box and ends the box when the time is over.
func (x *boxExec) in(ctx context.Context, b *box.Box, its box.Proc, cmd verify.Command, timeout time.Duration) verify.Result {
	res := verify.Result{Command: cmd, ExitCode: -1}
	begin := time.Now()
	pr, pw, err := os.Pipe()
	if err != nil {
		res.Err = err
		return res
	}
	defer pr.Close()
	its.Stdout, its.Stderr = pw, pw
	proc, err := x.plan.Start(b, its)
	pw.Close()
	if err != nil {
		if its.Dir != "" {
			err = fmt.Errorf("in %s: %w", its.Dir, err)
		}
		res.Err, res.Duration = err, time.Since(begin)
		return res
	}
	out := &verify.Tail{}
	to := io.Writer(out)
	names := evidence.NewNames(cmd.Results)
	if names != nil {
		to = io.MultiWriter(out, names)
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
	res.Tests = names.Tests()
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
