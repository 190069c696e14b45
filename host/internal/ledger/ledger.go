package ledger

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/host/internal/coordinator"
	"github.com/paxiom/relay/host/internal/format"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/judge"
)

// Worst is the most that one tick can use.
type Worst struct {
	OrchestratorCalls int // 1 plus the parse retries
	BuilderCalls      int
	VerifyRuns        int
	CostUSD           float64
	Needs             []Need // the same calls by provider: the orchestrator's first
}

// Unasked is the worst case of a tick that asks no orchestrator.
func (w Worst) Unasked() Worst {
	w.OrchestratorCalls = 0
	if len(w.Needs) > 0 {
		w.CostUSD = Dollars(w.CostUSD - w.Needs[0].USD)
		w.Needs = w.Needs[1:]
	}
	return w
}

// maxChecks is how many checks a task can ask for: 16 fast and 16 slow ones.
const maxChecks = 32

// runsWithBase is how often a check can run in one tick with verification.baseline:
// twice on the base and three times after the change.
const runsWithBase = 5

// WorstCase is what one tick of this configuration can use at most. checks is the
// most verification runs that a task can ask for; 0 takes what a task can ask for
// when each template is in both of its lists once.
func WorstCase(c *config.Config, checks int) Worst {
	if checks == 0 {
		checks = min(maxChecks, 2*len(c.Verification.Templates))
	}
	if c.Verification.Baseline {
		checks *= runsWithBase
	}
	calls := 1 + c.Orchestrator.MaxParseRetriesPerTick
	ask, build := c.Orchestrator.MaxBudgetUSD, c.Builder.ClaudeCode.MaxBudgetUSD
	return Worst{calls, 1, checks, Dollars(float64(calls)*ask + build), []Need{
		{c.Orchestrator.Provider, calls, float64(calls) * ask, ask == 0}, {c.Builder.DefaultMode, 1, build, build == 0}}}
}

// Ledger is the open ledger of one workspace. It is for one goroutine at a time;
// the caller holds the workspace's lock.
type Ledger struct {
	ws   *workspace.Workspace
	caps config.Budgets
	// prices are the operator's own; nil for the built-in ones.
	prices *priceTable
	acct   *account // of the machine; nil when the days are this workspace's own
	state  State
	run    string // the present one, once its tick is counted
	mark   int64  // where its calls begin
	// Again is the command that is to go over a cap; "" for relay run.
	Again string
	// tick is what the present tick has used; it moves along when the tick turns
	// out to belong to another milestone.
	tick Counters
	// unwritten: STATE.json lacks what usage.jsonl says of settled calls.
	unwritten bool
}

// Open reads STATE.json (absent: a fresh one) and settles the calls that a crash
// left pending: by their line in usage.jsonl when it was written, as unknown when
// not. recovered says how many the latter were. stateDir is relay's state on this machine,
// where repositories that share their days keep the common account.
func Open(ws *workspace.Workspace, b config.Budgets, stateDir string) (l *Ledger, recovered int, err error) {
	if l, err = Look(ws, b, stateDir); err != nil {
		return nil, 0, err
	}
	if len(l.state.Pending) > 0 {
		recovered, err = l.recover()
	}
	if err == nil && l.acct != nil {
		err = l.reconcile()
	}
	return l, recovered, err
}

// Look is Open for somebody who only reads and does not hold the workspace's lock:
// nothing is settled.
func Look(ws *workspace.Workspace, b config.Budgets, stateDir string) (*Ledger, error) {
	s, err := Read(ws)
	if err != nil {
		return nil, err
	}
	if _, err := openReservations(ws); err != nil {
		return nil, err
	}
	if err := usable(ws.Usage()); err != nil {
		return nil, err
	}
	own, err := ownPrices(b.PricesFile)
	if err != nil {
		return nil, err
	}
	l := &Ledger{ws: ws, caps: b, state: *s, prices: own}
	if l.caps.Shared = b.Shared || coordinator.Here() != ""; l.caps.Shared && l.dayCapped() {
		l.acct = openAccount(stateDir)
	}
	return l, nil
}

// day is what today's calls have used: this workspace's, or all that share.
func (l *Ledger) day() (map[string]Sum, error) {
	if l.acct != nil {
		return l.acct.day()
	}
	return l.today()
}

// State gives a copy of the present state.
func (l *Ledger) State() State { return l.state.copy() }

// change writes a changed state; when that fails, nothing has changed.
func (l *Ledger) change(do func(*State)) error {
	next := l.state.copy()
	do(&next)
	next.BudgetWarning = len(l.warnings(next.Budgets)) > 0
	if err := writeState(l.ws, &next); err != nil {
		return err
	}
	l.state, l.unwritten = next, false
	return nil
}

// Flush writes what settled calls came to. Every other change does so too; between them
// usage.jsonl has it, where Open looks after a crash.
func (l *Ledger) Flush() error {
	if !l.unwritten {
		return nil
	}
	return l.change(func(*State) {})
}

// count adds to the counters of the milestone and of the tick.
func (l *Ledger) count(d Counters, more func(*State)) error {
	err := l.change(func(s *State) {
		s.Budgets = s.Budgets.plus(d, 1)
		if more != nil {
			more(s)
		}
	})
	if err == nil {
		l.tick = l.tick.plus(d, 1)
	}
	return err
}

// line is one counter with its cap and what a tick can need of it.
type line struct {
	name      string
	used, cap int
	need      int
}

func (l *Ledger) lines(c Counters, w Worst) []line {
	m := l.caps.PerMilestone
	return []line{
		{"ticks", c.Ticks, m.MaxTicks, 1},
		{"orchestrator calls", c.OrchestratorCalls, m.MaxOrchestratorCalls, w.OrchestratorCalls},
		{"builder calls", c.BuilderCalls, m.MaxBuilderCalls, w.BuilderCalls},
		{"verification runs", c.VerifyRuns, m.MaxVerifyRuns, w.VerifyRuns},
	}
}

// Check refuses a tick: BLOCKED_BUDGET_CAP when a counter is at its cap,
// BLOCKED_BUDGET_EXHAUSTED when what is left does not cover w.
func (l *Ledger) Check(w Worst) error {
	if err := l.covers(l.state.milestone(), l.state.Budgets, w); err != nil {
		return err
	}
	return l.checkCaps(w.Needs)
}

// CheckFor is Check for a tick whose milestone is known, with what that one has used.
func (l *Ledger) CheckFor(milestone string, w Worst) error {
	if milestone == "" || milestone == l.state.milestone() {
		return l.Check(w)
	}
	used, err := l.archivedCounters(milestone)
	if err == nil {
		err = l.covers(milestone, used, w)
	}
	if err != nil {
		return err
	}
	return l.checkCaps(w.Needs)
}

// covers holds the worst case to what a milestone has used.
func (l *Ledger) covers(milestone string, c Counters, w Worst) error {
	full, short := l.lacks(c, w)
	fix := wayOn
	if fullAnew, shortAnew := l.lacks(Counters{}, w); len(fullAnew)+len(shortAnew) > 0 {
		fix = "`relay config show budgets --origin` says where budgets.per_milestone is set: its caps are too low for any tick"
	}
	if len(full) > 0 {
		return diag.New(judge.BlockedBudgetCap, "the budget of milestone "+quoted(milestone)+" is used up", strings.Join(full, "; "), fix)
	}
	if len(short) > 0 {
		return diag.New(judge.BlockedBudgetExhausted, "what is left of the budget of milestone "+quoted(milestone)+" does not cover one tick", strings.Join(short, "; "), fix)
	}
	return nil
}

// lacks says which caps are reached, and which of the others the worst case would pass.
func (l *Ledger) lacks(c Counters, w Worst) (full, short []string) {
	usd := l.caps.PerMilestone.MaxEstimatedCostUSD
	for _, x := range l.lines(c, w) {
		if x.used >= x.cap && x.need > 0 {
			full = append(full, fmt.Sprintf("%s %d of %d", x.name, x.used, x.cap))
		} else if x.used+x.need > x.cap {
			short = append(short, fmt.Sprintf("%s %d of %d, and a tick can need %d", x.name, x.used, x.cap, x.need))
		}
	}
	if usd > 0 && c.Spent() >= usd {
		full = append(full, fmt.Sprintf("cost $%.2f of $%.2f", c.Spent(), usd))
	} else if usd > 0 && c.Spent()+l.reserved()+w.CostUSD > usd {
		short = append(short, fmt.Sprintf("cost $%.2f of $%.2f, and a tick can need $%.2f", c.Spent(), usd, w.CostUSD))
	}
	return full, short
}

func (l *Ledger) name() string { return quoted(l.state.milestone()) }

func quoted(milestone string) string {
	if milestone == "" {
		return "(not named yet)"
	}
	return fmt.Sprintf("%q", milestone)
}

// reserved is what the pending calls may cost.
func (l *Ledger) reserved() (usd float64) {
	for _, p := range l.state.Pending {
		usd += p.MaxUSD
	}
	return usd
}

// Tick counts one tick, at once on disk.
func (l *Ledger) Tick(runID string) (err error) {
	if l.mark, err = Mark(l.ws); err != nil {
		return err
	}
	l.tick, l.run = Counters{}, runID
	return l.count(Counters{Ticks: 1}, func(s *State) { s.LastRunID = &runID })
}

// Unused reports whether the present tick has made no call and run no check.
func (l *Ledger) Unused() bool { return l.tick == Counters{Ticks: l.tick.Ticks} }

// Untick takes the present tick back: it met a vendor's limit, or was blocked before any
// call, and was no attempt. What it bought stays counted.
func (l *Ledger) Untick() error {
	if l.tick.Ticks == 0 {
		return nil
	}
	return l.count(Counters{Ticks: -1}, nil)
}

// Verify counts n verification runs, at once on disk, before they start. The error
// is BLOCKED_BUDGET_EXHAUSTED when they would go over the cap; then nothing is counted.
func (l *Ledger) Verify(n int) error {
	if used, limit := l.state.Budgets.VerifyRuns, l.caps.PerMilestone.MaxVerifyRuns; used+n > limit {
		return diag.New(judge.BlockedBudgetExhausted, "the budget of verification runs is used up", fmt.Sprintf("%d of %d are used, %d more are wanted", used, limit, n), wayOn)
	}
	return l.count(Counters{VerifyRuns: n}, nil)
}

// PatchAttempt counts one patch build; the error is BLOCKED_BUDGET_CAP over limit (0:
// no limit).
func (l *Ledger) PatchAttempt(limit int) error {
	if used := l.state.Budgets.PatchAttempts; limit > 0 && used >= limit {
		return diag.New(judge.BlockedBudgetCap, "the patch attempts of milestone "+l.name()+" are used up", fmt.Sprintf("%d of %d", used, limit),
			"`relay config show --origin` says where builder.patch.max_patch_attempts_per_milestone is set; raise it, or have another builder do the work")
	}
	return l.count(Counters{PatchAttempts: 1}, nil)
}

// Finish records how the run ended, and the question that it leaves; nil leaves the one
// that waits.
func (l *Ledger) Finish(runID string, code judge.Code, q *Question) error {
	outcome := code.Outcome()
	return l.change(func(s *State) {
		s.LastRunID, s.LastVerdict, s.LastCode = &runID, &outcome, string(code)
		if q != nil {
			s.Question = q
		}
	})
}

// MaxGoal is the longest goal that is kept, in characters.
const MaxGoal = 20000

// Goal gives what the operator wants: given, which is kept for the runs after it, or else
// what was given before.
func (l *Ledger) Goal(given string) (string, error) {
	if given == "" || given == l.state.Goal {
		return l.state.Goal, nil
	}
	return given, l.change(func(s *State) { s.Goal = clip(given, MaxGoal) })
}

// Answer records the operator's answer for the next prompt.
func (l *Ledger) Answer(a Answer) error {
	const most, longest = 64, 8000
	switch n := utf8.RuneCountInString(a.Answer); {
	case strings.TrimSpace(a.Answer) == "" || !utf8.ValidString(a.Answer):
		return diag.New("", "the answer is refused", "it is empty or not valid text", "`relay answer TEXT`")
	case n > longest:
		return diag.New("", "the answer is refused", fmt.Sprintf("it has %d characters; %d are the most", n, longest), "`relay answer TEXT` with less, and put the rest into FACTS.md")
	case len(l.state.Answers) >= most:
		return diag.New("", "the answer is refused", fmt.Sprintf("%d answers wait for the next tick already", most), "`relay run` takes them")
	}
	a.Prompt = format.Clip(a.Prompt, 2000)
	return l.change(func(s *State) {
		s.Answers = append(s.Answers, a)
		if s.Question != nil && s.Question.RunID == a.RunID {
			s.Question = nil
		}
	})
}

// DropAnswers forgets the n oldest answers: the orchestrator has seen them.
func (l *Ledger) DropAnswers(n int) error {
	if n = min(n, len(l.state.Answers)); n <= 0 {
		return nil
	}
	return l.change(func(s *State) { s.Answers = s.Answers[n:] })
}

// TakeAnswers gives the waiting answers and forgets them.
func (l *Ledger) TakeAnswers() ([]Answer, error) {
	a := l.State().Answers
	return a, l.DropAnswers(len(a))
}
