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

	"github.com/paxiom/relay/host/fault"
	"github.com/paxiom/relay/host/internal/journal"
	"github.com/paxiom/relay/host/internal/ledger"
	"github.com/paxiom/relay/host/internal/lock"
	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/host/loop"
	"github.com/paxiom/relay/host/pipeline"
	"github.com/paxiom/relay/host/tick"
	"github.com/paxiom/relay/judge"
)

// Status says where things stand. It starts no process unless preflight is asked for.
func (r *Repo) Status(ctx context.Context, preflight bool) (*StatusResult, error) {
	s := &StatusResult{Doc: Doc{"relay.status", 1}, Lock: string(lock.Free), Next: "`relay run`"}
	o, err := r.look()
	if err != nil {
		f := blockedConfig(err)
		s.Root = r.Root()
		s.Problem, s.Next, s.ExitCode = checkOf("config", f), f.Fix, Explain(f.Code).ExitCode
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
func (s *StatusResult) read(r *Repo, o *opened) error {
	state, info, err := lock.Inspect(o.ws.Lock())
	if err != nil {
		return err
	}
	seen, err := loop.Last(o.ws)
	if err != nil {
		return err
	}
	return s.readWith(r, o, state, info, seen)
}

// readWith fills in the rest, once it is known who holds the lock and which loop runs.
func (s *StatusResult) readWith(r *Repo, o *opened, state lock.State, info *lock.Info, seen *loop.Seen) error {
	s.Root, s.Workspace, s.Branch = o.root, o.ws.Rel(), headBranch(o.root)
	if o.loaded.File != "" {
		s.Config, _ = filepath.Rel(o.root, o.loaded.File)
	}
	s.Lock, s.Loop = string(state), seen
	if info != nil && state == lock.Held {
		s.LockPID, s.lockedBy = info.PID, info.Command
	}
	if err := s.readLedger(o, r.stateDir()); err != nil {
		f := blockedConfig(err)
		s.Problem, s.Next, s.ExitCode = checkOf("state", f), f.Fix, Explain(f.Code).ExitCode
		return nil
	}
	s.readLastRun(o)
	s.readCycles(o, r.now())
	s.gather(r, o)
	s.decideNext(o)
	if f := o.broken; f != nil { // nothing can begin until it is mended, and whose caps hold is not known
		s.Problem, s.Next, s.ExitCode = checkOf("config", f), f.Fix, Explain(f.Code).ExitCode
		s.Budgets, s.Alerts = nil, nil
	}
	return nil
}

// Budgets are the counters of this repository with their caps, for those who watch; none
// where they can't be read.
func (r *Repo) Budgets() []BudgetLine {
	o, err := r.open()
	if err != nil {
		return nil
	}
	s := &StatusResult{}
	if err := s.readLedger(o, r.stateDir()); err != nil {
		return nil
	}
	return s.Budgets
}

func (s *StatusResult) readLedger(o *opened, stateDir string) error {
	book, err := ledger.Look(o.ws, o.loaded.Config.Budgets, stateDir)
	if err != nil {
		return err
	}
	st := book.State()
	if st.MilestoneID != nil {
		s.MilestoneID = *st.MilestoneID
	}
	caps := o.loaded.Config.Budgets.PerMilestone
	s.Warning = st.BudgetWarning
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
	s.Alerts = book.Alerts()
	if f, ok := fault.As(book.Check(ledger.WorstCase(o.loaded.Config, 0))); ok {
		s.spent = f.Fix
	}
	return err
}

// readCycles adds the cycles in flight, and what was spent today where there are any or one
// has ended today.
func (s *StatusResult) readCycles(o *opened, now time.Time) {
	all, err := cycleLines(o.ws, true, now)
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
	if sum, err := (CostOptions{By: ledger.ByProvider}).add(o.ws, &midnight); err == nil && sum.Total.Calls > 0 {
		s.Today = sum
	}
}

// readLastRun adds the newest run and the question that it may have left.
func (s *StatusResult) readLastRun(o *opened) {
	if id, err := o.hist.Latest(); err == nil && id != "" {
		if m, err := o.hist.Get(id); err == nil {
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
	if open, err := journal.Open(o.ws.Journal()).Unfinished(); err == nil && len(open) > 0 && s.Lock != string(lock.Held) {
		s.Unfinished = open[0].ID
	}
}

// lastBlock gives BLOCKED.json while it still says something: it is of the newest run.
// A block that came before there was a configuration ends with the configuration.
func lastBlock(o *opened, last *RunLine) *Blocked {
	raw, err := workspace.ReadFile(o.ws.Blocked(), 1<<20)
	if err != nil {
		return nil
	}
	b, err := report.DecodeBlocked(raw)
	if err != nil || last != nil && last.RunID != b.RunID || o.loaded.File != "" && (b.Code == judge.BlockedMissingConfig || b.Code == judge.BlockedRepository) {
		return nil
	}
	return b
}

// decideNext picks the one sensible command, most urgent first. The exit code says that
// something waits for the operator, whatever else is at work.
func (s *StatusResult) decideNext(o *opened) {
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
	case o.loaded.File == "":
		s.Next = "`relay init`"
	case unborn(o.root, s.Branch):
		s.Next = fault.Git(&judge.GitError{Kind: judge.GitNoCommits}).Fix
	case s.LastRun == nil && s.LastCycle != nil:
		s.Next = s.LastCycle.Next[0]
	case s.LastRun == nil:
		s.Next = "`relay run --goal \"what you want\"`"
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

func preflightLines(checks []tick.Check) (lines []CheckResult) {
	for _, c := range checks {
		line := CheckResult{ID: c.ID, OK: c.Err == nil && !c.Skipped, Skip: c.Skipped, What: c.Found}
		if c.Err != nil {
			line = *checkOf(c.ID, fault.Internal(c.Err))
		}
		lines = append(lines, line)
	}
	return lines
}

func checkOf(id string, f *fault.Fault) *CheckResult {
	return &CheckResult{ID: id, Code: f.Code, What: f.What, Why: f.Why, Fix: f.Fix, PluginSays: f.Says}
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
