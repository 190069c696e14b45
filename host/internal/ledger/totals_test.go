package ledger

import (
	"encoding/json"
	"maps"
	"os"
	"testing"
	"time"
)

// A call counts in each of its groups once, and for the milestone that its run had in the
// end: the one that proposes the task is made before that is known.
func TestTotals(t *testing.T) {
	ws := newWS(t)
	zone := time.Local
	t.Cleanup(func() { time.Local = zone })
	time.Local = time.FixedZone("far", -11*3600)
	var raw []byte
	for _, l := range []Line{
		{CallID: "a1", RunID: "a", Provider: "p", Role: RoleOrchestrator, CostUSD: ptr(1.0)},
		{CallID: "b1", RunID: "b", Provider: "p", Role: RoleOrchestrator, CostUSD: ptr(2.0)},
		{CallID: "b2", RunID: "b", Provider: "q", Role: RoleBuilder, CostUSD: ptr(4.0), MilestoneID: "M2"},
		{CallID: "a2", RunID: "a", Provider: "q", Role: RoleBuilder, CostUSD: ptr(8.0), MilestoneID: "M1"},
		{CallID: "c1", RunID: "c", Provider: "p", Role: "auditor", CostUSD: ptr(16.0), CycleID: "c"},
	} {
		l.At = time.Date(2026, 1, 2, 10, 0, 0, 0, time.UTC)
		b, err := json.Marshal(l)
		must(t, err)
		raw = append(append(raw, b...), '\n')
	}
	must(t, os.WriteFile(ws.Usage(), raw, 0o644))
	all, err := AllTotals(ws)
	must(t, err)
	for group, want := range map[string]map[string]float64{
		ByMilestone: {"M1": 9, "M2": 6, "": 16},
		ByRun:       {"a": 9, "b": 6, "c": 16},
		ByProvider:  {"p": 19, "q": 12},
		ByRole:      {RoleOrchestrator: 3, RoleBuilder: 12, "auditor": 16},
		ByCycle:     {"": 15, "c": 16},
		ByDay:       {"2026-01-01": 31},
	} {
		got := map[string]float64{}
		for name, s := range all.By(group) {
			got[name] = *s.CostUSD
		}
		if !maps.Equal(got, want) {
			t.Errorf("by %s: %v, want %v", group, got, want)
		}
	}
	if all.All.Calls != 5 || *all.All.CostUSD != 31 {
		t.Errorf("%+v", all.All)
	}
}
