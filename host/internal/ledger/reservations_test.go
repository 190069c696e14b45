package ledger

import (
	"fmt"
	"sync"
	"testing"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/judge"
)

func tabAt(t *testing.T, ws *workspace.Workspace, cycle string, caps config.Budgets) *Reservations {
	t.Helper()
	tab, _, err := OpenReservations(ws, caps, "", cycle, nil)
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

func tabSpace(t *testing.T) *workspace.Workspace {
	t.Helper()
	ws, err := workspace.Open(t.TempDir(), "")
	if err == nil {
		err = ws.Ensure()
	}
	if err != nil {
		t.Fatal(err)
	}
	return ws
}

// spent is what a cycle has used by its tab.
func spent(t *testing.T, tab *Reservations) Sum {
	t.Helper()
	tab.caps.PerCycle.MaxCalls = 1000
	l, err := tab.book()
	if err != nil {
		t.Fatal(err)
	}
	w, err := l.cycleWindow(tab.cycle)
	if err != nil {
		t.Fatal(err)
	}
	return w.used
}

// Calls at the same time, on two tabs, never go over the cap of one of them.
func TestTabCap(t *testing.T) {
	ws := tabSpace(t)
	a, b := tabAt(t, ws, "cycle-a", config.Budgets{PerCycle: config.Caps{MaxCostUSD: 5}, AlertAtFraction: 0.5}), tabAt(t, ws, "cycle-b", config.Budgets{})
	var mu sync.Mutex
	var holds []*Hold
	var wg sync.WaitGroup
	for i := range 10 {
		wg.Go(func() {
			h, err := a.Reserve(Call{ID: fmt.Sprintf("a%d", i), Role: "auditor", Provider: "claude", MaxUSD: 1})
			if f, ok := diag.As(err); err != nil && (!ok || f.Code != judge.BlockedBudgetCap) {
				t.Errorf("reserve: %v", err)
			}
			if err == nil {
				mu.Lock()
				holds = append(holds, h)
				mu.Unlock()
			}
			if h, err := b.Reserve(Call{ID: fmt.Sprintf("b%d", i), Role: "auditor", MaxUSD: 100}); err != nil {
				t.Error(err)
			} else if err := h.Settle(Usage{}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if len(holds) != 5 {
		t.Fatalf("%d calls of a dollar under a cap of 5", len(holds))
	}
	if _, alerts, err := a.Standings(); err != nil || len(alerts) != 1 {
		t.Errorf("alerts: %q %v", alerts, err)
	}
	cheap := 0.25
	for _, h := range holds {
		if err := h.Settle(Usage{CostUSD: &cheap}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := a.Reserve(Call{ID: "big", MaxUSD: 4}); err == nil {
		t.Error("a call that could go over the cap was let through")
	}
	if s := spent(t, a); s.Calls != 5 || s.Most() != 1.25 {
		t.Errorf("a: %+v", s)
	}
	if s := spent(t, b); s.UnknownCalls != 10 || s.UnknownMaxUSD != 1000 {
		t.Errorf("b: %+v", s)
	}
}

// The day's cap holds over tabs and ticks together.
func TestTabDay(t *testing.T) {
	ws := tabSpace(t)
	caps := config.Budgets{PerDay: config.Caps{MaxCostUSD: 3}, PerMilestone: config.PerMilestone{MaxOrchestratorCalls: 9}}
	tab := tabAt(t, ws, "c", caps)
	if _, err := tab.Reserve(Call{ID: "1", Provider: "claude", MaxUSD: 2}); err != nil {
		t.Fatal(err)
	}
	tick, _, err := Open(ws, caps, "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tick.Reserve(Call{ID: "2", Role: RoleOrchestrator, Provider: "codex", MaxUSD: 2}); err == nil {
		t.Error("a tick went over the day with a cycle's call under way")
	}
}

// A crash between reserving and settling neither forgets nor doubles a call, and does
// not touch what other cycles have under way.
func TestTabCrash(t *testing.T) {
	ws := tabSpace(t)
	a, other := tabAt(t, ws, "c", config.Budgets{}), tabAt(t, ws, "other", config.Budgets{})
	if _, err := a.Reserve(Call{ID: "lost", MaxUSD: 2}); err != nil {
		t.Fatal(err)
	}
	hold, err := other.Reserve(Call{ID: "running", MaxUSD: 3})
	if err != nil {
		t.Fatal(err)
	}
	h, err := a.Reserve(Call{ID: "written", MaxUSD: 2})
	if err != nil {
		t.Fatal(err)
	}
	usd := 0.5
	if err := appendUsage(ws, h.call.line("", Usage{CostUSD: &usd}, nil)); err != nil { // and then the power went
		t.Fatal(err)
	}
	if _, err := a.Reserve(Call{ID: "kept", MaxUSD: 2}); err != nil {
		t.Fatal(err)
	}
	a, lost, err := OpenReservations(ws, config.Budgets{}, "", "c", func(id string) *Usage {
		if id != "kept" {
			return nil
		}
		return &Usage{CostUSD: &usd}
	})
	if err != nil || len(lost) != 1 || lost[0] != "lost" {
		t.Fatalf("lost %v, %v", lost, err)
	}
	if s := spent(t, a); s.Calls != 3 || s.Most() != 3 || s.UnknownCalls != 1 {
		t.Errorf("%+v", s)
	}
	if s := spent(t, other); s.UnknownMaxUSD != 3 {
		t.Errorf("the other cycle: %+v", s)
	}
	if err := hold.Settle(Usage{}); err != nil {
		t.Fatal(err)
	}
}
