package tick

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/host/internal/history"
	"github.com/paxiom/relay/host/internal/journal"
	"github.com/paxiom/relay/host/internal/ledger"
	"github.com/paxiom/relay/host/internal/lock"
	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/judge"
)

// finish is the last state: the box goes, the report is written, the lock is given
// back. verdict is nil for success. It has no context: it is done also when that has ended.
func (r *run) finish(verdict error) (*Outcome, error) {
	r.left(broken(verdict), verdict != nil)
	r.decide(verdict)
	r.describeNetwork()
	r.rep.Unpinned = unpinned(r.rep.Orchestrator, r.rep.Builder)
	out := &Outcome{Report: r.rep, Patch: r.patch, Was: r.was}
	if r.rep.Verdict == judge.OutcomeBlocked {
		out.Blocked = r.blocked()
	}
	if r.held == nil { // not ours: only the holder of the lock writes the workspace
		r.close()
		r.sayBlocked(out.Blocked)
		return out, nil
	}
	if r.Change != nil && r.rep.Box != nil {
		r.rep.Box.PutBack = r.Change.Box().PutBack()
	}
	leave := r.rep.Code == judge.BlockedCrashRecovery // relay recover continues from its journal
	if r.Change != nil && r.rep.Code != judge.Success && !leave {
		_ = r.Change.Empty() // to make room for the report on a full disk; what fails here fails again in Discard
	}
	err := r.write(out)
	journal.Reached("tick.written")
	if err != nil && r.rep.Code == judge.Success && len(r.verdict.Kept) > 0 {
		leave = true // it landed and its record could not be written: the journal knows, and the next start writes it
	}
	switch {
	case r.Change == nil:
	case leave:
		err = errors.Join(err, r.Change.Leave())
	default:
		err = errors.Join(err, r.Change.Discard())
	}
	journal.Reached("tick.settled")
	err = errors.Join(err, r.held.Release())
	r.publish()
	if err != nil && leave && r.rep.Code == judge.Success { // the change is there: that is what a caller has to know
		r.note("the change has landed and the run's report could not be written (" + err.Error() + "); the next start writes it")
		return out, nil
	}
	if err != nil {
		fix := "`df -h .` and `ls -ld " + diag.Word(r.ws.Dir()) + "` show whether relay can write there"
		if f, ok := diag.As(err); ok && f.Fix != "" {
			fix = f.Fix
		}
		return out, diag.Wrap(err, judge.StopInterrupted, "the run's report could not be written", fix)
	}
	return out, nil
}

// unpinned are the plugins that took part and that nothing pins.
func unpinned(part ...*report.Worker) (names []string) {
	for _, w := range part {
		if w != nil && w.Unpinned != "" && !slices.Contains(names, w.Plugin) {
			names = append(names, w.Plugin)
		}
	}
	return names
}

// sayBlocked leaves BLOCKED.json when the run ended before it had the lock. It is the
// one file that is written without it: whole, by a rename.
func (r *run) sayBlocked(b *report.Blocked) {
	if b == nil || r.env.Root == "" {
		return
	}
	ws := r.ws
	if ws == nil { // no configuration says where
		var err error
		if ws, err = workspace.OpenLast(r.env.Root); err != nil {
			return
		}
	}
	if raw, err := report.EncodeBlocked(b); err == nil && ws.Ensure() == nil {
		_ = workspace.WriteFile(ws.Blocked(), raw) // the outcome says it as well
		r.leaveReport(ws)
		_ = ws.Publish()
	}
}

// leaveReport writes the report of a run that was blocked before it had the lock. Where
// somebody else has it, the report there is his.
func (r *run) leaveReport(ws *workspace.Workspace) {
	if r.rep.Code == judge.BlockedLockHeld {
		return // he may have ended since, and just left his own
	}
	held, _, err := lock.Acquire(ws.Lock(), "relay run")
	if err != nil {
		return
	}
	defer held.Release()
	if raw, err := report.Encode(r.rep); err != nil || workspace.WriteFile(ws.Report(), raw) != nil {
		return // the outcome says it as well
	}
	render := config.RenderReportMD{Enabled: true, MaxChars: 6000}
	if r.cfg != nil {
		render = r.cfg.Runner.RenderReportMD
	}
	if render.Enabled {
		_ = workspace.WriteScratch(ws.ReportMD(), report.Render(r.rep, render.MaxChars))
	}
}

// broken is what the state says that the work ended at.
func broken(verdict error) string {
	if verdict == nil {
		return ""
	}
	return diag.Internal(verdict).What
}

// decide turns the verdict into the report's code and its three parts.
func (r *run) decide(verdict error) {
	r.rep.Code, r.rep.Summary = judge.Success, r.success()
	if verdict != nil {
		f := diag.Internal(verdict)
		f.Code = cmp.Or(f.Code, judge.StopInterrupted)
		r.rep.Code, r.rep.Summary, r.rep.Why, r.rep.Next = f.Code, f.What, f.Why, f.Fix
		r.rep.PluginSays = f.Says
	}
	r.rep.Verdict = r.rep.Code.Outcome()
	r.close()
}

// success is the report's one line when nothing was broken.
func (r *run) success() string {
	switch {
	case r.rep.Question != nil:
		r.rep.Next = "`relay answer \"…\"`"
		return "a question waits for you"
	case r.task == nil:
		return ""
	case r.task != nil && r.nextBegins():
		return fmt.Sprintf("the milestone %s is done: the next task belongs to %s, and nothing of it was built", r.was, r.task.MilestoneID)
	case r.rep.Control != nil:
		return "the orchestrator says: " + r.rep.Control.Action
	case r.rep.Commit != "":
		return r.rep.Verification.Landed("committed") + r.selfRun()
	case len(r.verdict.Kept) > 0:
		return r.rep.Verification.Landed("written to the work tree") + r.selfRun()
	case len(r.rep.Verification.Runs) == 0:
		return "nothing was changed, and no check ran"
	}
	if r.task.Kind == judge.Execute {
		return "the builder changed nothing, so the task is not done"
	}
	return "nothing was changed, and every check passed"
}

// asks is the question that this run leaves; nil when it asks none of its own.
func (r *run) asks() *ledger.Question {
	if q := r.rep.Question; q != nil && (r.rep.Code == judge.Success || r.rep.Code == judge.StopHeadMoved) && !r.waits {
		return &ledger.Question{RunID: r.rep.RunID, Prompt: q.Prompt, Choices: q.Choices}
	}
	return nil
}

// selfRun names what landed and is run or obeyed by itself from now on.
func (r *run) selfRun() string {
	var names []string
	for _, o := range r.verdict.Opened {
		name := report.Safe(o.Path)
		if len(o.Parts) > 0 {
			name += ": " + strings.Join(o.Parts, ", ")
		}
		names = append(names, name+" ("+o.Who+")")
	}
	switch n := len(names); {
	case n == 0:
		return ""
	case n > 3:
		names = append(names[:3], fmt.Sprintf("%d more", n-3))
	}
	return "; with it " + strings.Join(names, "; ")
}

// close stamps the end.
func (r *run) close() {
	r.rep.EndedAt = r.now().UTC()
	r.rep.DurationMS = r.rep.EndedAt.Sub(r.rep.StartedAt).Milliseconds()
}

func (r *run) blocked() *report.Blocked {
	return &report.Blocked{SchemaVersion: 1, RunID: r.rep.RunID, At: r.rep.EndedAt.Format(time.RFC3339),
		Code: r.rep.Code, What: r.rep.Summary, Why: r.rep.Why, Next: r.rep.Next, PluginSays: r.rep.PluginSays}
}

// write puts the run's record on the disk: ledger, REPORT.json (the only truth),
// REPORT.md (rendered from it), BLOCKED.json, and the history's copies.
func (r *run) write(out *Outcome) error {
	problems := []error{r.enter(stateReport)}
	if r.book != nil {
		if len(r.rep.Limits) > 0 || r.rep.Verdict == judge.OutcomeBlocked && r.book.Unused() {
			problems = append(problems, r.book.Untick())
		}
		problems = append(problems, r.remember())
		r.ledgerLines()
	}
	r.pointers()
	raw, err := report.Encode(r.rep)
	if err != nil {
		return errors.Join(append(problems, err)...)
	}
	md := report.Render(r.rep, r.cfg.Runner.RenderReportMD.MaxChars)
	problems = append(problems, together( // each waits for the disk
		func() error {
			defer journal.Reached("tick.reported")
			return workspace.WriteFile(r.ws.Report(), raw)
		},
		func() error {
			if r.book == nil {
				return nil
			}
			return r.book.Finish(r.rep.RunID, r.rep.Code, r.asks())
		},
		func() error {
			if r.hist == nil {
				return nil
			}
			return r.hist.Finish(r.meta(), raw, md)
		}))
	if r.cfg.Runner.RenderReportMD.Enabled {
		if err := workspace.WriteScratch(r.ws.ReportMD(), md); err != nil { // rendered from REPORT.json at any time
			r.note("REPORT.md could not be written: " + err.Error())
		}
	} else {
		remove(r.ws.ReportMD()) // an earlier run's would pass for this one's
	}
	problems = append(problems, r.writeBlocked(out.Blocked))
	r.keepResult()
	if r.hist != nil && !r.cfg.History.Enabled { // the rest was there for the plugins' words and a crash only
		r.ws.Withdraw(r.hist.Dir())
		problems = append(problems, r.hist.Shrink(r.meta()))
		out.Patch = ""
	}
	r.leave("")
	return errors.Join(problems...)
}

// together does things side by side.
func together(things ...func() error) error {
	problems := make([]error, len(things))
	var wg sync.WaitGroup
	for i, do := range things {
		wg.Go(func() { problems[i] = do() })
	}
	wg.Wait()
	return errors.Join(problems...)
}

func (r *run) writeBlocked(b *report.Blocked) error {
	if b == nil {
		remove(r.ws.Blocked())
		return nil
	}
	raw, err := report.EncodeBlocked(b)
	if err != nil {
		return err
	}
	return workspace.WriteFile(r.ws.Blocked(), raw)
}

func (r *run) ledgerLines() {
	st := r.book.State()
	b := &r.rep.Budgets
	if st.MilestoneID != nil {
		b.MilestoneID = *st.MilestoneID
	}
	c := st.Budgets
	b.Ticks, b.OrchestratorCalls, b.BuilderCalls, b.VerifyRuns = c.Ticks, c.OrchestratorCalls, c.BuilderCalls, c.VerifyRuns
	b.EstimatedCostUSD, b.CostUnknown = c.EstimatedCostUSD, c.UnknownCostCalls > 0
	b.Warnings = append([]string{}, r.book.Warnings()...)
}

// pointers are relative to the repository, so that a report reads the same anywhere. Only
// what there is is pointed at.
func (r *run) pointers() {
	r.rep.Pointers = &report.Pointers{}
	if r.cfg.Runner.RenderReportMD.Enabled {
		r.rep.Pointers.ReportMDPath = r.ws.Copied("REPORT.md")
	}
	if r.hist == nil || !r.cfg.History.Enabled {
		return
	}
	dir := filepath.ToSlash(filepath.Join(r.ws.Rel(), "history", r.rep.RunID))
	r.rep.Pointers.HistoryDir = dir
	r.rep.Diff.DiffPatchPath, r.rep.Verification.VerifyLogPath = r.hist.At(dir, "diff.patch"), r.hist.At(dir, "verify.log")
}

func (r *run) meta() history.Meta {
	return history.Meta{RunID: r.rep.RunID, Workflow: history.Tick, StartedAt: r.rep.StartedAt, EndedAt: r.rep.EndedAt,
		TaskID: r.rep.Task.TaskID, MilestoneID: r.rep.Task.MilestoneID, Intent: r.rep.Task.Intent, Code: r.rep.Code,
		BaseCommit: r.rep.BaseCommit, Commit: r.rep.Commit, Salvage: r.rep.Salvage, Version: r.env.Version,
		Key: r.o.Key, Request: r.asked, Prefers: r.cfg.Builder.DefaultMode, Loop: r.o.Loop, WasMilestone: r.was, Cut: r.rep.Summary == wasInterrupted}
}
