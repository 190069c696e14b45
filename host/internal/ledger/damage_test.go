package ledger

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/judge"
)

// written makes a workspace with this usage.jsonl.
func written(t *testing.T, lines ...string) *workspace.Workspace {
	t.Helper()
	ws := newWS(t)
	must(t, os.WriteFile(ws.Usage(), []byte(strings.Join(lines, "\n")+"\n"), 0o644))
	return ws
}

const good = `{"at":"2026-11-21T22:46:00.5Z","call_id":"r1-orchestrator-1","run_id":"r1","role":"orchestrator","provider":"p","input_tokens":10,"output_tokens":1,"cost_usd":2,"cost_basis":"reported","outcome":"ok"}`

// Whatever became of a line, its call is not forgotten, and none is counted twice.
func TestDamagedLines(t *testing.T) {
	other := strings.Replace(good, "r1-", "r0-", 1)
	for name, c := range map[string]struct {
		line           string
		calls, unknown int
		cost           float64
	}{
		"nothing":                      {"", 1, 0, 2},
		"never came to the disk":       {strings.Repeat("\x00", 300), 1, 0, 2},
		"torn, and settled anew":       {good[:90], 1, 0, 2},
		"torn in the name of the call": {good[:50], 1, 0, 2},
		"torn before it":               {good[:20], 1, 0, 2},
		"torn, another call":           {other[:90], 2, 1, 2},
		"torn, a call named like ours": {strings.Replace(good, "orchestrator-1", "orchestrator", 1)[:90], 2, 1, 2},
		"overwritten":                  {"\x00\xff\x12 garbage", 2, 1, 2},
		"of another version":           {`{"at":"2026-11-21T22:46:00Z","id":"r0-x","usd":7}`, 2, 1, 2},
		"with fields that are unknown": {strings.Replace(good, `{"at"`, `{"v":2,"at"`, 1), 2, 0, 4},
		"of other types":               {strings.Replace(other, `"input_tokens":10`, `"input_tokens":"10"`, 1), 2, 1, 2},
		"a cost that pays back":        {strings.Replace(good, `"cost_usd":2`, `"cost_usd":-100`, 1), 2, 1, 2},
		"tokens that pay back":         {strings.Replace(good, `"input_tokens":10`, `"input_tokens":-10`, 1), 2, 0, 4},
		"a cost that is no number":     {strings.Replace(other, `"cost_usd":2`, `"cost_usd":1e999`, 1), 2, 1, 2},
		"longer than any line of ours": {strings.Repeat("x", 200_000), 2, 1, 2},
	} {
		ws := written(t, c.line, good)
		for kind, add := range map[string]func(*Totals) error{
			"all": func(s *Totals) error { return Usages(ws, func(u Line) error { s.Add(u); return nil }) },
			"since": func(s *Totals) error {
				return UsagesSince(ws, time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC), func(u Line) error { s.Add(u); return nil })
			},
			"totals": func(s *Totals) error { a, err := AllTotals(ws); *s = *a; return err },
		} {
			s := NewTotals()
			must(t, add(s))
			if a := s.All; a.Calls != c.calls || a.UnknownCalls != c.unknown || a.CostUSD == nil || *a.CostUSD != c.cost || count(a.InputTokens) < 10 {
				t.Errorf("%s, %s: %+v", name, kind, a)
			}
		}
	}
	// A line that another process writes now is not damaged yet.
	ws := newWS(t)
	must(t, os.WriteFile(ws.Usage(), []byte(good+"\n"+good[:120]), 0o644))
	all, err := AllTotals(ws)
	if err != nil || all.All.Calls != 1 {
		t.Errorf("%+v, %v", all.All, err)
	}
}

// With a cap in dollars a call of which nobody knows anything ends the spending, and so
// does one that was made while nothing limited it.
func TestCapWithoutBound(t *testing.T) {
	today := strings.Replace(good, "2026-11-21T22:46:00.5Z", time.Now().UTC().Format(time.RFC3339), 1)
	for _, lost := range []string{"garbage", strings.Replace(today, `"cost_usd":2,"cost_basis":"reported"`, `"cost_usd":null,"cost_basis":"unknown"`, 1)} {
		b := caps(10, 0)
		b.PerDay = config.Caps{MaxCostUSD: 100}
		l := open(t, written(t, today, lost), b)
		_, err := l.Reserve(Call{ID: "x", RunID: "20260101-000000-x", Role: RoleBuilder, Provider: "p", MaxUSD: 1})
		wantCode(t, err, judge.BlockedBudgetExhausted, "the amount used is unknown")
	}
}

// Counters that are remade from the lines know of those that can't be read.
func TestRebuildFromDamage(t *testing.T) {
	s, _, err := Rebuild(written(t, "garbage", good), "", Counters{})
	if err != nil || s.Budgets.Ticks != 1 || s.Budgets.UnknownCostCalls != 1 || s.LastRunID == nil || *s.LastRunID != "r1" {
		t.Errorf("%+v, %v", s, err)
	}
}
