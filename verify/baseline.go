package verify

import (
	"context"
	"time"
)

// Before is how a command did on the base: the tree as it was before anything was
// built.
type Before string

// The answers. Only Failed can excuse a failure afterwards.
const (
	BeforeUnknown Before = ""       // it was not run there, or could not be
	BeforePassed  Before = "passed" // at the first try, or remembered from the same tree
	BeforeFlaky   Before = "flaky"  // failed once, and then not or in another way
	BeforeFailed  Before = "failed" // twice in the same way
)

// Base is what is known of one command on the base.
type Base struct {
	Before Before
	// Failed is the first failing run of it; Again the second, zero after a timeout.
	Failed, Again Result
}

// Finding is what a failure after the change means beside the base.
type Finding string

// The findings.
const (
	Passed       Finding = "passed"
	NewFailure   Finding = "new_failure"   // it counts
	FailedBefore Finding = "failed_before" // reported, not blamed
	Flaky        Finding = "flaky"         // failed once and passed twice on the same tree
	Unproven     Finding = "unproven"      // ended well, and its tests say otherwise: it counts
)

// RunBase runs the commands on the base: one that fails once more, to tell what is
// broken from what is flaky. passed says that a command is known to have passed on
// this very tree; it may be nil. Nothing of a change may exist yet: a builder that could
// make a command fail here could have its failure excused afterwards.
func RunBase(ctx context.Context, commands []Command, passed func(Command) bool, o Options) []Base {
	log := &boundedLog{w: o.Log, left: MaxLog}
	bases := make([]Base, len(commands))
	for i, c := range commands {
		if ctx.Err() != nil {
			break
		}
		if passed != nil && passed(c) {
			bases[i].Before = BeforePassed
			continue
		}
		run := func() Result {
			r := o.run(ctx, c)
			log.result("on the base: ", r)
			return r
		}
		bases[i] = base(run)
	}
	return bases
}

// base settles one command on the base.
func base(run func() Result) Base {
	first := run()
	switch {
	case first.OK():
		return Base{Before: BeforePassed}
	case first.Err != nil:
		return Base{}
	case first.TimedOut: // another try could take as long again and would say little
		return Base{Before: BeforeFailed, Failed: first}
	}
	again := run()
	switch {
	case again.Err != nil:
		return Base{}
	case !alike(first, again):
		return Base{Before: BeforeFlaky}
	}
	return Base{Before: BeforeFailed, Failed: first, Again: again}
}

// alike says that two runs failed in the same way, as far as a program's end tells.
func alike(a, b Result) bool {
	return a.Err == nil && b.Err == nil && !a.OK() && a.ExitCode == b.ExitCode && a.TimedOut == b.TimedOut
}

// settle decides about a command that failed after the change. A run that passes
// where the first failed is outvoted or confirmed by a third: one more try for
// failures alone would reward a builder for making the command unreliable.
func settle(b Base, first Result, excuse bool, again func() Result) (Finding, Result) {
	excuse = excuse && b.Before == BeforeFailed && alike(b.Failed, first)
	switch {
	case first.Err != nil:
		return NewFailure, first
	case first.TimedOut && excuse:
		return FailedBefore, first
	case first.TimedOut:
		return NewFailure, first
	}
	second := again()
	if second.OK() {
		if third := again(); third.OK() {
			return Flaky, third
		}
		return NewFailure, first
	}
	if excuse && alike(first, second) && nothingNew(b, first, second) {
		return FailedBefore, first
	}
	return NewFailure, first
}

// nothingNew compares test by test, where the command names its tests: what failed
// now failed on the base, and what passed there passes now. Without names the exit
// code has said all there is.
func nothingNew(b Base, first, second Result) bool {
	if first.Tests == nil {
		return true
	}
	for _, r := range []Result{b.Failed, b.Again, first, second} {
		if r.Tests == nil || r.Tests.Broken != "" || len(r.Tests.Failed) == 0 {
			return false
		}
	}
	for _, now := range []*Tests{first.Tests, second.Tests} {
		for name := range now.Failed {
			if !b.Failed.Tests.Failed[name] && !b.Again.Tests.Failed[name] {
				return false
			}
		}
		for name := range b.Failed.Tests.Passed {
			if b.Again.Tests.Passed[name] && !now.Passed[name] {
				return false
			}
		}
	}
	return true
}

// run runs one command once, within its time.
func (o Options) run(ctx context.Context, c Command) Result {
	r := o.Exec.Run(ctx, c, o.Timeout(c))
	r.Command = c
	return r
}

// Timeout is how long a command may run.
func (o Options) Timeout(c Command) time.Duration {
	switch {
	case c.Slow && o.SlowTimeout > 0:
		return o.SlowTimeout
	case c.Slow:
		return defaultSlow
	case o.FastTimeout > 0:
		return o.FastTimeout
	}
	return defaultFast
}

// RunOnce runs one command once, within its time, and judges nothing.
func RunOnce(ctx context.Context, c Command, o Options) Result { return o.run(ctx, c) }
