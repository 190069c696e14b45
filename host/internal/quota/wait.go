package quota

import (
	"fmt"
	"strings"
	"time"

	"github.com/paxiom/relay/host/internal/pluginhost"
	"github.com/paxiom/relay/host/internal/report"
)

// ladder is how long to wait where nobody says until when: the n-th time in a row, and
// the last of it from then on.
var ladder = []time.Duration{2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute}

// Margins after the moment that a vendor named: clocks differ, and an account's limit
// is rarely renewed to the second.
const (
	quotaMargin = time.Minute
	shortMargin = 5 * time.Second
)

// believed is the longest that a limit can last: none is renewed less than once a month. An
// end that is farther away, or past, was never meant, and waiting for it would keep all runs
// of the machine from asking.
const believed = 32 * 24 * time.Hour

// LimitOf is what a failure says of a limit, nil when it is none: see
// pluginhost.Decision.Passes. An end that can't be is left out: nobody knows it.
func LimitOf(f *pluginhost.Failure, role, provider, model string, now time.Time) *report.Limit {
	d := pluginhost.Decide(f)
	if !d.Passes {
		return nil
	}
	l := &report.Limit{Role: role, Provider: provider, Model: model, Name: f.LimitName, At: now.UTC(), Summary: f.Summary,
		Reason: strings.TrimPrefix(f.Reason.String(), "REASON_")}
	until := f.ResetAt
	if until.IsZero() {
		until = now.Add(f.RetryAfter)
	}
	if left := until.Sub(now); left > 0 && left <= believed {
		l.Until = until.UTC()
	}
	return l
}

// Wait is one wait of a series: the waits between which nothing but limits was met.
type Wait struct {
	Since  time.Time      `json:"since"`        // when the series began
	Try    int            `json:"try"`          // the how-many-th wait of the series this is
	Until  time.Time      `json:"until"`        // when everything is asked again
	Cap    time.Time      `json:"cap,omitzero"` // when the series is given up
	Limits []report.Limit `json:"limits"`       // what is waited for
}

// TooLong says that a series is given up.
type TooLong struct {
	Soonest time.Time     // when a provider may answer again; zero: nobody knows
	Max     time.Duration // limits.max_wait
	Waited  time.Duration
}

// Error says it in words.
func (t *TooLong) Error() string {
	switch {
	case t.Max <= 0:
		return "limits.max_wait is 0: no limit is waited for"
	case !t.Soonest.IsZero():
		return fmt.Sprintf("the limit lasts until %s, which is longer than limits.max_wait (%s)", t.Soonest.Local().Format(time.DateTime), short(t.Max))
	}
	return fmt.Sprintf("it was waited for %s, and limits.max_wait is %s", short(t.Waited), short(t.Max))
}

// short leaves out the zeros with which Go writes a duration.
func short(d time.Duration) string {
	s := d.Round(time.Second).String()
	if strings.HasSuffix(s, "m0s") {
		s = s[:len(s)-2]
	}
	if strings.HasSuffix(s, "h0m") {
		s = s[:len(s)-2]
	}
	return s
}

// Next decides how long to wait now that every provider of a role has met a limit.
// before is the series so far, nil at its first wait. It ends with the limit that ends
// first; one of which nobody knows the end is asked about in growing steps, and so is
// one that did not keep to the time that was given. The error is a *TooLong.
func Next(before *Wait, limits []report.Limit, now time.Time, longest time.Duration) (*Wait, error) {
	w := &Wait{Since: now.UTC(), Try: 1, Limits: limits}
	if before != nil {
		w.Since, w.Try = before.Since, before.Try+1
	}
	w.Cap = w.Since.Add(longest)
	known := true
	for _, l := range limits {
		at, told := again(l, now, w.Try)
		if w.Until.IsZero() || at.Before(w.Until) {
			w.Until, known = at, told
		}
	}
	if len(limits) == 0 {
		w.Until, known = now.Add(step(w.Try)), false
	}
	w.Until = w.Until.UTC()
	if longest > 0 && !w.Until.After(w.Cap) {
		return w, nil
	}
	long := &TooLong{Max: longest, Waited: now.Sub(w.Since)}
	if known {
		long.Soonest = w.Until
	}
	return nil, long
}

// again is when the provider that has met this limit is asked once more, and whether
// that is the vendor's word.
func again(l report.Limit, now time.Time, try int) (at time.Time, told bool) {
	margin := shortMargin
	if l.Reason == "QUOTA_EXHAUSTED" {
		margin = quotaMargin
	}
	at = l.Until.Add(margin)
	if l.Until.IsZero() || !at.After(now) {
		return now.Add(step(try)), false
	}
	if try > 1 { // what was said the last time did not hold
		if least := now.Add(step(try - 1)); at.Before(least) {
			return least, false
		}
	}
	return at, true
}

func step(try int) time.Duration { return ladder[min(max(try, 1), len(ladder))-1] }
