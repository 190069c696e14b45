package host

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/lock"
	"github.com/paxiom/relay/host/internal/presence"
	"github.com/paxiom/relay/host/internal/progress"
	"github.com/paxiom/relay/host/loop"
	"github.com/paxiom/relay/host/tick"
	"github.com/paxiom/relay/judge"
)

// NothingToResume is the reason of a loop that an unattended call did not continue with.
const NothingToResume = loop.NothingToResume

// LoopOptions are one call of relay loop. The zero limits limit nothing.
type LoopOptions struct {
	Mode       string // "task", "milestone" or "autonomous"
	Goal       string
	MaxTicks   int       // 0: no limit, as below
	Until      time.Time // no tick begins after it
	MaxCostUSD float64   // no tick begins that could pass it
	// Key is what the keys of its ticks begin with: each that has ended is given again. Signers
	// and Push are as those of [RunOptions].
	Key, Signers, Push string
	Resume             bool // continue with the loop that was cut off, with its own options
	// Unattended, with Resume: nobody is there who could mean it. A loop that a person
	// ended stays as it is, and where there is none to continue that is no error.
	Unattended bool
	Observer   Observer
	OnTick     func(LoopTick) // after each tick
}

// LoopResult is how a loop ended.
type LoopResult struct {
	Doc
	LoopID   string     `json:"loop_id"` // identifies the loop
	Mode     string     `json:"mode"`    // what ends the loop
	Reason   LoopReason `json:"reason"`
	Why      string     `json:"why,omitempty"`
	Ticks    []LoopTick `json:"ticks"`
	Waits    []LoopWait `json:"waits,omitempty"`
	Spend    LoopSpend  `json:"spend"`
	Report   *Report    `json:"report,omitempty"` // of the last tick
	Blocked  *Blocked   `json:"blocked,omitempty"`
	Next     string     `json:"next,omitempty"`
	ExitCode int        `json:"exit_code"`
}

// Loop makes ticks until there is a reason to stop. STOP and BLOCKED are results, not
// errors. When ctx ends by [Interrupt] the tick under way is ended in order and the
// result's exit code is 130 or 143.
func (r *Repo) Loop(ctx context.Context, o LoopOptions) (*LoopResult, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	old, err := r.cutOff(o)
	if err != nil {
		return nil, err
	}
	env, err := r.tickEnvOfRun(o.Observer)
	if err != nil {
		return nil, err
	}
	repo, err := r.Open()
	if err != nil {
		if env.Observer = nil; env.LoadErr != nil {
			_, _ = tick.Run(ctx, env, tick.Options{}) // ends at this very error, and leaves BLOCKED.json
		}
		return nil, err
	}
	if o.Resume && o.Unattended && (old == nil || old.ByOperator) {
		return nothingToResume(old), nil
	}
	if running, err := loop.Running(repo.WS); err == nil && running != nil {
		return nil, diag.New(judge.BlockedLockHeld, "the loop "+running.ID+" is running here", fmt.Sprintf("process %d has it in hand, in tick %d", running.PID, running.Tick),
			"`relay status` shows it; `relay stop` stops it cleanly")
	}
	if o.Resume && old == nil {
		return nil, diag.New("", "no loop can be continued here", "the last loop has ended, or there was none", "`relay loop --mode milestone`")
	}
	// A loop that its first tick would end is none: it would stand there as the last one.
	if state, info, err := lock.Inspect(repo.WS.Lock()); err == nil && state == lock.Held {
		return nil, lock.HeldBy(repo.WS.Lock(), info)
	}
	ctx, asked, done := Stoppable(ctx, repo.WS)
	defer done()
	present := presence.Record(repo.WS, "relay loop", env.Observer)
	defer present.End()
	env.Observer = present
	if old != nil && len(old.Set) > 0 {
		env.Observer.Observe(Event{Kind: progress.Notice, At: r.Now(), Text: "continues as it was started:" + loop.Flags(old.Set) + "; your own --set replaces it"})
	}
	if given, err := loop.CutOff(repo.WS); err == nil && given != nil && !o.Resume {
		env.Observer.Observe(Event{Kind: progress.Notice, At: r.Now(), Text: fmt.Sprintf("takes the place of the loop %s, which was cut off in tick %d and which `relay loop --resume` would have continued", given.ID, given.Tick)})
	}
	r.NoteNeeds(true)
	defer r.NoteNeeds(false)
	trusted := env.LoadErr == nil && env.Trust.Check(env.Loaded, r.Getenv) == nil
	hooks := loop.Hooks{OnTick: o.OnTick, Drain: asked, Clock: r.Options.Clock, Keyed: r.keyedTick(env)}
	var l *loop.Loop
	if old != nil {
		l = loop.Resume(env, repo.WS, old.ID, r.Options.Set, hooks)
	} else {
		l = loop.Begin(env, repo.WS, loop.Options{Mode: loop.Mode(o.Mode), Goal: o.Goal, MaxTicks: o.MaxTicks, Until: o.Until, MaxCostUSD: o.MaxCostUSD,
			Key: o.Key, Signers: o.Signers, Push: o.Push, Set: r.Options.Set}, hooks)
	}
	out, err := l.Run(ctx)
	if out == nil {
		return nil, err
	}
	res := loopResult(ctx, out)
	if trusted {
		r.tellEnd(repo, env.Loaded.Config.Notify, res)
	}
	if err != nil {
		return nil, err
	}
	return res, nil
}

// cutOff gives the loop that is to be gone on with, nil for none. The settings that it was
// begun with hold for this call, below its own.
func (r *Repo) cutOff(o LoopOptions) (*loop.Seen, error) {
	if !o.Resume {
		return nil, nil
	}
	repo, err := r.Open()
	if err != nil {
		return nil, nil // Loop meets it, too, and leaves a report
	}
	old, err := loop.CutOff(repo.WS)
	if old != nil {
		r.Options.Set = slices.Concat(old.Set, r.Options.Set)
	}
	return old, err
}

// keyedTick makes a tick of a loop with a key. One whose work did not reach the branch ends
// the loop: what came next would be built on what the remote does not have.
func (r *Repo) keyedTick(env *tick.Env) func(context.Context, loop.Options, tick.Options) (*tick.Outcome, error) {
	return func(ctx context.Context, o loop.Options, t tick.Options) (*tick.Outcome, error) {
		k, err := r.newKeyed(ctx, env.Root, t.Key, o.Signers, o.Push)
		if err != nil {
			return nil, err
		}
		out, pushed, err := k.run(ctx, env, t)
		switch {
		case err != nil || out == nil:
			return out, err
		case pushed != nil && pushed.What != "":
			return nil, diag.New(pushed.Code, pushed.What, pushed.Why, pushed.Fix)
		case out.Earlier != nil && out.Report.Commit != "" && !out.Earlier.Here:
			return nil, diag.New(judge.StopHeadMoved, "the branch does not have what the tick with the key "+t.Key+" landed", "run "+out.Report.RunID+" landed "+out.Report.Commit+", and the branch has diverged",
				"`git merge "+out.Report.Commit+"` takes it over; or give the loop another key")
		}
		return out, nil
	}
}

// nothingToResume is the result of a service that finds nothing to do.
func nothingToResume(old *loop.Seen) *LoopResult {
	res := &LoopResult{Doc: DocOf("relay.loop", 1), Reason: loop.NothingToResume, Why: "no loop was cut off here", Ticks: []LoopTick{}, ExitCode: ExitDone}
	if old != nil {
		res.LoopID, res.Mode = old.ID, string(old.Mode)
		res.Why, res.Next = "you ended the last loop yourself", "`relay loop --resume`"
	}
	return res
}

func (o LoopOptions) check() error {
	bad := func(what, why string) error { return diag.New("", what, why, "`relay loop --help`") }
	switch {
	case o.Unattended && !o.Resume:
		return bad("--unattended goes with --resume", "a new loop has nothing to find out about the one before it")
	case o.Resume && (o.Mode != "" || o.Goal != "" || o.MaxTicks != 0 || !o.Until.IsZero() || o.MaxCostUSD != 0 || o.Key+o.Signers+o.Push != ""):
		return bad("a loop that is continued keeps its own options", "--resume can't be combined with --mode, --goal, --max-ticks, --until, --max-cost-usd, --key, --signers or --push")
	case o.Resume:
		return nil
	case o.Mode != string(loop.Task) && o.Mode != string(loop.Milestone) && o.Mode != string(loop.Autonomous):
		return bad(fmt.Sprintf("%q isn't a mode", o.Mode), "the modes are task, milestone and autonomous")
	case o.MaxTicks < 0:
		return bad("--max-ticks can't be negative", "it counts ticks")
	case o.MaxCostUSD < 0 || math.IsNaN(o.MaxCostUSD) || math.IsInf(o.MaxCostUSD, 0):
		return bad("--max-cost-usd is not an amount of dollars", "it is more than 0")
	}
	return nil
}

func loopResult(ctx context.Context, out *loop.Outcome) *LoopResult {
	res := &LoopResult{Doc: DocOf("relay.loop", 1), LoopID: out.ID, Mode: string(out.Options.Mode), Reason: out.Reason, Why: out.Why,
		Ticks: out.Ticks, Waits: out.Waits, Spend: out.Spend, Report: out.Report, Blocked: out.Blocked}
	if res.Ticks == nil {
		res.Ticks = []LoopTick{}
	}
	res.ExitCode, res.Next = loopEnd(out)
	var sig Interrupted
	if out.Reason == loop.Interrupted && errors.As(context.Cause(ctx), &sig) {
		res.ExitCode = sig.ExitCode()
	}
	return res
}

// loopEnd gives the exit code and what to type. A limit that the operator set is a
// good end; where a person has to look, it is 1.
func loopEnd(out *loop.Outcome) (code int, next string) {
	if out.Report != nil {
		next = out.Report.Next
	}
	if own := out.Reason.Next(out.Again); own != "" {
		next = own
	}
	switch out.Reason {
	case loop.LimitLasts, loop.Failed:
		return ExitStopped, next
	case loop.Stopped, loop.Blocked:
		if out.Report != nil {
			return Explain(out.Report.Code).ExitCode, next
		}
		return ExitStopped, "`relay show`"
	case loop.Question, loop.BudgetWarning, loop.MilestoneChanged:
		return ExitWaiting, next
	case loop.CostReached:
		if len(out.Ticks) == 0 {
			return ExitBlocked, "`relay loop` with a higher --max-cost-usd; orchestrator.max_budget_usd and builder.claude_code.max_budget_usd say what a tick may cost"
		}
		return ExitDone, "`relay cost`"
	case loop.Interrupted:
		return ExitStopped, "`relay loop --resume`"
	case loop.MaxTicks, loop.UntilReached, loop.Drained:
		return ExitDone, "`relay history list`"
	}
	return ExitDone, "`relay history list`"
}
