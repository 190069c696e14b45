package host

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/health"
	"github.com/paxiom/relay/host/internal/history"
	"github.com/paxiom/relay/host/internal/journal"
	"github.com/paxiom/relay/host/internal/ledger"
	"github.com/paxiom/relay/host/internal/lock"
	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/host/loop"
	"github.com/paxiom/relay/host/pipeline"
	"github.com/paxiom/relay/host/tick"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/git"
)

// Status says where things stand. It starts no process unless preflight is asked for.
func (r *Repo) Status(ctx context.Context, preflight bool) (*StatusResult, error) {
	s := &StatusResult{Doc: DocOf("relay.status", 1), Lock: string(lock.Free), Next: "`relay run`"}
	o, err := r.Look()
	if err != nil {
		f := BlockedConfig(err)
		s.Root = r.Root()
		s.fail("config", f)
		if !preflight {
			return s, nil
		}
	} else if err := s.read(r, o); err != nil {
		return nil, err
	}
	if preflight {
		if err := r.addPreflight(ctx, s); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// read fills the status from files alone.
func (s *StatusResult) read(r *Repo, o *Opened) error {
	state, info, err := lock.Inspect(o.WS.Lock())
	if err != nil {
		return err
	}
	seen, err := loop.Last(o.WS)
	if err != nil {
		return err
	}
	return s.readWith(r, o, state, info, seen)
}

// readWith fills in the rest, once it is known who holds the lock and which loop runs.
func (s *StatusResult) readWith(r *Repo, o *Opened, state lock.State, info *lock.Info, seen *loop.Seen) error {
	s.Root, s.Workspace, s.Branch = o.Root, o.WS.Rel(), headBranch(o.Root)
	if o.Loaded.File != "" {
		s.Config, _ = filepath.Rel(o.Root, o.Loaded.File)
	}
	s.Lock, s.Loop = string(state), seen
	if info != nil && state == lock.Held {
		s.LockPID, s.lockedBy = info.PID, info.Command
	}
	spent, damaged := spendingOf(o)
	if damaged == nil {
		s.MilestoneID, s.Budgets, s.Warning, s.Alerts, s.spent = spent.MilestoneID, spent.Budgets, spent.Warning, spent.Alerts, spent.Next
		damaged = o.WS.Validate() // as a run does before it begins
	}
	s.readLastRun(o)
	s.readCycles(o, r.Now())
	s.gather(r, o)
	s.decideNext(r, o, r.Begin())
	if damaged != nil {
		s.fail("state", BlockedConfig(damaged))
	}
	if o.Broken != nil { // whose caps hold is not known
		s.fail("config", o.Broken)
		s.Budgets, s.Alerts = nil, nil
	}
	return nil
}

// fail says that nothing can begin until something is mended. What waits is shown beside it.
func (s *StatusResult) fail(what string, f *diag.Error) {
	s.Problem, s.Next, s.ExitCode = health.Failed(what, f), f.Fix, Explain(f.Code).ExitCode
}

// Budgets are the counters of this repository with their caps, for those who watch; none
// where they can't be read.
func (r *Repo) Budgets() []BudgetLine {
	o, err := r.Open()
	if err != nil {
		return nil
	}
	s, err := spendingOf(o)
	if err != nil {
		return nil
	}
	return s.Budgets
}

// Spending is what the present milestone has used of its budgets.
type Spending struct {
	MilestoneID string // "" while none is named
	Budgets     []BudgetLine
	Warning     bool
	Alerts      []string // caps of a day that are half used
	Next        string   // what to type when the budgets cover no tick; "" when they do
}

// spendingOf reads the ledger.
func spendingOf(o *Opened) (*Spending, error) {
	book, err := ledger.Look(o.WS, o.Loaded.Config.Budgets, o.StateDir)
	if err != nil {
		return nil, err
	}
	st := book.State()
	s := &Spending{Warning: st.BudgetWarning, Alerts: book.Alerts()}
	if st.MilestoneID != nil {
		s.MilestoneID = *st.MilestoneID
	}
	caps := o.Loaded.Config.Budgets.PerMilestone
	s.Budgets = []BudgetLine{
		{Name: "ticks", Used: float64(st.Budgets.Ticks), Max: float64(caps.MaxTicks)},
		{Name: "orchestrator calls", Used: float64(st.Budgets.OrchestratorCalls), Max: float64(caps.MaxOrchestratorCalls)},
		{Name: "builder calls", Used: float64(st.Budgets.BuilderCalls), Max: float64(caps.MaxBuilderCalls)},
		{Name: "verify runs", Used: float64(st.Budgets.VerifyRuns), Max: float64(caps.MaxVerifyRuns)},
		{Name: "dollars", Used: st.Budgets.Spent(), Max: caps.MaxEstimatedCostUSD, Unknown: st.Budgets.UnknownCostCalls},
	}
	standings, err := book.Standings()
	for _, c := range standings {
		s.Budgets = append(s.Budgets, BudgetLine{Name: c.Name, Used: c.Used, Max: c.Max})
	}
	if f, ok := diag.As(book.Check(ledger.WorstCase(o.Loaded.Config, 0))); ok {
		s.Next = f.Fix
	}
	return s, err
}

// readCycles adds the cycles in flight, and what was spent today where there are any or one
// has ended today.
func (s *StatusResult) readCycles(o *Opened, now time.Time) {
	all, err := cycleLines(o.WS, true, now)
	if err != nil {
		return
	}
	y, m, d := time.Now().Date()
	midnight := time.Date(y, m, d, 0, 0, 0, 0, time.Local)
	today := false
	for _, c := range all {
		if !c.State.Ended() {
			s.Cycles = append(s.Cycles, c)
		} else if s.LastCycle == nil { // the newest comes first
			s.LastCycle = &c
		}
		today = today || !c.State.Ended() || c.Since.After(midnight)
	}
	if !today {
		return
	}
	if sum, err := (CostOptions{By: ledger.ByProvider}).add(o.WS, &midnight); err == nil && sum.Total.Calls > 0 {
		s.Today = sum
	}
}

// readLastRun adds the newest run and the question that it may have left.
func (s *StatusResult) readLastRun(o *Opened) {
	if id, err := o.History.Latest(); err == nil && id != "" {
		if m, err := o.History.Get(id); err == nil {
			line := RunLine{Meta: m, ExitCode: Explain(m.Code).ExitCode}
			s.LastRun = &line
		}
	}
	s.Blocked = lastBlock(o, s.LastRun)
	q, _ := openQuestion(o)
	if q != nil {
		s.Question, s.Choices, s.AskedBy = q.Prompt, q.Choices, q.RunID
		if s.LastRun != nil && s.LastRun.RunID == q.RunID {
			s.LastRun.ExitCode = ExitWaiting
		}
	}
	if open, err := journal.Open(o.WS.Journal()).Unfinished(); err == nil && len(open) > 0 && s.Lock != string(lock.Held) {
		s.Unfinished = open[0].ID
	}
}

// lastBlock gives BLOCKED.json while it still says something: it is of the newest run.
// A block that came before there was a configuration ends with the configuration.
func lastBlock(o *Opened, last *RunLine) *Blocked {
	raw, err := workspace.ReadFile(o.WS.Blocked(), 1<<20)
	if err != nil {
		return nil
	}
	b, err := report.DecodeBlocked(raw)
	if err != nil || last != nil && last.RunID != b.RunID || o.Loaded.File != "" && (b.Code == judge.BlockedMissingConfig || b.Code == judge.BlockedRepository) {
		return nil
	}
	return b
}

// decideNext picks the one sensible command, most urgent first. The exit code says that
// something waits for the operator, whatever else is at work.
func (s *StatusResult) decideNext(r *Repo, o *Opened, begin string) {
	if len(s.Needs) > 0 {
		s.ExitCode = ExitWaiting
	}
	held := s.Lock == string(lock.Held)
	switch {
	case s.Unfinished != "":
		s.Next = "`relay recover`"
	case len(s.Needs) > 0 && !held:
		s.Next = s.Needs[0].Next
	case s.Pipeline != nil && s.Pipeline.Held != "":
		s.Next = s.Pipeline.HeldFix
	case len(s.Waits) > 0:
		s.Next = s.Waits[0].Next
	case s.Loop != nil && s.Loop.Running:
		s.Next = "`relay stop --drain` ends the loop after the tick under way"
	case held && s.lockedBy == pipeline.Command:
		s.Next = "`relay pipeline status`; `relay stop --drain` ends it after the task under way"
	case held:
		s.Next = "`relay status` again when the running tick has ended"
	case s.spent != "":
		s.Next = s.spent
	case s.Loop != nil && s.Loop.CutOff:
		s.Next = "`relay loop --resume`"
	case s.Loop != nil && s.Loop.Reason == loop.Question && s.Loop.Again != "" && s.LastRun != nil && s.LastRun.Loop == s.Loop.ID:
		s.Next = "`" + s.Loop.Again + "`" // its question is answered, or it would be a need
	case s.Pipeline != nil && (!s.Pipeline.Ended || len(s.Pipeline.Open) > 0):
		s.Next = "`relay pipeline run`"
	case o.Loaded.File == "":
		s.Next = "`relay init`"
	case unborn(o.Root, s.Branch):
		s.Next = diag.Git(&git.Error{Kind: git.NoCommits}).Fix
	case r.TrustStore().Check(o.Loaded, r.Getenv) != nil:
		s.Next = "`relay trust` shows what the configuration starts, and asks you"
	case s.LastRun == nil && s.LastCycle != nil:
		s.Next = s.LastCycle.Next[0]
	case s.LastRun == nil, s.LastRun.Workflow == history.Task && s.LastRun.Code == judge.Success && begin == "`relay pipeline run`":
		s.Next = begin
	}
}

// addPreflight runs the checks of a tick; they spend and change nothing.
func (r *Repo) addPreflight(ctx context.Context, s *StatusResult) error {
	env, err := r.tickEnv(nil)
	if err != nil {
		return err
	}
	ready := true
	s.Preflight = preflightLines(tick.Preflight(ctx, env, tick.Options{}))
	for _, line := range s.Preflight {
		if ready && !line.OK && !line.Skip {
			s.Next, s.ExitCode = line.Fix, Explain(line.Code).ExitCode
			ready = false
		}
	}
	s.Ready = &ready
	others := slices.ContainsFunc(s.Needs, func(n Need) bool { return n.Kind != NeedProblem || n.Of != "run" && n.Of != "loop" })
	if ready && !others && s.Lock != string(lock.Held) { // how the last one ended keeps none from beginning
		s.Next, s.ExitCode = "`relay run`", ExitDone
	}
	return nil
}

// headBranch reads the branch from HEAD's own file: git is not started for it. It
// gives "" for whatever it does not understand.
func headBranch(root string) string {
	dir := filepath.Join(root, ".git")
	if link, err := workspace.ReadFile(dir, 64<<10); err == nil {
		target, ok := strings.CutPrefix(strings.TrimSpace(string(link)), "gitdir: ")
		if !ok {
			return ""
		}
		if dir = target; !filepath.IsAbs(dir) {
			dir = filepath.Join(root, target)
		}
	}
	head, err := workspace.ReadFile(filepath.Join(dir, "HEAD"), 4<<10)
	if err != nil {
		return ""
	}
	branch, ok := strings.CutPrefix(strings.TrimSpace(string(head)), "ref: refs/heads/")
	if !ok {
		return ""
	}
	return branch
}

// unborn reports whether a branch has no commit yet, as far as the files of git tell.
func unborn(root, branch string) bool {
	return branch != "" && !slices.ContainsFunc([]string{"refs/heads/" + branch, "packed-refs", "reftable"}, func(name string) bool {
		_, err := os.Lstat(filepath.Join(root, ".git", name))
		return !errors.Is(err, fs.ErrNotExist)
	})
}

// BudgetLine is one counter and its cap; Max 0 means no cap.
type BudgetLine struct {
	Name string  `json:"name"` // of the counter
	Used float64 `json:"used"`
	Max  float64 `json:"max"`
	// Unknown is how many calls of unknown cost there are, which count as what others cost.
	Unknown int `json:"unknown_calls,omitempty"`
}

// StatusResult is what is known without starting anything, and preflight when asked.
type StatusResult struct {
	Doc
	Root        string         `json:"root"`
	Config      string         `json:"config,omitempty"`    // file of the configuration
	Workspace   string         `json:"workspace,omitempty"` // folder of relay's files
	Branch      string         `json:"branch,omitempty"`
	MilestoneID string         `json:"milestone_id,omitempty"`
	Lock        string         `json:"lock"`               // free, held, stale or corrupt
	LockPID     int            `json:"lock_pid,omitempty"` // process that has the lock
	Budgets     []BudgetLine   `json:"budgets,omitempty"`
	Warning     bool           `json:"budget_warning,omitempty"` // a counter is close to its cap
	Alerts      []string       `json:"alerts,omitempty"`         // caps of a day that are half used
	LastRun     *RunLine       `json:"last_run,omitempty"`
	Loop        *LoopSeen      `json:"loop,omitempty"`     // that runs, or the last one
	Question    string         `json:"question,omitempty"` // waits on the operator
	Choices     []string       `json:"choices,omitempty"`
	AskedBy     string         `json:"asked_by,omitempty"` // the run whose question it is
	Blocked     *Blocked       `json:"blocked,omitempty"`
	Unfinished  string         `json:"unfinished,omitempty"` // run whose journal is open
	Cycles      []CycleLine    `json:"cycles,omitempty"`     // in flight, those that wait first
	LastCycle   *CycleLine     `json:"last_cycle,omitempty"` // the newest that has ended
	Pipeline    *PipelineSeen  `json:"pipeline,omitempty"`   // the newest run over the task list
	Needs       []Need         `json:"needs,omitempty"`      // what waits for the operator, most urgent first
	Waits       []Need         `json:"waits,omitempty"`      // what continues by itself at a known time
	Today       *CostResult    `json:"cost_today,omitempty"` // by provider, where cycles are in flight or have ended today
	Preflight   []health.Check `json:"preflight,omitempty"`
	Ready       *bool          `json:"ready,omitempty"` // of the preflight
	Problem     *health.Check  `json:"problem,omitempty"`
	Next        string         `json:"next"` // the next sensible command
	ExitCode    int            `json:"exit_code"`

	lockedBy string // the command that has the lock
	spent    string // what to type when the budgets cover no tick; "" when they do
}

// Types of loops that the commands show.
type (
	// LoopTick is one tick of a loop.
	LoopTick = loop.Tick
	// LoopWait is one wait of a loop for a vendor's limit to end.
	LoopWait = loop.Waited
	// LoopSpend is what a loop has used.
	LoopSpend = loop.Spend
	// LoopSeen is a loop as it stands.
	LoopSeen = loop.Seen
	// LoopReason is why a loop stopped.
	LoopReason = loop.Reason
)
