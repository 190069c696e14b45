package pluginhost

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/sdk/pluginpb"
)

const (
	none    = pluginpb.Failure_EFFECT_NONE
	unknown = pluginpb.Failure_EFFECT_UNKNOWN
)

// The table, written down a second time: reason, then what follows for a provider
// that was not charged, for one that was, with an unknown effect, and for a builder
// that has changed the workspace.
func TestDecideReported(t *testing.T) {
	type outcome struct {
		action Action
		times  int
		code   judge.Code
	}
	const (
		quota, interrupted, auth, plugin = judge.StopProviderQuota, judge.StopInterrupted, judge.BlockedAuth, judge.BlockedPlugin
	)
	always := func(a Action, c judge.Code) [4]outcome { o := outcome{a, 0, c}; return [4]outcome{o, o, o, o} }
	short := func(times int, c, build judge.Code) [4]outcome {
		return [4]outcome{{Again, times, c}, {Again, times, c}, {Stop, 0, c}, {Stop, 0, build}}
	}
	table := map[string][4]outcome{
		"RATE_LIMITED":    short(3, quota, quota),
		"OVERLOADED":      short(3, interrupted, interrupted),
		"NETWORK":         short(3, interrupted, interrupted),
		"TIMEOUT":         short(1, interrupted, judge.StopBuilderTimeout),
		"QUOTA_EXHAUSTED": always(Stop, quota),
		"NOT_LOGGED_IN":   always(Block, auth), "AUTH_REJECTED": always(Block, auth), "BILLING": always(Block, auth), "PERMISSION": always(Block, auth),
		"BAD_CONFIG": always(Block, plugin), "TOOL_MISSING": always(Block, plugin), "MODEL_UNKNOWN": always(Block, plugin), "UNSUPPORTED": always(Block, plugin),
		"BAD_REQUEST": always(Stop, interrupted), "TOO_LARGE": always(Stop, interrupted), "LIMIT_REACHED": always(Stop, interrupted),
		"CANCELLED": always(Stop, interrupted), "INTERNAL": always(Stop, interrupted), "UNSPECIFIED": always(Stop, interrupted),
		"BAD_OUTPUT": {{Again, 1, judge.BlockedOrchestrator}, {Again, 1, judge.BlockedOrchestrator}, {Again, 1, judge.BlockedOrchestrator}, {Stop, 0, judge.StopBuilderOutputInvalid}},
		"REFUSED":    {{Again, 1, interrupted}, {Again, 1, interrupted}, {Again, 1, interrupted}, {Stop, 0, interrupted}},
	}
	situations := []struct {
		rpc    string
		effect pluginpb.Failure_Effect
	}{
		{"Complete", pluginpb.Failure_EFFECT_NONE}, {"Complete", pluginpb.Failure_EFFECT_CHARGED},
		{"Complete", pluginpb.Failure_EFFECT_UNKNOWN}, {"Build", pluginpb.Failure_EFFECT_CHANGED},
	}
	for number, name := range pluginpb.Failure_Reason_name {
		rows, ok := table[name[len("REASON_"):]]
		if !ok {
			t.Errorf("the table has no row for %s", name)
			continue
		}
		for i, s := range situations {
			d := Decide(&Failure{Cause: Reported, RPC: s.rpc, Reason: pluginpb.Failure_Reason(number), Effect: s.effect})
			if got := (outcome{d.Action, d.Times, d.Code}); got != rows[i] {
				t.Errorf("%s, %s, %s: %v, want %v", name, s.rpc, s.effect, got, rows[i])
			}
		}
	}
	if d := Decide(&Failure{Cause: Reported, Reason: 9999}); d.Action != Stop || d.Code != interrupted {
		t.Errorf("a reason of the future: %+v", d)
	}
}

func TestDecideOther(t *testing.T) {
	for _, c := range []struct {
		f      Failure
		action Action
		times  int
		code   judge.Code
	}{
		{Failure{Cause: Crashed, RPC: "Complete", Effect: none}, Again, 1, judge.StopPluginCrashed},
		{Failure{Cause: Crashed, RPC: "Complete", Effect: pluginpb.Failure_EFFECT_CHARGED}, Stop, 0, judge.StopPluginCrashed},
		{Failure{Cause: Crashed, RPC: "Build", Effect: unknown}, Stop, 0, judge.StopPluginCrashed},
		{Failure{Cause: Protocol, Effect: none}, Stop, 0, judge.StopPluginCrashed},
		{Failure{Cause: Unimplemented, Effect: none}, Block, 0, judge.BlockedPlugin},
		{Failure{Cause: NotStarted, Effect: none}, Block, 0, judge.BlockedPlugin},
		{Failure{Cause: OurLimit, Effect: none}, Stop, 0, judge.StopInterrupted},
		{Failure{Cause: Cancelled, RPC: "Complete", Err: context.DeadlineExceeded}, Stop, 0, judge.StopInterrupted},
		{Failure{Cause: Cancelled, RPC: "Build", Err: context.DeadlineExceeded}, Stop, 0, judge.StopBuilderTimeout},
		{Failure{Cause: Cancelled, RPC: "Build", Err: context.Canceled}, Stop, 0, judge.StopInterrupted},
		{Failure{Cause: "new", Effect: none}, Stop, 0, judge.StopPluginCrashed},
	} {
		if d := Decide(&c.f); d.Action != c.action || d.Times != c.times || d.Code != c.code {
			t.Errorf("%+v: %+v", c.f, d)
		}
	}
	reset := time.Now().Add(time.Hour)
	d := Decide(&Failure{Cause: Reported, Reason: pluginpb.Failure_REASON_RATE_LIMITED, Effect: none, RetryAfter: 7 * time.Second, ResetAt: reset})
	if d.After != 7*time.Second || !d.ResetAt.Equal(reset) {
		t.Errorf("%+v", d)
	}
	for code, action := range map[judge.Code]Action{judge.BlockedOrchestrator: Block, judge.StopProviderQuota: Stop} {
		if g := (Decision{Action: Again, Times: 2, Code: code}).Gave(); g.Action != action || g.Times != 0 || g.Code != code {
			t.Errorf("%+v", g)
		}
	}
}

func reportedAs(r pluginpb.Failure_Reason, after time.Duration) *Failure {
	return &Failure{Cause: Reported, RPC: "Complete", Reason: r, Effect: none, RetryAfter: after}
}

func TestRetry(t *testing.T) {
	limited := reportedAs(pluginpb.Failure_REASON_RATE_LIMITED, 0)
	later := reportedAs(pluginpb.Failure_REASON_RATE_LIMITED, 5*time.Second)
	hours := reportedAs(pluginpb.Failure_REASON_RATE_LIMITED, 5*time.Hour)
	network := reportedAs(pluginpb.Failure_REASON_NETWORK, 0)
	auth := reportedAs(pluginpb.Failure_REASON_AUTH_REJECTED, 0)
	s := time.Second
	for _, c := range []struct {
		name  string
		calls []*Failure // the last is repeated
		o     RetryOptions
		want  int             // calls
		ok    bool            // ends well
		waits []time.Duration // the least of each; the clock runs on and each is spread by up to a quarter
	}{
		{"at once", []*Failure{nil}, RetryOptions{}, 1, true, nil},
		{"third time", []*Failure{limited, limited, nil}, RetryOptions{}, 3, true, []time.Duration{s, 2 * s}},
		{"as told", []*Failure{later, nil}, RetryOptions{}, 2, true, []time.Duration{5 * s}},
		{"gives up", []*Failure{limited}, RetryOptions{}, 4, false, []time.Duration{s, 2 * s, 4 * s}},
		{"never", []*Failure{auth}, RetryOptions{}, 1, false, nil},
		{"too long", []*Failure{hours, nil}, RetryOptions{}, 1, false, nil},
		{"each reason for itself", []*Failure{limited, network, limited, network, limited, network, limited, nil}, RetryOptions{}, 7, false, []time.Duration{s, s, 2 * s, 2 * s, 4 * s, 4 * s}},
		{"as told by the clock", []*Failure{{Cause: Reported, RPC: "Complete", Reason: pluginpb.Failure_REASON_RATE_LIMITED, Effect: none, ResetAt: time.Now().Add(40 * s)}, nil}, RetryOptions{}, 2, true, []time.Duration{35 * s}},
		{"no budget", []*Failure{limited, nil}, RetryOptions{Allow: func(*Failure, Decision) error { return errors.New("spent") }}, 1, false, nil},
		{"cancelled", []*Failure{limited, nil}, RetryOptions{Sleep: func(context.Context, time.Duration) error { return context.Canceled }}, 1, false, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var waits []time.Duration
			if c.o.Sleep == nil {
				c.o.Sleep = func(_ context.Context, d time.Duration) error { waits = append(waits, d); return nil }
			}
			calls := 0
			f := Retry(context.Background(), c.o, func(_ context.Context, attempt int) *Failure {
				if attempt != calls {
					t.Errorf("attempt %d, call %d", attempt, calls)
				}
				calls++
				return c.calls[min(attempt, len(c.calls)-1)]
			})
			if calls != c.want || (f == nil) != c.ok {
				t.Errorf("%d calls, %v", calls, f)
			}
			if len(waits) != len(c.waits) {
				t.Fatalf("waits %v, want %v", waits, c.waits)
			}
			for i, w := range c.waits {
				if waits[i] < w || waits[i] > w+w/2 {
					t.Errorf("waits %v, want %v", waits, c.waits)
				}
			}
		})
	}
}

// A wait for which the call has no time left is not begun.
func TestRetryKeepsToTheDeadline(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	calls := 0
	o := RetryOptions{Sleep: func(context.Context, time.Duration) error { return nil }}
	f := Retry(ctx, o, func(context.Context, int) *Failure {
		calls++
		return reportedAs(pluginpb.Failure_REASON_RATE_LIMITED, []time.Duration{5 * time.Second, 40 * time.Second}[min(calls-1, 1)])
	})
	if f == nil || calls != 2 {
		t.Errorf("%d calls, %v", calls, f)
	}
}

// Only what ends by itself, without anybody's doing, is worth a wait or another provider.
func TestPasses(t *testing.T) {
	passes := map[string]bool{"RATE_LIMITED": true, "OVERLOADED": true, "NETWORK": true, "QUOTA_EXHAUSTED": true}
	for number, name := range pluginpb.Failure_Reason_name {
		for _, effect := range []pluginpb.Failure_Effect{none, unknown, pluginpb.Failure_EFFECT_CHANGED} {
			d := Decide(&Failure{Cause: Reported, RPC: "Build", Reason: pluginpb.Failure_Reason(number), Effect: effect})
			if d.Passes != passes[name[len("REASON_"):]] {
				t.Errorf("%s, %s: %v", name, effect, d.Passes)
			}
		}
	}
	for _, c := range []Cause{Crashed, Protocol, Unimplemented, NotStarted, OurLimit, Cancelled} {
		if Decide(&Failure{Cause: c, Reason: pluginpb.Failure_REASON_OVERLOADED}).Passes {
			t.Errorf("%s passes", c)
		}
	}
}

func use(out, cost *int64) *pluginpb.Usage {
	return &pluginpb.Usage{OutputTokens: out, CostMicrousd: cost}
}

func TestGuard(t *testing.T) {
	i := proto.Int64
	type ev struct {
		seq            uint64
		size           int
		started, final bool
		usage          *pluginpb.Usage
	}
	for _, c := range []struct {
		name   string
		events []ev
		breach string // of the last
	}{
		{"ordinary", []ev{{1, 1, true, false, nil}, {2, 1, false, false, use(i(1), nil)}, {3, 1, false, false, nil}, {4, 1, false, true, use(i(1), i(5))}}, ""},
		{"zero", []ev{{0, 1, true, false, nil}}, "it sent event number 0 where 1 was due"},
		{"twice", []ev{{1, 1, true, false, nil}, {1, 1, false, false, nil}}, "it sent event number 1 where 2 was due"},
		{"gap", []ev{{1, 1, true, false, nil}, {3, 1, false, false, nil}}, "it sent event number 3 where 2 was due"},
		{"unstarted", []ev{{1, 1, false, false, nil}}, "its first event, and no other, must be started"},
		{"restarted", []ev{{1, 1, true, false, nil}, {2, 1, true, false, nil}}, "its first event, and no other, must be started"},
		{"after", []ev{{1, 1, true, false, nil}, {2, 1, false, true, nil}, {3, 1, false, false, nil}}, "it sent an event after its final one"},
		{"down", []ev{{1, 1, true, false, nil}, {2, 1, false, false, use(i(5), nil)}, {3, 1, false, true, use(i(4), nil)}}, "its usage went down: output_tokens was 5 and is 4"},
		{"forgotten", []ev{{1, 1, true, false, nil}, {2, 1, false, false, use(i(5), i(9))}, {3, 1, false, true, use(i(5), nil)}}, "its usage went down: cost_microusd was 9 and is not known any more"},
		{"negative", []ev{{1, 1, true, false, nil}, {2, 1, false, true, use(i(-5), nil)}}, "its usage can't be: output_tokens is -5"},
		{"negative cost", []ev{{1, 1, true, false, nil}, {2, 1, false, true, use(nil, i(-1))}}, "its usage can't be: cost_microusd is -1"},
		{"too much", []ev{{1, 1, true, false, nil}, {2, 1, false, true, use(i(1<<62), nil)}}, "its usage can't be: output_tokens is 4611686018427387904"},
		{"bytes", []ev{{1, 60, true, false, nil}, {2, 60, false, false, nil}}, "it flooded relay: its events have more than 100 bytes"},
	} {
		g := newGuard(Limits{Bytes: 100}.withDefaults())
		for n, e := range c.events {
			got, want := g.admit(e.seq, e.size, e.started, e.final, e.usage), ""
			if n == len(c.events)-1 {
				want = c.breach
			}
			if got != want {
				t.Errorf("%s, event %d: %q, want %q", c.name, n, got, want)
			}
		}
	}
	g := newGuard(Limits{Events: 10}.withDefaults())
	var at int
	for n := range 1000 {
		if g.admit(uint64(n+1), 1, n == 0, false, nil) != "" {
			at = n
			break
		}
	}
	if at < 100 || at > 200 {
		t.Errorf("a flood was noticed at event %d", at)
	}
}

func TestTexts(t *testing.T) {
	for n, want := range map[int]string{0: "0 bytes", 1<<20 - 1: "1048575 bytes", 32 << 20: "32 MiB", 32<<20 + 1: "33 MiB"} {
		if got := mib(n); got != want {
			t.Errorf("mib(%d) = %q", n, got)
		}
	}
	f := &Failure{Cause: Crashed, Summary: "what", Detail: "why", StderrPath: "/h/x.stderr"}
	if got := f.Error(); got != "what: why; all that it wrote is in /h/x.stderr (fix: `relay doctor` checks what the plugin needs; `relay show` has the details of the run)" {
		t.Error(got)
	}
	var codes []string
	for r := range reasons {
		codes = append(codes, fmt.Sprint(int32(r)))
	}
	if slices.Contains(codes, "0") {
		t.Error("UNSPECIFIED has a row of its own")
	}
}
