package ledger

import (
	"errors"
	"math"
	"strconv"
	"sync"
	"testing"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/host/internal/coordinator"
	"github.com/paxiom/relay/host/internal/coordinator/coordinatortest"
	"github.com/paxiom/relay/judge"
)

// Two machines with one coordinator and no file in common spend one cap to its end together, and not a cent more, though
// their repositories share no days by themselves.
func TestOneCapForTwoMachines(t *testing.T) {
	coordinatortest.Serve(t, "m")
	caps := spending(func(b *config.Budgets) { b.PerDay.MaxCostUSD = 1 })
	var mu sync.Mutex
	spent := 0.0
	var wg sync.WaitGroup
	for range 2 {
		l := openOn(t, newWS(t), caps, t.TempDir())
		wg.Go(func() {
			for n := 0; ; n++ {
				r, err := l.Reserve(call(strconv.Itoa(n), "claude", 0.07))
				if f, ok := errors.AsType[*diag.Error](err); ok && (f.Code == judge.BlockedBudgetCap || f.Code == judge.BlockedBudgetExhausted) {
					return
				}
				if err == nil {
					err = r.Settle(Usage{CostUSD: ptr(0.05)})
				}
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				spent += 0.05
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if cents := math.Round(spent * 100); cents != 95 {
		t.Errorf("%v cents are spent: the 20th call might have brought it to 102", cents)
	}
}

// The same folder on another machine is another workspace: its calls are not settled here.
func TestTheSameFolderElsewhere(t *testing.T) {
	coordinatortest.Serve(t, "m")
	ws, state := newWS(t), t.TempDir()
	caps := spending(func(b *config.Budgets) { b.PerDay.MaxCalls = 1 })
	if _, err := openOn(t, ws, caps, state).Reserve(call("1", "claude", 1)); err != nil {
		t.Fatal(err)
	}
	there := openAccount(state)
	if calls, err := there.of("other:" + ws.Dir()); len(calls) != 0 || err != nil {
		t.Error(calls, err)
	}
	if calls, err := there.of(coordinator.Here() + ws.Dir()); len(calls) != 1 || err != nil {
		t.Error(calls, err)
	}
}

// Where the coordinator does not answer, no call is made.
func TestNoCoordinatorNoCall(t *testing.T) {
	ws := newWS(t)
	t.Setenv(coordinator.Env, t.TempDir()+"/gone.sock")
	_, _, err := Open(ws, spending(func(b *config.Budgets) { b.PerDay.MaxCalls = 9 }), t.TempDir())
	wantCode(t, err, judge.BlockedBudgetExhausted, "can't be used")
}
