package ledger

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/schemas"
)

const roleEnv = "RELAY_TEST_LEDGER_ROLE"

func TestMain(m *testing.M) {
	if os.Getenv(roleEnv) != "" {
		spend(os.Args[1])
	}
	os.Exit(m.Run())
}

func ptr[T any](v T) *T { return &v }

func caps(n int, usd float64) config.Budgets {
	return config.Budgets{PerMilestone: config.PerMilestone{MaxTicks: n, MaxOrchestratorCalls: n, MaxBuilderCalls: n, MaxVerifyRuns: n, MaxEstimatedCostUSD: usd}, WarnAtFraction: 0.8}
}

func newWS(t testing.TB) *workspace.Workspace {
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

func open(t testing.TB, ws *workspace.Workspace, b config.Budgets) *Ledger {
	t.Helper()
	l, _, err := Open(ws, b, "")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantCode(t *testing.T, err error, code judge.Code, contains ...string) {
	t.Helper()
	f, ok := diag.As(err)
	if !ok || f.Code != code || f.What == "" || f.Why == "" || !strings.HasPrefix(f.Fix, "`") {
		t.Fatalf("got %v, want a whole fault with %q", err, code)
	}
	for _, c := range contains {
		if !strings.Contains(f.Error(), c) {
			t.Errorf("%q does not say %q", f.Error(), c)
		}
	}
}

func reserve(t *testing.T, l *Ledger, id, role string, maxUSD float64) *Reservation {
	t.Helper()
	r, err := l.Reserve(Call{ID: id, RunID: "run", Role: role, Provider: "claude", Model: "claude-haiku-4-5", MaxUSD: maxUSD})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func lines(t *testing.T, ws *workspace.Workspace) []Line {
	t.Helper()
	var out []Line
	must(t, Usages(ws, func(u Line) error { out = append(out, u); return nil }))
	return out
}

func TestTickOnDisk(t *testing.T) {
	ws := newWS(t)
	if s, err := Read(ws); err != nil || s.MilestoneID != nil || s.Budgets != (Counters{}) {
		t.Fatalf("%+v %v", s, err)
	}
	l := open(t, ws, caps(10, 0))
	must(t, l.Tick("run-1"))
	r := reserve(t, l, "c1", RoleOrchestrator, 0)
	must(t, r.Settle(Usage{InputTokens: ptr(int64(1000)), OutputTokens: ptr(int64(100)), CacheReadTokens: ptr(int64(10)), Outcome: "ok"}))
	must(t, r.Settle(Usage{})) // once is enough
	if changed, err := l.EnsureMilestone("m1", false); !changed || err != nil {
		t.Error(changed, err)
	}
	if changed, _ := l.EnsureMilestone("m1", false); changed {
		t.Error("the same milestone is no change")
	}
	r = reserve(t, l, "c2", RoleBuilder, 0)
	must(t, r.Settle(Usage{CostUSD: ptr(0.25), Model: "real-model"}))
	must(t, l.Verify(2))
	must(t, l.PatchAttempt(5))
	must(t, l.Finish("run-1", judge.StopVerifyFailedFast, nil))

	again := open(t, ws, caps(10, 0)).State()
	want := Counters{Ticks: 1, OrchestratorCalls: 1, BuilderCalls: 1, VerifyRuns: 2, PatchAttempts: 1, EstimatedCostUSD: 0.25 + 0.001 + 0.0005 + 0.000001}
	if math.Abs(again.Budgets.EstimatedCostUSD-want.EstimatedCostUSD) > 1e-9 {
		t.Errorf("cost %v, want %v", again.Budgets.EstimatedCostUSD, want.EstimatedCostUSD)
	}
	want.EstimatedCostUSD = again.Budgets.EstimatedCostUSD
	if again.Budgets != want || *again.MilestoneID != "m1" || *again.LastRunID != "run-1" || *again.LastVerdict != judge.OutcomeStop || again.LastCode != "STOP_VERIFY_FAILED_FAST" {
		t.Errorf("%+v", again)
	}
	u := lines(t, ws)
	if len(u) != 2 || u[0].CostBasis != BasisTable || u[0].PricesAsOf == "" || u[0].MilestoneID != "" || u[1].CostBasis != BasisReported || u[1].Model != "real-model" || u[1].InputTokens != nil || u[1].MilestoneID != "m1" {
		t.Errorf("%+v", u)
	}
	b, _ := os.ReadFile(ws.State())
	if err := schemas.Validate(schemas.State, b); err != nil {
		t.Error(err)
	}
}

func TestCheck(t *testing.T) {
	w := Worst{OrchestratorCalls: 2, BuilderCalls: 1, VerifyRuns: 4, CostUSD: 2}
	for name, c := range map[string]struct {
		used Counters
		cap  int
		usd  float64
		want judge.Code
		say  string
	}{
		"fresh":            {Counters{}, 10, 0, "", ""},
		"ticks at cap":     {Counters{Ticks: 10}, 10, 0, judge.BlockedBudgetCap, "ticks 10 of 10"},
		"over the cap":     {Counters{BuilderCalls: 12}, 10, 0, judge.BlockedBudgetCap, "builder calls 12 of 10"},
		"no retry left":    {Counters{OrchestratorCalls: 9}, 10, 0, judge.BlockedBudgetExhausted, "orchestrator calls 9 of 10, and a tick can need 2"},
		"just enough":      {Counters{OrchestratorCalls: 8, BuilderCalls: 9, VerifyRuns: 6, Ticks: 9}, 10, 0, "", ""},
		"checks":           {Counters{VerifyRuns: 7}, 10, 0, judge.BlockedBudgetExhausted, "verification runs"},
		"cap first":        {Counters{Ticks: 10, VerifyRuns: 9}, 10, 0, judge.BlockedBudgetCap, "ticks"},
		"dollars":          {Counters{EstimatedCostUSD: 5}, 10, 5, judge.BlockedBudgetCap, "$5.00 of $5.00"},
		"few dollars":      {Counters{EstimatedCostUSD: 3.5}, 10, 5, judge.BlockedBudgetExhausted, "$2.00"},
		"enough dollars":   {Counters{EstimatedCostUSD: 3}, 10, 5, "", ""},
		"unknown dollars":  {Counters{EstimatedCostUSD: 1, UnknownCostCalls: 3, UnknownMaxUSD: 9, UnknownGuessUSD: 4}, 10, 5, judge.BlockedBudgetCap, "cost"},
		"allowed dollars":  {Counters{EstimatedCostUSD: 1, UnknownCostCalls: 30, UnknownMaxUSD: 45}, 10, 5, "", ""},
		"no cap in dollar": {Counters{EstimatedCostUSD: 1e6}, 10, 0, "", ""},
	} {
		ws := newWS(t)
		must(t, writeState(ws, &State{Budgets: c.used}))
		err := open(t, ws, caps(c.cap, c.usd)).Check(w)
		if c.want == "" {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		wantCode(t, err, c.want, c.say)
	}
}

func TestCapsHoldWhileItRuns(t *testing.T) {
	ws := newWS(t)
	l := open(t, ws, caps(2, 3))
	for i := range 2 {
		must(t, reserve(t, l, fmt.Sprint("o", i), RoleOrchestrator, 0.5).Settle(Usage{CostUSD: ptr(0.5)}))
	}
	_, err := l.Reserve(Call{ID: "o2", Role: RoleOrchestrator})
	wantCode(t, err, judge.BlockedBudgetCap, "orchestrator calls")
	// $1 is used; a second reservation is counted with the first one's maximum
	a := reserve(t, l, "b0", RoleBuilder, 1.5)
	_, err = l.Reserve(Call{ID: "b1", Role: RoleBuilder, MaxUSD: 1})
	wantCode(t, err, judge.BlockedBudgetExhausted, "$2.50 of $3.00")
	must(t, a.Cancel())
	must(t, a.Cancel())
	must(t, a.Settle(Usage{CostUSD: ptr(99.0)}))
	if s := l.State(); s.Budgets.BuilderCalls != 0 || len(s.Pending) != 0 || s.Budgets.EstimatedCostUSD != 1 {
		t.Errorf("after a cancel: %+v", s)
	}
	// a call of unknown cost counts as much as the provider's other calls cost
	must(t, reserve(t, l, "b2", RoleBuilder, 1.9).Settle(Usage{}))
	if s := l.State().Budgets; s.UnknownCostCalls != 1 || s.UnknownMaxUSD != 1.9 || s.UnknownGuessUSD != 0.5 || s.EstimatedCostUSD != 1 {
		t.Errorf("%+v", s)
	}
	must(t, reserve(t, l, "y", "auditor", 1.4).Settle(Usage{CostUSD: ptr(1.4)}))
	_, err = l.Reserve(Call{ID: "x", Role: "auditor", MaxUSD: 0.2})
	wantCode(t, err, judge.BlockedBudgetExhausted)
	if _, err := l.Reserve(Call{ID: "", Role: RoleBuilder}); err == nil {
		t.Error("a call without an id")
	}
	r := reserve(t, l, "b3", RoleBuilder, 0)
	if _, err := l.Reserve(Call{ID: "b3", Role: "auditor"}); err == nil {
		t.Error("the same call twice")
	}
	must(t, r.Settle(Usage{CostUSD: ptr(math.NaN()), Outcome: "failed"}))
	must(t, l.Verify(2))
	wantCode(t, l.Verify(1), judge.BlockedBudgetExhausted, "verification")
	if l.State().Budgets.VerifyRuns != 2 {
		t.Error("a refused check was counted")
	}
	must(t, l.PatchAttempt(1))
	wantCode(t, l.PatchAttempt(1), judge.BlockedBudgetCap, "patch")
	must(t, l.PatchAttempt(0))
}

func TestCost(t *testing.T) {
	n := func(v int64) *int64 { return &v }
	for name, c := range map[string]struct {
		model string
		u     Usage
		want  float64 // negative: unknown
	}{
		"plain":              {"claude-opus-4-5", Usage{InputTokens: n(1e6), OutputTokens: n(1e6)}, 30},
		"dated":              {"claude-sonnet-4-5-20250929", Usage{InputTokens: n(1e6), OutputTokens: n(0)}, 3},
		"long context name":  {"claude-sonnet-5-5[1m]", Usage{InputTokens: n(1e6), OutputTokens: n(0)}, 2},
		"with prefix":        {"anthropic/Claude-Haiku-4-5", Usage{InputTokens: n(1e6), OutputTokens: n(0)}, 1},
		"cache":              {"claude-opus-4-5", Usage{InputTokens: n(0), OutputTokens: n(0), CacheReadTokens: n(1e6), CacheWriteTokens: n(1e6)}, 6.75},
		"short prompt":       {"gemini-2.5-pro", Usage{InputTokens: n(200_000), OutputTokens: n(0)}, 0.25},
		"long prompt":        {"gemini-2.5-pro", Usage{InputTokens: n(400_000), OutputTokens: n(1e6)}, 16},
		"long by cache":      {"gpt-6-sol", Usage{InputTokens: n(1000), OutputTokens: n(0), CacheReadTokens: n(1e6)}, 0.404},
		"long, not known":    {"gpt-5.6-luna", Usage{InputTokens: n(300_000), OutputTokens: n(0)}, -1},
		"alias":              {"opus", Usage{InputTokens: n(1), OutputTokens: n(1)}, -1},
		"newer":              {"claude-opus-9", Usage{InputTokens: n(1), OutputTokens: n(1)}, -1},
		"nothing reported":   {"claude-opus-4-5", Usage{}, -1},
		"no output reported": {"claude-opus-4-5", Usage{InputTokens: n(5)}, -1},
		"cache without rate": {"gpt-5.4", Usage{InputTokens: n(5), OutputTokens: n(5), CacheWriteTokens: n(5)}, -1},
		"negative":           {"claude-opus-4-5", Usage{InputTokens: n(-5), OutputTokens: n(5)}, -1},
		"no tokens at all":   {"claude-opus-4-5", Usage{InputTokens: n(0), OutputTokens: n(0)}, 0},
		"no model":           {"", Usage{InputTokens: n(5), OutputTokens: n(5)}, -1},
	} {
		got := Price(c.model, c.u)
		if c.want < 0 {
			if got != nil {
				t.Errorf("%s: %v, want unknown", name, *got)
			}
		} else if got == nil || math.Abs(*got-c.want) > 1e-9 {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	if _, err := time.Parse(time.DateOnly, PricesAsOf()); err != nil {
		t.Error(err)
	}
	seen := map[string]bool{}
	for _, m := range prices().Models {
		if seen[m.Name] || m.Input == nil || m.Output == nil || *m.Output < *m.Input || dated.MatchString(m.Name) {
			t.Errorf("%+v", m)
		}
		seen[m.Name] = true
	}
}

func TestMilestones(t *testing.T) {
	ws := newWS(t)
	l := open(t, ws, caps(10, 0))
	// the first tick of a fresh workspace counts, whatever milestone it turns out to be
	must(t, l.Tick("r1"))
	must(t, reserve(t, l, "1", RoleOrchestrator, 0).Settle(Usage{CostUSD: ptr(1.0)}))
	if _, err := l.EnsureMilestone("a", false); err != nil {
		t.Fatal(err)
	}
	if b := l.State().Budgets; b.Ticks != 1 || b.OrchestratorCalls != 1 {
		t.Errorf("%+v", b)
	}
	// the tick that names another milestone is that one's
	must(t, l.Tick("r2"))
	must(t, reserve(t, l, "2", RoleOrchestrator, 0).Settle(Usage{CostUSD: ptr(2.0)}))
	if _, err := l.EnsureMilestone("b", false); err != nil {
		t.Fatal(err)
	}
	if b := l.State().Budgets; b.Ticks != 1 || b.OrchestratorCalls != 1 || b.EstimatedCostUSD != 2 {
		t.Errorf("b: %+v", b)
	}
	// and back: the first one continues where it was
	l = open(t, ws, caps(10, 0))
	must(t, l.Tick("r3"))
	if _, err := l.EnsureMilestone("a", false); err != nil {
		t.Fatal(err)
	}
	if b := l.State().Budgets; b.Ticks != 2 || b.OrchestratorCalls != 1 || b.EstimatedCostUSD != 1 {
		t.Errorf("a again: %+v", b)
	}
	// its goal is reached, until something is proposed for it or another one begins
	for _, c := range []struct {
		id      string
		reached bool
	}{{"a", true}, {"a", false}, {"a", true}, {"b", false}, {"c", true}} {
		if _, err := l.EnsureMilestone(c.id, c.reached); err != nil || l.State().MilestoneReached != c.reached {
			t.Errorf("%+v: %+v, %v", c, l.State(), err)
		}
		if st, err := Read(ws); err != nil || st.MilestoneReached != c.reached {
			t.Errorf("%+v on disk: %+v, %v", c, st, err)
		}
	}
	for _, bad := range []string{"", strings.Repeat("x", 81), "\xff"} {
		if _, err := l.EnsureMilestone(bad, false); err == nil {
			t.Errorf("%q is a milestone", bad)
		}
	}
}

func TestWarnings(t *testing.T) {
	ws := newWS(t)
	l := open(t, ws, caps(10, 10))
	for i := range 7 {
		must(t, l.Tick(fmt.Sprint(i)))
	}
	if l.State().BudgetWarning || len(l.Warnings()) != 0 {
		t.Error("a warning at 7 of 10")
	}
	must(t, l.Tick("7"))
	if !l.State().BudgetWarning || !reflect.DeepEqual(l.Warnings(), []string{"ticks: 8 of 10 used"}) || !strings.Contains(l.Summary(), "BUDGET CRITICAL") || !strings.Contains(l.Summary(), "ticks: 8 of 10 used, 2 left") {
		t.Errorf("%v %q\n%s", l.State().BudgetWarning, l.Warnings(), l.Summary())
	}
	must(t, reserve(t, l, "x", "auditor", 8.5).Settle(Usage{}))
	if w := l.Warnings(); len(w) != 2 || !strings.Contains(w[1], "$8.50 of $10.00") || !strings.Contains(w[1], "an estimate for 1 call of unknown cost") {
		t.Errorf("%q", w)
	}
}

func TestWorstCase(t *testing.T) {
	c := config.Default()
	if w := WorstCase(c, 0); !reflect.DeepEqual(w, Worst{2, 1, 0, 2*0.4 + 1.5, []Need{{"claude", 2, 0.8, false}, {"claude_code", 1, 1.5, false}}}) {
		t.Errorf("%+v", w)
	}
	c.Orchestrator.MaxParseRetriesPerTick = 0
	c.Verification.Templates = make([]config.Template, 4)
	if w := WorstCase(c, 0); !reflect.DeepEqual(w.Unasked(), Worst{0, 1, 8, 1.5, []Need{{"claude_code", 1, 1.5, false}}}) {
		t.Errorf("%+v", w)
	}
	c.Verification.Templates = make([]config.Template, 40)
	if w := WorstCase(c, 0); w.VerifyRuns != 32 {
		t.Errorf("%+v", w)
	}
	if w := WorstCase(c, 3); w.VerifyRuns != 3 {
		t.Errorf("%+v", w)
	}
	c.Verification.Baseline = true
	if w := WorstCase(c, 3); w.VerifyRuns != 15 {
		t.Errorf("%+v", w)
	}
}

func TestAnswers(t *testing.T) {
	l := open(t, newWS(t), caps(10, 0))
	must(t, l.Answer(Answer{RunID: "r", Prompt: strings.Repeat("é", 3000), Answer: "yes", At: time.Now()}))
	must(t, l.Answer(Answer{RunID: "r", Answer: "no"}))
	for _, bad := range []string{"", " \n", strings.Repeat("x", 8001), "\xff"} {
		wantCode(t, l.Answer(Answer{Answer: bad}), "")
	}
	must(t, l.DropAnswers(1))
	if a, err := l.TakeAnswers(); err != nil || len(a) != 1 || a[0].Answer != "no" {
		t.Errorf("%+v %v", a, err)
	}
	must(t, l.DropAnswers(5))
	for range 64 {
		must(t, l.Answer(Answer{Answer: "x"}))
	}
	wantCode(t, l.Answer(Answer{Answer: "x"}), "", "64")
}

func TestBadState(t *testing.T) {
	ws := newWS(t)
	must(t, writeState(ws, &State{}))
	good, _ := os.ReadFile(ws.State())
	for name, text := range map[string]string{
		"empty": "", "cut": string(good[:len(good)/2]), "list": "[]", "null": "null", "garbage": "\x00\x01",
		"negative":    strings.Replace(string(good), `"ticks": 0`, `"ticks": -900`, 1),
		"key twice":   strings.Replace(string(good), `"ticks": 0`, `"ticks": 5, "ticks": 0`, 1),
		"unknown key": strings.Replace(string(good), `"ticks"`, `"Ticks"`, 1),
		"bad time":    strings.Replace(string(good), `"updated_at": "`, `"updated_at": "x`, 1),
	} {
		must(t, os.WriteFile(ws.State(), []byte(text), 0o644))
		_, _, err := Open(ws, caps(1, 0), "")
		wantCode(t, err, judge.BlockedCrashRecovery, "STATE.json", "relay recover")
		if b, _ := os.ReadFile(ws.State()); string(b) != text {
			t.Errorf("%s: the file was changed", name)
		}
	}
	// seed 002's own state, without any of relay's fields
	must(t, os.WriteFile(ws.State(), []byte(`{"milestone_id":"m","budgets":{"ticks":3,"orchestrator_calls":1,"builder_calls":1,"verify_runs":0},"budget_warning":false,"last_run_id":null,"last_verdict":"stop"}`), 0o644))
	if s := open(t, ws, caps(10, 0)).State(); s.Budgets.Ticks != 3 || *s.MilestoneID != "m" {
		t.Errorf("%+v", s)
	}
	// a state that can't be written changes nothing in memory either
	l := open(t, ws, caps(10, 0))
	must(t, os.Remove(ws.State()))
	must(t, os.Mkdir(ws.State(), 0o755))
	if err := l.Tick("x"); err == nil || l.State().Budgets.Ticks != 3 {
		t.Errorf("%v %+v", err, l.State().Budgets)
	}
}

func TestRebuild(t *testing.T) {
	ws := newWS(t)
	l := open(t, ws, caps(100, 0))
	for i := range 3 {
		must(t, l.Tick(fmt.Sprint("r", i)))
		r, err := l.Reserve(Call{ID: fmt.Sprint("o", i), RunID: fmt.Sprint("r", i), Role: RoleOrchestrator, Provider: "p"})
		must(t, err)
		must(t, r.Settle(Usage{CostUSD: ptr(0.5)}))
		if i == 0 {
			_, err := l.EnsureMilestone("m", false)
			must(t, err)
		}
		r, err = l.Reserve(Call{ID: fmt.Sprint("b", i), RunID: fmt.Sprint("r", i), Role: RoleBuilder, Provider: "p"})
		must(t, err)
		must(t, r.Settle(Usage{}))
	}
	must(t, os.WriteFile(ws.State(), []byte("{"), 0o644))
	s, aside, err := Rebuild(ws, "m", Counters{VerifyRuns: 7, Ticks: 2})
	if err != nil || aside == "" {
		t.Fatal(aside, err)
	}
	if b, _ := os.ReadFile(aside); string(b) != "{" {
		t.Error("the broken file is gone")
	}
	want := Counters{Ticks: 3, OrchestratorCalls: 3, BuilderCalls: 3, VerifyRuns: 7, EstimatedCostUSD: 1.5, UnknownCostCalls: 3, UnknownGuessUSD: 1.5}
	if s.Budgets != want || *s.LastRunID != "r2" {
		t.Errorf("%+v", s)
	}
	if again := open(t, ws, caps(100, 0)).State(); again.Budgets != want || *again.MilestoneID != "m" {
		t.Errorf("%+v", again)
	}
	if s, _, err := Rebuild(ws, "", Counters{VerifyRuns: 7}); err != nil || s.Budgets != want || s.milestone() != "m" {
		t.Errorf("%+v %v", s, err)
	}
	empty := newWS(t)
	if s, aside, err := Rebuild(empty, "", Counters{}); err != nil || aside != "" || s.MilestoneID != nil {
		t.Errorf("%+v %q %v", s, aside, err)
	}
}

func TestUsageFile(t *testing.T) {
	ws := newWS(t)
	text := `{"call_id":"1","role":"builder","outcome":"ok"}` + "\n" + `{"call_id":"2","ro` + "\n\n[]\nnull\n" + strings.Repeat("x", 200_000) + "\n" + `{"call_id":"3"}` + "\n" + `{"call_id":"4"`
	must(t, os.WriteFile(ws.Usage(), []byte(text), 0o644))
	ids := ""
	must(t, Usages(ws, func(u Line) error { ids += u.CallID + u.Provider; return nil }))
	if ids != "13"+strings.Repeat(Unreadable, 4) {
		t.Errorf("%q", ids)
	}
	l := open(t, ws, caps(10, 0))
	must(t, reserve(t, l, "5", RoleBuilder, 0).Settle(Usage{}))
	ids = ""
	must(t, Usages(ws, func(u Line) error { ids += u.CallID; return nil }))
	if ids != "135" {
		t.Errorf("after a torn line: %q", ids)
	}
	stop := errors.New("stop")
	if err := Usages(ws, func(Line) error { return stop }); !errors.Is(err, stop) {
		t.Error(err)
	}
	must(t, os.Remove(ws.Usage()))
	must(t, os.Symlink("/etc/passwd", ws.Usage()))
	r := reserve(t, l, "6", RoleBuilder, 0)
	wantCode(t, r.Settle(Usage{}), judge.StopInterrupted, "symbolic link")
	if len(l.State().Pending) != 1 {
		t.Error("a call that could not be written down is settled")
	}
	if err := Usages(ws, func(Line) error { return nil }); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a link was followed: %v", err)
	}
}

// What a call of unknown cost counts: as much as such calls did cost, else what it was
// allowed, and nothing where nothing says that a model had a part in it.
func TestGuess(t *testing.T) {
	ws := newWS(t)
	l := open(t, ws, caps(100, 100))
	settle := func(id, role, provider string, u Usage) float64 {
		t.Helper()
		before := l.State().Budgets.Spent()
		r, err := l.Reserve(Call{ID: id, Role: role, Provider: provider, MaxUSD: 1.5})
		must(t, err)
		must(t, r.Settle(u))
		return l.State().Budgets.Spent() - before
	}
	for _, c := range []struct {
		id, role, provider string
		usage              Usage
		want               float64
	}{
		{"driver", RoleBuilder, "external", Usage{}, 0},
		{"driver that was ended", RoleBuilder, "external", Usage{Outcome: "interrupted"}, 1.5},
		{"no price", RoleBuilder, "acp", Usage{InputTokens: ptr(int64(9)), OutputTokens: ptr(int64(9))}, 1.5},
		{"planner", RoleOrchestrator, "claude", Usage{}, 1.5},
		{"known", RoleOrchestrator, "claude", Usage{CostUSD: ptr(0.25)}, 0.25},
		{"like the known one", RoleOrchestrator, "claude", Usage{Outcome: "interrupted"}, 0.25},
		{"free", RoleBuilder, "patch", Usage{CostUSD: ptr(0.0)}, 0},
	} {
		if got := settle(c.id, c.role, c.provider, c.usage); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: $%v, want $%v", c.id, got, c.want)
		}
	}
	if n := l.State().Budgets.UnknownCostCalls; n != 5 {
		t.Errorf("%d calls of unknown cost", n)
	}
}
