package progress

import (
	"testing"
	"time"
)

func num[N any](n N) *N { return &n }

// What events add up to: a tick, whose states follow each other.
func TestNowOfATick(t *testing.T) {
	t0 := time.Date(2026, 11, 21, 3, 0, 0, 0, time.UTC)
	var n Now
	n.Take(Event{Kind: Limit, RunID: "r", Text: "tick", Until: t0.Add(time.Hour)})
	n.Take(Event{Kind: Entered, RunID: "r", State: "LOCK", At: t0})
	n.Take(Event{Kind: Entered, RunID: "r", State: "BUILD", At: t0.Add(time.Second)})
	n.Take(Event{Kind: Limit, RunID: "r", State: "BUILD", Text: "builder", Plugin: "p", Until: t0.Add(time.Minute)})
	n.Take(Event{Kind: Plugin, RunID: "r", State: "BUILD", Plugin: "p", Text: "edits a"})
	n.Take(Event{Kind: Plugin, RunID: "r", State: "BUILD", Plugin: "p", Text: "edits b"})
	if len(n.Doing) != 1 || n.Doing[0].State != "BUILD" || len(n.Doing[0].Acts) != 1 || n.Doing[0].Acts[0] != (Act{"p", "edits b"}) {
		t.Fatalf("%+v", n.Doing)
	}
	if len(n.Limits) != 1 || len(n.Doing[0].Limits) != 1 || n.Doing[0].Limits[0].Name != "builder" {
		t.Fatalf("limits %+v, of the state %+v", n.Limits, n.Doing[0].Limits)
	}
	n.Take(Event{Kind: Finished, RunID: "r", State: "BUILD", Text: "done"})
	if len(n.Doing) != 0 || n.Said != "done" || len(n.Limits) != 1 {
		t.Fatalf("%+v", n)
	}
}

// A call under way counts at once, and only once when it is settled.
func TestNowOfACall(t *testing.T) {
	var n Now
	n.Take(Event{Kind: Spent, Usage: Usage{InputTokens: num(int64(100))}, Call: "a"})
	n.Take(Event{Kind: Spent, Usage: Usage{InputTokens: num(int64(100))}, Call: "b", Soon: Usage{InputTokens: num(int64(7)), CostUSD: num(0.5)}})
	n.Take(Event{Kind: Spent, Usage: Usage{InputTokens: num(int64(100))}, Call: "b", Soon: Usage{InputTokens: num(int64(9)), CostUSD: num(0.6)}})
	if *n.Usage.InputTokens != 109 || *n.Usage.CostUSD != 0.6 || n.Usage.OutputTokens != nil {
		t.Errorf("%+v", n.Usage)
	}
	n.Take(Event{Kind: Spent, Usage: Usage{InputTokens: num(int64(110)), CostUSD: num(0.7)}, Call: "b"})
	if *n.Usage.InputTokens != 110 || *n.Usage.CostUSD != 0.7 {
		t.Errorf("settled: %+v", n.Usage)
	}
}

// Tasks side by side have a row each; a wait of the whole ends with the next state.
func TestNowSideBySide(t *testing.T) {
	t0 := time.Date(2026, 11, 21, 3, 0, 0, 0, time.UTC)
	var n Now
	n.Take(Event{Kind: Entered, RunID: "r", State: "one PLAN", At: t0})
	n.Take(Event{Kind: Entered, RunID: "r", State: "two PLAN", At: t0})
	n.Take(Event{Kind: Entered, RunID: "r", State: "one CODE", At: t0})
	n.Take(Event{Kind: Plugin, RunID: "r", State: "two PLAN", Plugin: "p", Text: "thinks"})
	if len(n.Doing) != 2 || n.Doing[0].State != "two PLAN" || n.Doing[0].Acts[0].Text != "thinks" || n.Doing[1].State != "one CODE" {
		t.Fatalf("%+v", n.Doing)
	}
	n.Take(Event{Kind: Waiting, RunID: "r", State: "two PLAN", Until: t0.Add(time.Hour), Text: "a limit"})
	if len(n.Doing) != 2 || n.Doing[0].Until.IsZero() {
		t.Fatalf("%+v", n.Doing)
	}
	n.Take(Event{Kind: Waiting, Until: t0.Add(time.Hour), Text: "a limit", At: t0})
	if len(n.Doing) != 1 || n.Doing[0].State != "waiting" || n.Doing[0].Until.IsZero() {
		t.Fatalf("%+v", n.Doing)
	}
	n.Take(Event{Kind: Entered, RunID: "s", State: "LOCK", At: t0})
	if len(n.Doing) != 1 || n.Doing[0].State != "LOCK" {
		t.Fatalf("%+v", n.Doing)
	}
}
