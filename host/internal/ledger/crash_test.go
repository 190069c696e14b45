package ledger

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/paxiom/relay/host/internal/workspace"
)

// The four moments at which a crash can come between a reservation and its end.
func TestCrashAroundACall(t *testing.T) {
	ws := newWS(t)
	l := open(t, ws, caps(50, 0))
	must(t, reserve(t, l, "before", RoleBuilder, 0).Settle(Usage{CostUSD: ptr(1.0)}))
	r := reserve(t, l, "c", RoleBuilder, 2)
	afterReserve, err := os.ReadFile(ws.State())
	must(t, err)

	// 1. during the call: counted, and what it cost is unknown
	l2, n, err := Open(ws, caps(50, 0), "")
	if err != nil || n != 1 {
		t.Fatal(n, err)
	}
	if s := l2.State(); s.Budgets.BuilderCalls != 2 || s.Budgets.UnknownCostCalls != 1 || s.Budgets.UnknownMaxUSD != 2 || len(s.Pending) != 0 {
		t.Errorf("%+v", s)
	}
	if u := lines(t, ws); len(u) != 2 || u[1].CallID != "c" || u[1].Outcome != "interrupted" || u[1].CostUSD != nil {
		t.Errorf("%+v", u)
	}
	// 2. after that recovery wrote its line and before it wrote the state
	must(t, os.WriteFile(ws.State(), afterReserve, 0o644))
	l3 := open(t, ws, caps(50, 0))
	if s := l3.State(); s.Budgets.BuilderCalls != 2 || s.Budgets.UnknownCostCalls != 1 || len(lines(t, ws)) != 2 {
		t.Errorf("%+v", s)
	}
	// 3. after the line of a settled call and before the state
	must(t, os.WriteFile(ws.State(), afterReserve, 0o644))
	must(t, os.Truncate(ws.Usage(), r.call.Offset))
	b, _ := json.Marshal(l.usageLine(r.call, Usage{CostUSD: ptr(0.5)}))
	must(t, appendLine(ws.Usage(), b))
	l4 := open(t, ws, caps(50, 0))
	if s := l4.State(); s.Budgets.BuilderCalls != 2 || s.Budgets.UnknownCostCalls != 0 || s.Budgets.EstimatedCostUSD != 1.5 || len(lines(t, ws)) != 2 {
		t.Errorf("%+v", s)
	}
	// 4. in the middle of the line
	must(t, os.WriteFile(ws.State(), afterReserve, 0o644))
	must(t, os.Truncate(ws.Usage(), r.call.Offset+40))
	l5 := open(t, ws, caps(50, 0))
	if s := l5.State(); s.Budgets.BuilderCalls != 2 || s.Budgets.UnknownCostCalls != 1 || len(lines(t, ws)) != 2 {
		t.Errorf("%+v %+v", s, lines(t, ws))
	}
	// nothing is left to recover
	if _, n, _ := Open(ws, caps(50, 0), ""); n != 0 {
		t.Errorf("%d recovered twice", n)
	}
}

// spend makes calls until it is killed. It notes each call when it is sent.
func spend(root string) {
	ws, _ := workspace.Open(root, "")
	l, _, err := Open(ws, shared(1e6), filepath.Join(root, "machine"))
	if err != nil {
		panic(err)
	}
	sent, err := os.OpenFile(filepath.Join(root, "sent"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		panic(err)
	}
	for i := 0; ; i++ {
		id := fmt.Sprintf("%d-%d", os.Getpid(), i)
		r, err := l.Reserve(Call{ID: id, RunID: "run", Role: RoleBuilder, Provider: "p"})
		if err != nil {
			panic(err)
		}
		fmt.Fprintln(sent, id)
		if err := r.Settle(Usage{CostUSD: ptr(1.0)}); err != nil {
			panic(err)
		}
	}
}

// Killed at random moments: every call that was sent is in the ledger once.
func TestKill(t *testing.T) {
	ws := newWS(t)
	kills := 25
	if testing.Short() {
		kills = 8
	}
	for i := range kills {
		c := exec.Command(os.Args[0], ws.Root())
		c.Env = append(os.Environ(), roleEnv+"=spend")
		c.Stderr = os.Stderr
		before, _ := sizeOf(filepath.Join(ws.Root(), "sent"))
		must(t, c.Start())
		for start := time.Now(); ; time.Sleep(time.Millisecond) { // killed at a random moment once it is at work
			if n, _ := sizeOf(filepath.Join(ws.Root(), "sent")); n > before {
				break
			}
			if time.Since(start) > time.Minute {
				t.Fatal("the child makes no calls")
			}
		}
		time.Sleep(time.Duration(i*731%9000) * time.Microsecond)
		_ = c.Process.Kill()
		_ = c.Wait()
	}
	machine := filepath.Join(ws.Root(), "machine")
	l, _, err := Open(ws, shared(1e6), machine)
	must(t, err)
	s := l.State()
	have := map[string]int{}
	cost, unknown := 0.0, 0
	for _, u := range lines(t, ws) {
		have[u.CallID]++
		if u.CostUSD != nil {
			cost += *u.CostUSD
		} else {
			unknown++
		}
	}
	f, err := os.Open(filepath.Join(ws.Root(), "sent"))
	must(t, err)
	defer f.Close()
	sent := 0
	for sc := bufio.NewScanner(f); sc.Scan(); {
		sent++
		if have[sc.Text()] != 1 {
			t.Errorf("call %s is in the ledger %d times", sc.Text(), have[sc.Text()])
		}
	}
	if sent == 0 || s.Budgets.BuilderCalls != len(have) || s.Budgets.EstimatedCostUSD != cost || s.Budgets.UnknownCostCalls != unknown || len(s.Pending) != 0 {
		t.Errorf("%d sent, %d in usage.jsonl ($%v, %d unknown), STATE says %+v", sent, len(have), cost, unknown, s.Budgets)
	}
	book, err := openAccount(machine).read()
	must(t, err)
	if sum := accounted(book, "p"); len(book.Pending) != 0 || sum.Calls != len(have) || sum.UnknownCalls != unknown || sum.CostUSD == nil || math.Abs(*sum.CostUSD-cost) > 1e-9 {
		t.Errorf("the machine's account says %+v, %d pending; usage.jsonl %d calls, $%v", sum, len(book.Pending), len(have), cost)
	}
}
