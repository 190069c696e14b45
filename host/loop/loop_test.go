package loop

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/host/internal/history"
	"github.com/paxiom/relay/host/internal/ledger"
	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/host/tick"
	"github.com/paxiom/relay/judge"
)

func newWorkspace(t *testing.T) *workspace.Workspace {
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

// call writes one settled call into the ledger.
func call(t *testing.T, ws *workspace.Workspace, id string, max float64, usd *float64) {
	t.Helper()
	book, _, err := ledger.Open(ws, config.Budgets{PerMilestone: config.PerMilestone{MaxOrchestratorCalls: 99, MaxBuilderCalls: 99}}, "")
	if err != nil {
		t.Fatal(err)
	}
	res, err := book.Reserve(ledger.Call{ID: id, RunID: "r", Role: ledger.RoleBuilder, Provider: "p", MaxUSD: max})
	if err == nil {
		err = res.Settle(ledger.Usage{CostUSD: usd})
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestSpendKeepsUnknownApart(t *testing.T) {
	ws := newWorkspace(t)
	begin := func() *Loop {
		at, err := ledger.Mark(ws)
		if err != nil {
			t.Fatal(err)
		}
		// The clock was set back since it began: its calls are older than it.
		return &Loop{ws: ws, begun: time.Now().Add(time.Hour), o: Options{UsageAt: at}}
	}
	l := begin()
	s, err := l.spent()
	if err != nil || s.CostUSD != nil || s.Calls != 0 {
		t.Fatalf("%+v, %v", s, err)
	}
	usd := 0.25
	call(t, ws, "a", 1, nil)
	if s, _ = l.spent(); s.CostUSD != nil || s.UnknownCalls != 1 || s.Most() != 1 {
		t.Errorf("one unknown call: %+v", s)
	}
	call(t, ws, "b", 1, &usd)
	if s, _ = l.spent(); s.CostUSD == nil || *s.CostUSD != usd || s.Most() != 1.25 || s.Calls != 2 {
		t.Errorf("with a known one: %+v", s)
	}
	if s, _ = begin().spent(); s.Calls != 0 {
		t.Errorf("calls before the loop are counted: %+v", s)
	}
}

// A call that nothing bounds and nobody can price makes a limit of dollars a lie.
func TestUnboundedUnknownCallEndsALimitedLoop(t *testing.T) {
	ws := newWorkspace(t)
	cfg := &config.Config{}
	l := &Loop{env: &tick.Env{Loaded: &config.Loaded{Config: cfg}}, ws: ws, begun: time.Now().Add(-time.Second), o: Options{MaxCostUSD: 100}}
	if reason, why, err := l.before(1); reason != CostReached || !strings.Contains(why, "nothing limits") || err != nil {
		t.Error("before a call that nothing would bound:", reason, why, err)
	}
	cfg.Orchestrator.MaxBudgetUSD, cfg.Builder.ClaudeCode.MaxBudgetUSD = 1, 1
	if reason, why, err := l.before(1); reason != "" || err != nil {
		t.Fatal(reason, why, err)
	}
	call(t, ws, "a", 0, nil)
	if reason, why, err := l.before(2); reason != CostReached || err != nil {
		t.Fatal(reason, why, err)
	}
}

// In mode milestone a loop ends at a change: against its own last tick, also when a crash
// came after the new one was on record, and against what was there before its first one.
func TestMilestoneChange(t *testing.T) {
	ws := newWorkspace(t)
	book, _, err := ledger.Open(ws, config.Budgets{}, "")
	if err == nil {
		_, err = book.EnsureMilestone("M2", false)
	}
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		ticks []Tick
		was   string // see tick.Outcome
		want  Reason
	}{
		"a fresh workspace, or a goal that was reached": {},
		"the same one":                   {was: "M2"},
		"one that was not reached":       {was: "M1", want: MilestoneChanged},
		"the last tick's":                {ticks: []Tick{{MilestoneID: "M1"}, {MilestoneID: "M2"}}, was: "M2"},
		"begun before a crash":           {ticks: []Tick{{MilestoneID: "M1"}}, was: "M2", want: MilestoneChanged},
		"reached by another run between": {ticks: []Tick{{MilestoneID: "M1"}}, want: MilestoneChanged},
	} {
		l := &Loop{ws: ws, o: Options{Mode: Milestone}, out: Outcome{Ticks: c.ticks}}
		got, _, err := l.after(&report.Report{Verdict: judge.OutcomeSuccess}, c.was)
		if got != c.want || err != nil {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// A tick that had ended when its loop was killed is found by its key, not made again.
func TestFinishedTickIsFoundAgain(t *testing.T) {
	ws := newWorkspace(t)
	hist := history.Open(ws.History())
	rep := &report.Report{SchemaVersion: 1, RunID: history.NewRunID(time.Now()), StartedAt: time.Now().UTC(), EndedAt: time.Now().UTC(),
		Verdict: judge.OutcomeSuccess, Code: judge.Success, Control: &report.Control{Action: "stop", Reason: "done"},
		Scope: report.Scope{OK: true, Violations: []string{}, TouchedPaths: []string{}}, Budgets: report.Budgets{Warnings: []string{}},
		Verification: report.Verification{ExecMode: "argv_no_shell", Runs: []report.VerifyRun{}}}
	raw, err := report.Encode(rep)
	if err != nil {
		t.Fatal(err)
	}
	run, err := hist.Begin(history.Meta{RunID: rep.RunID, Workflow: "tick", StartedAt: rep.StartedAt, Key: "k1"})
	if err != nil {
		t.Fatal(err)
	}
	env := &tick.Env{Root: ws.Root(), Loaded: &config.Loaded{Config: &config.Config{WorkspaceDir: ws.Rel()}}}
	l := &Loop{env: env, id: "loop", ws: ws, o: Options{Mode: Autonomous}}
	if _, ok := l.found(t.Context(), 3, "k1"); ok {
		t.Fatal("a tick that was cut off is taken for finished")
	}
	if err := run.Write("report.json", raw); err != nil {
		t.Fatal(err)
	}
	if err := run.End(history.Meta{RunID: rep.RunID, Workflow: "tick", StartedAt: rep.StartedAt, Code: judge.Success, Key: "k1"}); err != nil {
		t.Fatal(err)
	}
	got, ok := l.found(t.Context(), 3, "k1")
	if !ok || got.N != 3 || got.RunID != rep.RunID || got.Stop != ControlStop || got.Why != "done" {
		t.Errorf("%+v, %v", got, ok)
	}
	if _, ok := l.found(t.Context(), 3, "k2"); ok {
		t.Error("another step's tick is taken for ours")
	}
}

func TestNoLoopMakesNoFolder(t *testing.T) {
	ws := newWorkspace(t)
	if s, err := Last(ws); s != nil || err != nil {
		t.Fatal(s, err)
	}
	if _, err := os.Lstat(Dir(ws)); err == nil {
		t.Error("looking makes a folder")
	}
}
