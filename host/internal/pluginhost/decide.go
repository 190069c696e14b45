package pluginhost

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/sdk/pluginpb"
)

// Action is what follows from a failure.
type Action string

// The actions.
const (
	Again Action = "retry" // the call may be repeated
	Stop  Action = "stop"  // the run ends
	Block Action = "block" // no run can work until a person has done something
)

// Decision is what follows from a failure.
type Decision struct {
	Action Action
	// Code is the outcome when the call is not repeated, or not any more.
	Code judge.Code
	// Times is how often the call may be repeated for this reason; 0 unless Action
	// is Again.
	Times int
	// After is how long to wait before that at least; 0: the caller's backoff.
	After time.Duration
	// ResetAt is when an exhausted limit is renewed; zero: not known.
	ResetAt time.Time
	// Passes: a limit or an outage of the vendor, which ends by itself. Another
	// provider may answer meanwhile, and this one later.
	Passes bool
	// Unasked: what is set up here is missing or wrong, so that no vendor was asked.
	Unasked bool
}

// row is one line of the table. When builds end with another code, build has it.
type row struct {
	action Action
	times  int
	code   judge.Code
	build  judge.Code
	// model: the model is to blame, so that what the call cost does not matter.
	model bool
	// passes: the vendor is to blame, and waiting mends it.
	passes bool
	// unasked: what is set up here is to blame.
	unasked bool
}

// reasons is what follows from what a plugin reports. A reason that is not in it, one
// of a later protocol, is treated as INTERNAL.
var reasons = map[pluginpb.Failure_Reason]row{
	pluginpb.Failure_REASON_RATE_LIMITED: {action: Again, times: 3, code: judge.StopProviderQuota, passes: true},
	pluginpb.Failure_REASON_OVERLOADED:   {action: Again, times: 3, code: judge.StopInterrupted, passes: true},
	pluginpb.Failure_REASON_NETWORK:      {action: Again, times: 3, code: judge.StopInterrupted, passes: true},
	pluginpb.Failure_REASON_TIMEOUT:      {action: Again, times: 1, code: judge.StopInterrupted, build: judge.StopBuilderTimeout},

	pluginpb.Failure_REASON_QUOTA_EXHAUSTED: {action: Stop, code: judge.StopProviderQuota, passes: true},

	pluginpb.Failure_REASON_NOT_LOGGED_IN: {action: Block, code: judge.BlockedAuth, unasked: true},
	pluginpb.Failure_REASON_AUTH_REJECTED: {action: Block, code: judge.BlockedAuth},
	pluginpb.Failure_REASON_BILLING:       {action: Block, code: judge.BlockedAuth},
	pluginpb.Failure_REASON_PERMISSION:    {action: Block, code: judge.BlockedAuth},
	pluginpb.Failure_REASON_BAD_CONFIG:    {action: Block, code: judge.BlockedPlugin, unasked: true},
	pluginpb.Failure_REASON_TOOL_MISSING:  {action: Block, code: judge.BlockedPlugin, unasked: true},
	pluginpb.Failure_REASON_MODEL_UNKNOWN: {action: Block, code: judge.BlockedPlugin},
	pluginpb.Failure_REASON_UNSUPPORTED:   {action: Block, code: judge.BlockedPlugin},

	pluginpb.Failure_REASON_BAD_REQUEST:   {action: Stop, code: judge.StopInterrupted},
	pluginpb.Failure_REASON_TOO_LARGE:     {action: Stop, code: judge.StopInterrupted},
	pluginpb.Failure_REASON_LIMIT_REACHED: {action: Stop, code: judge.StopInterrupted},
	pluginpb.Failure_REASON_CANCELLED:     {action: Stop, code: judge.StopInterrupted},
	pluginpb.Failure_REASON_INTERNAL:      {action: Stop, code: judge.StopInterrupted},

	pluginpb.Failure_REASON_BAD_OUTPUT: {action: Again, times: 1, code: judge.BlockedOrchestrator, build: judge.StopBuilderOutputInvalid, model: true},
	pluginpb.Failure_REASON_REFUSED:    {action: Again, times: 1, code: judge.StopInterrupted, model: true},
}

// causes is what follows from what the host sees itself.
var causes = map[Cause]row{
	Crashed:       {action: Again, times: 1, code: judge.StopPluginCrashed},
	Protocol:      {action: Stop, code: judge.StopPluginCrashed},
	Unimplemented: {action: Block, code: judge.BlockedPlugin},
	NotStarted:    {action: Block, code: judge.BlockedPlugin},
	Trespassed:    {action: Block, code: judge.BlockedPlugin},
	NoKey:         {action: Block, code: judge.BlockedAuth},
	OurLimit:      {action: Stop, code: judge.StopInterrupted},
	Cancelled:     {action: Stop, code: judge.StopInterrupted},
}

// Decide is the one table of what follows from a failure. A call is only repeated
// when that can do no harm: nothing was changed, and it is known what was done.
func Decide(f *Failure) Decision {
	r, ok := causes[f.Cause]
	if f.Cause == Reported {
		if r, ok = reasons[f.Reason]; !ok {
			r = reasons[pluginpb.Failure_REASON_INTERNAL]
		}
	} else if !ok {
		r = causes[Protocol]
	}
	build := f.RPC == "Build"
	d := Decision{Action: r.action, Times: r.times, Code: r.code, ResetAt: f.ResetAt, Passes: r.passes, Unasked: r.unasked}
	if build && r.build != "" {
		d.Code = r.build
	}
	if f.Cause == Cancelled && build && errors.Is(f.Err, context.DeadlineExceeded) {
		d.Code = judge.StopBuilderTimeout
	}
	if d.Action != Again {
		return d
	}
	harmless := f.Effect == pluginpb.Failure_EFFECT_NONE || (f.Effect == pluginpb.Failure_EFFECT_CHARGED && f.Cause == Reported) ||
		(r.model && !build && f.Effect != pluginpb.Failure_EFFECT_CHANGED)
	if !harmless {
		return d.Gave()
	}
	d.After = f.RetryAfter
	return d
}

// Gave says what the decision is once no repetition is left.
func (d Decision) Gave() Decision {
	if d.Action == Again {
		d.Action, d.Times, d.After = Stop, 0, 0
		if d.Code.Outcome() == judge.OutcomeBlocked {
			d.Action = Block
		}
	}
	return d
}

// RetryOptions steer Retry.
type RetryOptions struct {
	// Allow is asked before each repetition, normally to reserve its cost; an error
	// ends the loop with the failure at hand. nil allows all.
	Allow func(*Failure, Decision) error
	// Notice is called when a repetition was decided, before the wait; may be nil.
	Notice func(*Failure, Decision, time.Duration)
	// MaxWait is the longest wait before one repetition; 0 means 60 s. A longer
	// retry_after ends the loop, and so does one that the context's deadline leaves no
	// time for.
	MaxWait time.Duration
	// Sleep replaces the wait; for tests.
	Sleep func(context.Context, time.Duration) error
}

const (
	firstWait      = time.Second
	defaultMaxWait = time.Minute
)

// Retry makes a call, and makes it again as often as Decide allows for each reason.
// attempt starts at 0. It gives the last failure, nil for success.
func Retry(ctx context.Context, o RetryOptions, call func(ctx context.Context, attempt int) *Failure) *Failure {
	o.MaxWait = cmp.Or(o.MaxWait, defaultMaxWait)
	if o.Sleep == nil {
		o.Sleep = sleep
	}
	type reason struct {
		cause  Cause
		reason pluginpb.Failure_Reason
	}
	used := map[reason]int{}
	for attempt := 0; ; attempt++ {
		f := call(ctx, attempt)
		if f == nil {
			return nil
		}
		d := Decide(f)
		why := reason{f.Cause, f.Reason}
		if d.Action != Again || used[why] >= d.Times {
			return f
		}
		wait := d.After
		if wait == 0 && !d.ResetAt.IsZero() {
			wait = max(time.Until(d.ResetAt), 0)
		}
		if wait == 0 {
			wait = min(firstWait<<used[why], o.MaxWait)
		} else if wait > o.MaxWait {
			return f
		}
		wait += time.Duration(rand.Int64N(int64(wait/4 + 1))) // not all at once
		if end, ok := ctx.Deadline(); ok && time.Until(end) <= wait {
			return f
		}
		used[why]++
		if o.Allow != nil && o.Allow(f, d) != nil {
			return f
		}
		if o.Notice != nil {
			o.Notice(f, d, wait)
		}
		if o.Sleep(ctx, wait) != nil {
			return f
		}
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
