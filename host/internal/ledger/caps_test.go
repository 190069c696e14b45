package ledger

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/judge"
)

// spending has no cap of a milestone that could come first.
func spending(change func(*config.Budgets)) config.Budgets {
	b := caps(1e6, 0)
	b.AlertAtFraction = 0.5
	change(&b)
	return b
}

func shared(calls int) config.Budgets {
	return spending(func(b *config.Budgets) { b.Shared, b.PerDay.MaxCalls = true, calls })
}

func openOn(t testing.TB, ws *workspace.Workspace, b config.Budgets, machine string) *Ledger {
	t.Helper()
	l, _, err := Open(ws, b, machine)
	must(t, err)
	return l
}

func call(id, provider string, max float64) Call {
	return Call{ID: id, RunID: "run", Role: RoleBuilder, Provider: provider, MaxUSD: max}
}

// spentCall makes a call that costs that much.
func spentCall(t *testing.T, l *Ledger, c Call, usd float64, tokens int64) {
	t.Helper()
	r, err := l.Reserve(c)
	must(t, err)
	must(t, r.Settle(Usage{CostUSD: &usd, InputTokens: &tokens, OutputTokens: ptr(int64(0))}))
}

// Each kind of window, with each kind of cap: used up, and too little left.
func TestCapsOfRunCycleDayAndProvider(t *testing.T) {
	for name, set := range map[string]func(*config.Budgets, config.Caps){
		"budgets.per_run":                func(b *config.Budgets, c config.Caps) { b.PerRun = c },
		"budgets.per_cycle":              func(b *config.Budgets, c config.Caps) { b.PerCycle = c },
		"budgets.per_day":                func(b *config.Budgets, c config.Caps) { b.PerDay = c },
		"budgets.per_provider.anthropic": func(b *config.Budgets, c config.Caps) { b.PerProvider = map[string]config.Caps{"anthropic": c} },
	} {
		for _, c := range []struct {
			caps config.Caps
			max  float64 // of the next call
			want judge.Code
			say  string
		}{
			{config.Caps{MaxCostUSD: 3}, 1, "", ""},
			{config.Caps{MaxCostUSD: 2}, 1, judge.BlockedBudgetCap, "$2.00 of $2.00"},
			{config.Caps{MaxCostUSD: 2.5}, 1, judge.BlockedBudgetExhausted, "it can need $1.00"},
			{config.Caps{MaxCostUSD: 9}, 0, judge.BlockedBudgetExhausted, "nothing limits"},
			{config.Caps{MaxCalls: 2}, 1, judge.BlockedBudgetCap, "2 of 2"},
			{config.Caps{MaxCalls: 3}, 0, "", ""},
			{config.Caps{MaxTokens: 200}, 0, judge.BlockedBudgetCap, "200 of 200"},
			{config.Caps{MaxTokens: 201}, 0, "", ""},
		} {
			ws := newWS(t)
			l := open(t, ws, caps(1e6, 0))
			for i := range 2 {
				spentCall(t, l, Call{ID: fmt.Sprint(i), RunID: "run", CycleID: "cycle", Provider: "claude", MaxUSD: 2}, 1, 100)
			}
			l = open(t, ws, spending(func(b *config.Budgets) { set(b, c.caps) }))
			r, err := l.Reserve(Call{ID: "next", RunID: "run", CycleID: "cycle", Provider: "claude", MaxUSD: c.max})
			if c.want == "" {
				must(t, err)
				must(t, r.Cancel())
				continue
			}
			wantCode(t, err, c.want, c.say)
			f, _ := diag.As(err)
			if c.max != 0 && !strings.Contains(f.Fix, "--set "+name+".max_") {
				t.Errorf("%s: the fix is %s", name, f.Fix)
			}
			if len(l.State().Pending) > 0 || l.State().Budgets.BuilderCalls > 0 {
				t.Errorf("%s: a refused call was counted", name)
			}
			// Calls of another run, cycle and provider are none of this window's business.
			if name != "budgets.per_day" {
				if _, err := l.Reserve(Call{ID: "other", RunID: "other", CycleID: "other", Provider: "codex", MaxUSD: 1}); err != nil {
					t.Errorf("%s: another one is refused: %v", name, err)
				}
			}
		}
	}
}

// Calls under way count with what they may cost, and calls of unknown cost with what
// they were allowed.
func TestDayCountsReservedAndUnknown(t *testing.T) {
	l := open(t, newWS(t), spending(func(b *config.Budgets) { b.PerDay.MaxCostUSD = 10 }))
	r, err := l.Reserve(call("a", "claude", 4))
	must(t, err)
	b, err := l.Reserve(call("b", "claude", 4))
	must(t, err)
	_, err = l.Reserve(call("c", "claude", 4))
	wantCode(t, err, judge.BlockedBudgetExhausted, "$8.00 of $10.00")
	must(t, r.Settle(Usage{}))
	must(t, b.Settle(Usage{CostUSD: ptr(1.5)}))
	_, err = l.Reserve(call("c", "claude", 5))
	wantCode(t, err, judge.BlockedBudgetExhausted, "$5.50 of $10.00", "unknown cost")
	if a := l.Alerts(); len(a) != 1 || !strings.Contains(a[0], "dollars, today: $5.50 of $10.00 used (55 %)") || !strings.Contains(a[0], "unknown cost") {
		t.Errorf("alerts: %q", a)
	}
	if l.State().BudgetWarning {
		t.Error("an alert ends the loop as a warning would")
	}
	wantCode(t, l.Check(Worst{Needs: []Need{{"claude", 1, 5, false}}}), judge.BlockedBudgetExhausted)
	must(t, l.Check(Worst{Needs: []Need{{"claude", 1, 4, false}}}))
}

// accounted is what a provider has used in a book, whatever the time.
func accounted(b *accountBook, provider string) (sum Sum) {
	for _, q := range b.Quarters {
		sum.Merge(q.Spent[provider])
	}
	return sum
}

// Two repositories that share their days see each other; one that does not is alone.
func TestSharedDay(t *testing.T) {
	machine := t.TempDir()
	first, second, alone := newWS(t), newWS(t), newWS(t)
	a := openOn(t, first, shared(2), machine)
	r, err := a.Reserve(call("1", "claude", 0))
	must(t, err)
	b := openOn(t, second, shared(2), machine)
	spentCall(t, b, call("1", "codex", 1), 0.5, 10)
	_, err = b.Reserve(call("2", "codex", 1))
	wantCode(t, err, judge.BlockedBudgetCap, "in all repositories of this machine")
	must(t, r.Cancel())
	spentCall(t, b, call("3", "claude", 1), 0.5, 10)
	_, err = openOn(t, first, shared(2), machine).Reserve(call("4", "claude", 1))
	wantCode(t, err, judge.BlockedBudgetCap, "2 of 2")
	own := shared(2)
	own.Shared = false
	spentCall(t, openOn(t, alone, own, machine), call("1", "claude", 1), 1, 1)
}

// A crash at each moment between the machine's account and the workspace leaves a call
// in both or in neither, once.
func TestCrashBetweenAccountAndWorkspace(t *testing.T) {
	machine, ws := t.TempDir(), newWS(t)
	acct := openAccount(machine)
	files := []string{ws.State(), ws.Usage(), acct.Path}
	save := func() (all [][]byte) {
		for _, f := range files {
			b, _ := os.ReadFile(f)
			all = append(all, b)
		}
		return all
	}
	l := openOn(t, ws, shared(99), machine)
	spentCall(t, l, call("before", "p", 2), 1, 1)
	base := save()
	r, err := l.Reserve(call("c", "p", 2))
	must(t, err)
	reserved := save()
	must(t, r.Settle(Usage{CostUSD: ptr(1.0)}))
	settled := save()
	for name, now := range map[string][3][]byte{
		"only the account knows of it":                  {base[0], base[1], reserved[2]},
		"during the call":                               {reserved[0], reserved[1], reserved[2]},
		"its line is written":                           {reserved[0], settled[1], reserved[2]},
		"the workspace has settled it, the account not": {settled[0], settled[1], reserved[2]},
		"all is settled":                                {settled[0], settled[1], settled[2]},
	} {
		for i, f := range files {
			must(t, os.WriteFile(f, now[i], 0o600))
		}
		for range 2 { // a second start finds nothing more to do
			s := openOn(t, ws, shared(99), machine).State()
			book, err := acct.read()
			must(t, err)
			sum, calls := accounted(book, "p"), len(lines(t, ws))
			if len(book.Pending) != 0 || len(s.Pending) != 0 || sum.Calls != calls || s.Budgets.BuilderCalls != calls || s.Budgets.UnknownCostCalls != sum.UnknownCalls {
				t.Errorf("%s: account %+v with %d pending, state %+v, %d lines", name, sum, len(book.Pending), s.Budgets, calls)
			}
		}
	}
}

// What was yesterday's is not today's; a call of a repository that is gone is
// forgotten after a day.
func TestNewDay(t *testing.T) {
	b := &accountBook{Quarters: []quarter{{time.Now().Add(-49 * time.Hour), map[string]Sum{"p": {Calls: 9}}}},
		Pending: []accountCall{{CallID: "new", Provider: "p", At: time.Now()}, {CallID: "old", Provider: "p", At: time.Now().Add(-25 * time.Hour)}}}
	b.turn(time.Now())
	if s := b.sums(time.Now())["p"]; s.Calls != 1 || len(b.Quarters) != 0 || len(b.Pending) != 1 || b.Pending[0].CallID != "new" {
		t.Errorf("%+v", b)
	}
}

// A process that lives in another time zone counts another day, and leaves this one's
// calls alone; so does a clock that is set back over midnight and put right again.
func TestDaysOfTwoZones(t *testing.T) {
	here := time.Local
	t.Cleanup(func() { time.Local = here })
	noon := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	at := func(offset time.Duration) time.Time { return noon.Add(offset) }
	b := &accountBook{}
	for _, offset := range []time.Duration{-13 * time.Hour, -11*time.Hour - 50*time.Minute, -time.Hour, 0, 0} {
		b.turn(at(offset))
		b.add(Line{At: at(offset), Provider: "p"})
	}
	for _, c := range []struct {
		zone  int // minutes east of Greenwich
		at    time.Duration
		calls int
	}{
		{0, 0, 4}, {13 * 60, 0, 3}, {-60, 0, 3}, {-7 * 60, 0, 3}, {5*60 + 45, 0, 5},
		{0, -24 * time.Hour, 5}, {0, 0, 4}, {0, 12 * time.Hour, 0},
	} {
		time.Local = time.FixedZone("there", c.zone*60)
		b.turn(at(c.at))
		if s := b.sums(at(c.at))["p"]; s.Calls != c.calls {
			t.Errorf("%+v: %d calls", c, s.Calls)
		}
	}
}

func TestAccountThatCantBeRead(t *testing.T) {
	machine := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(machine, "spend"), 0o700))
	must(t, os.WriteFile(filepath.Join(machine, "spend", "account.json"), []byte("{"), 0o600))
	_, _, err := Open(newWS(t), shared(9), machine)
	wantCode(t, err, judge.BlockedCrashRecovery, "account.json.damaged")
	must(t, os.WriteFile(filepath.Join(machine, "spend", "account.json"), []byte(`{"schema_version": 3}`), 0o600))
	_, _, err = Open(newWS(t), shared(9), machine)
	wantCode(t, err, judge.BlockedCrashRecovery, "a newer relay")
}

// UsagesSince gives what a filter over the whole file gives.
func TestUsagesSince(t *testing.T) {
	ws := newWS(t)
	start := now().Add(-1000 * time.Minute)
	var b strings.Builder
	for i := range 1000 {
		if i%100 == 50 {
			b.WriteString(`{"at":"2026-01-03T10:00:00Z","call_` + "\n")
		}
		fmt.Fprintf(&b, `{"call_id":"%d","run_id":"%s","at":%q}`+"\n", i, strings.Repeat("x", 300), start.Add(time.Duration(i)*time.Minute).Format(time.RFC3339Nano))
	}
	must(t, os.WriteFile(ws.Usage(), []byte(b.String()), 0o644))
	for _, n := range []int{0, 1, 3, 499, 500, 940, 999, 1000} {
		got := 0
		must(t, UsagesSince(ws, start.Add(time.Duration(n)*time.Minute), func(Line) error { got++; return nil }))
		if got != 1000-n {
			t.Errorf("since line %d: %d lines", n, got)
		}
	}
}
