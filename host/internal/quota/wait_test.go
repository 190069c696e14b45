package quota

import (
	"errors"
	"testing"
	"time"

	"github.com/paxiom/relay/host/internal/pluginhost"
	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/sdk/pluginpb"
)

var t0 = time.Date(2026, 11, 20, 22, 0, 0, 0, time.UTC)

func at(d time.Duration) time.Time { return t0.Add(d) }

const maxWait = 16 * time.Hour

// Where nobody says until when, the steps grow and then stay, until the cap.
func TestLadder(t *testing.T) {
	now := t0
	var w *Wait
	var steps []time.Duration
	for {
		next, err := Next(w, []report.Limit{{Reason: "OVERLOADED"}}, now, maxWait)
		if err != nil {
			var long *TooLong
			if !errors.As(err, &long) || !long.Soonest.IsZero() {
				t.Fatal(err)
			}
			break
		}
		steps = append(steps, next.Until.Sub(now))
		w, now = next, next.Until
	}
	want := []time.Duration{2, 5, 10, 15, 30, 30, 30}
	for i, m := range want {
		if steps[i] != m*time.Minute {
			t.Errorf("step %d is %v, want %v min", i+1, steps[i], m)
		}
	}
	if total := now.Sub(t0); total > maxWait || total < maxWait-30*time.Minute {
		t.Errorf("it was given up after %v in %d steps", total, len(steps))
	}
	if !w.Since.Equal(t0) || !w.Cap.Equal(at(maxWait)) || w.Try != len(steps) {
		t.Errorf("%+v", w)
	}
}

func TestNext(t *testing.T) {
	quota := func(d time.Duration) report.Limit { return report.Limit{Reason: "QUOTA_EXHAUSTED", Until: at(d)} }
	rate := func(d time.Duration) report.Limit { return report.Limit{Reason: "RATE_LIMITED", Until: at(d)} }
	unknown := report.Limit{Reason: "QUOTA_EXHAUSTED"}
	later := func(n int) *Wait { return &Wait{Since: at(-time.Hour), Try: n} }
	for name, c := range map[string]struct {
		before *Wait
		limits []report.Limit
		want   time.Duration // 0: given up
	}{
		"a reset, and a margin":                 {nil, []report.Limit{quota(5 * time.Hour)}, 5*time.Hour + time.Minute},
		"a short limit has a short margin":      {nil, []report.Limit{rate(90 * time.Second)}, 95 * time.Second},
		"whichever comes first":                 {nil, []report.Limit{quota(5 * time.Hour), quota(time.Hour)}, 61 * time.Minute},
		"one of unknown end is asked meanwhile": {nil, []report.Limit{quota(5 * time.Hour), unknown}, 2 * time.Minute},
		"a reset that is past is no reset":      {nil, []report.Limit{quota(-2 * time.Minute)}, 2 * time.Minute},
		"a promise that did not hold":           {later(3), []report.Limit{rate(time.Second)}, 10 * time.Minute},
		"a reset after others":                  {later(3), []report.Limit{quota(5 * time.Hour)}, 5*time.Hour + time.Minute},
		"longer than the cap":                   {nil, []report.Limit{quota(100 * time.Hour)}, 0},
		"the cap holds for the series":          {&Wait{Since: at(-12 * time.Hour), Try: 1}, []report.Limit{quota(5 * time.Hour)}, 0},
		"one is beyond the cap, the other not":  {nil, []report.Limit{quota(100 * time.Hour), quota(time.Hour)}, 61 * time.Minute},
	} {
		w, err := Next(c.before, c.limits, t0, maxWait)
		if (err != nil) != (c.want == 0) {
			t.Errorf("%s: %v", name, err)
		} else if err == nil && w.Until.Sub(t0) != c.want {
			t.Errorf("%s: waits %v, want %v", name, w.Until.Sub(t0), c.want)
		}
	}
	if _, err := Next(nil, []report.Limit{unknown}, t0, 0); err == nil || err.Error() != "limits.max_wait is 0: no limit is waited for" {
		t.Error(err)
	}
	if _, err := Next(nil, []report.Limit{quota(100 * time.Hour)}, t0, maxWait); err.Error() != "the limit lasts until "+at(100*time.Hour+time.Minute).Local().Format(time.DateTime)+", which is longer than limits.max_wait (16h)" {
		t.Error(err)
	}
}

func TestLimitOf(t *testing.T) {
	f := &pluginhost.Failure{Cause: pluginhost.Reported, RPC: "Complete", Reason: pluginpb.Failure_REASON_RATE_LIMITED, RetryAfter: time.Minute, LimitName: "x", Summary: "s"}
	l := LimitOf(f, "orchestrator", "claude", "opus", t0)
	if l == nil || !l.Until.Equal(at(time.Minute)) || l.Reason != "RATE_LIMITED" || l.Name != "x" || l.Provider != "claude" || l.Model != "opus" {
		t.Errorf("%+v", l)
	}
	f.ResetAt = at(time.Hour)
	if l := LimitOf(f, "", "", "", t0); !l.Until.Equal(at(time.Hour)) {
		t.Errorf("%+v", l)
	}
	for name, end := range map[string]time.Time{"past": at(-time.Second), "in 1970": time.Unix(0, 0), "in milliseconds": time.Unix(t0.UnixMilli(), 0),
		"in 9999": time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)} {
		f.ResetAt = end
		if l := LimitOf(f, "", "", "", t0); l == nil || !l.Until.IsZero() {
			t.Errorf("an end %s is believed: %+v", name, l)
		}
	}
	f.ResetAt, f.RetryAfter = time.Time{}, 1<<62
	if l := LimitOf(f, "", "", "", t0); l == nil || !l.Until.IsZero() {
		t.Errorf("%+v", l)
	}
	f.Reason = pluginpb.Failure_REASON_NOT_LOGGED_IN
	if LimitOf(f, "", "", "", t0) != nil {
		t.Error("a missing login is waited for")
	}
}
