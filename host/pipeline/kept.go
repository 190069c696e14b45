package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/paxiom/relay/host/change"
	"github.com/paxiom/relay/host/internal/format"
	"github.com/paxiom/relay/host/internal/history"
	"github.com/paxiom/relay/host/internal/ledger"
	"github.com/paxiom/relay/host/internal/patch"
	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/host/pipeline/memory"
	"github.com/paxiom/relay/host/pipeline/prd"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/git"
)

const (
	patchFile = "diff.patch"
	checksLog = "verify.log"
)

// keepPatch writes what was built, while its box is there, for the history.
func (a *taskRun) keepPatch() {
	if h := a.p.env.Config.History; !h.Enabled || !h.IncludeDiffPatch {
		return
	}
	f, err := os.OpenFile(a.dir(patchFile), os.O_WRONLY|os.O_CREATE|os.O_TRUNC|unix.O_NOFOLLOW, 0o644)
	if err == nil {
		_, err = patch.Write(f, a.Change.Left)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		a.note("the patch could not be kept: " + err.Error())
	}
}

// keepRun puts an attempt that is over into the history, beside the ticks. It can be done
// again. The task's end is on record already, so what can't be kept is only told.
func (p *Pipeline) keepRun(ctx context.Context, t *Record) {
	cfg := p.env.Config
	r, meta := p.reportOf(ctx, t), p.metaOf(t)
	meta.BaseCommit, meta.Code = r.BaseCommit, r.Code
	err := func() error {
		run, err := history.Open(p.env.WS.History()).Take(meta)
		if err != nil {
			return err
		}
		if !cfg.History.Enabled {
			return run.Shrink(meta)
		}
		if err := p.keepFiles(run, t); err != nil {
			return err
		}
		dir := p.env.WS.Rel() + "/history/" + t.RunID
		r.Pointers = &report.Pointers{HistoryDir: dir}
		r.Diff.DiffPatchPath, r.Verification.VerifyLogPath = run.At(dir, patchFile), run.At(dir, checksLog)
		raw, err := report.Encode(r)
		if err != nil {
			return err
		}
		return run.Finish(meta, raw, report.Render(r, cfg.Runner.RenderReportMD.MaxChars))
	}()
	if err != nil {
		p.notice("the attempt " + t.Attempt + " is not in the history: " + err.Error())
	}
}

// keepFiles moves over what the history has of each run: the patch, what its plugins
// said, and what the checks printed.
func (p *Pipeline) keepFiles(run *history.Run, t *Record) error {
	at := p.dir(tasksDir, t.Attempt)
	if err := run.Adopt(patchFile, filepath.Join(at, patchFile)); err != nil {
		return err
	}
	said, _ := filepath.Glob(filepath.Join(at, "plugins", "*"))
	for _, f := range said {
		if err := run.Adopt("plugins/"+filepath.Base(f), f); err != nil {
			return err
		}
	}
	if !p.env.Config.History.IncludeVerifyLog || len(t.Checks) == 0 {
		return nil
	}
	log, err := run.Create(checksLog)
	if err != nil {
		return err
	}
	for _, c := range t.Checks {
		fmt.Fprintf(log, "=== %s\n[%s]\n", c.Name(), c.Outcome)
		if c.Hidden != "" {
			continue // what they printed is the operator's alone
		}
		if f, err := os.Open(filepath.Join(at, c.File)); err == nil {
			_, err = io.Copy(log, f)
			if f.Close(); err != nil {
				return errors.Join(err, log.Close())
			}
		}
		fmt.Fprintln(log)
	}
	return log.Close()
}

func (p *Pipeline) metaOf(t *Record) history.Meta {
	return history.Meta{RunID: t.RunID, Workflow: history.Task, StartedAt: t.StartedAt, EndedAt: t.EndedAt, TaskID: t.TaskID, MilestoneID: tabName, Intent: t.Task.Title,
		Commit: t.Commit, Salvage: t.Salvage, Version: p.env.Version, Key: t.Attempt, Loop: t.PipelineID}
}

// reportOf is an attempt in the words in which all runs are reported. What only tasks
// have, as reviews and criteria, is in the trail, and here in a note.
func (p *Pipeline) reportOf(ctx context.Context, t *Record) *report.Report {
	if t.EndedAt.IsZero() {
		t.EndedAt = p.now().UTC()
	}
	r := &report.Report{RunID: t.RunID, StartedAt: t.StartedAt, EndedAt: t.EndedAt, DurationMS: t.EndedAt.Sub(t.StartedAt).Milliseconds(),
		Task:       report.Task{TaskID: t.TaskID, MilestoneID: tabName, TaskKind: string(judge.Execute), Intent: t.Task.Title},
		BaseCommit: t.Base, HeadCommit: t.Base, Code: t.Code, Summary: t.Summary, Why: t.Why, Next: t.Next, Commit: t.Commit, Salvage: t.Salvage,
		Scope: report.Scope{OK: true, Violations: []string{}, TouchedPaths: []string{}}, Verification: verification(t, func(Check) bool { return true }),
		Budgets: report.Budgets{MilestoneID: tabName, Warnings: []string{}}, Box: t.Box, Switches: t.Switches, Limits: t.Limits}
	if t.Code == "" { // another attempt follows, or the operator has decided
		r.Code, r.Summary, r.Why, r.Next = judge.StopInterrupted, "the attempt was given up", t.Lost, "`relay task show "+t.TaskID+"`"
	}
	r.Verification.NewTests, r.Policy = t.NewTests, t.Policy
	if r.Box != nil && len(t.Network) > 0 {
		b := *r.Box
		b.Network, r.Box = t.Network, &b
	}
	if t.Commit != "" {
		r.Verification.Said = t.Evidence
	}
	if len(t.Commits) > 0 {
		if base, err := p.place.Run(ctx, nil, "rev-parse", "--verify", "-q", t.Commits[0]+"^"); err == nil {
			r.BaseCommit = strings.TrimSpace(string(base)) // what was built aside landed on a later one
		}
		r.HeadCommit = t.Commit
	}
	if j := t.Judged; j != nil {
		r.BlastRadius = report.BlastRadius{FilesTouched: j.Files, LinesAdded: j.Added, LinesDeleted: j.Deleted, NewFiles: j.New}
		r.Diff = report.Diff{FilesChanged: j.Files, LinesChanged: j.Added + j.Deleted}
		r.Scope = report.Scope{OK: len(j.Violations) == 0, Violations: append([]string{}, j.Violations...), TouchedPaths: j.Paths}
		r.Rules = j.Rules
	}
	for _, s := range t.Steps {
		r.States = append(r.States, report.StateTime{State: stateOf(s.Name), MS: s.MS})
	}
	r.Orchestrator, r.Builder = workerOf(t.Calls, rolePlan), workerOf(t.Calls, roleCode, roleCleanup)
	if r.Builder != nil && len(t.Sessions) > 0 {
		r.Builder.Summary = t.Sessions[len(t.Sessions)-1].Summary
	}
	r.Notes = append(notesOf(t), t.Notes...)
	return r
}

// stateOf is a step without its numbers: cleanup-2-1 is one of CLEANUP.
func stateOf(step string) string {
	return strings.ToUpper(strings.TrimRight(step, "-0123456789"))
}

// workerOf adds up the calls of some roles, in the name of who made the last.
func workerOf(calls []ledger.Line, roles ...string) *report.Worker {
	var w *report.Worker
	for _, c := range calls {
		if !strings.Contains(" "+strings.Join(roles, " ")+" ", " "+c.Role+" ") {
			continue
		}
		if w == nil {
			w = &report.Worker{}
		}
		w.Plugin, w.Model, w.Calls = c.Provider, c.Model, w.Calls+1
		ledger.Plus(&w.InputTokens, c.InputTokens)
		ledger.Plus(&w.OutputTokens, c.OutputTokens)
		ledger.Plus(&w.CostUSD, c.CostUSD)
	}
	return w
}

// notesOf are the lines on what only tasks have.
func notesOf(t *Record) []string {
	notes := []string{"`relay task show " + t.TaskID + "` has the whole trail; this is attempt " + t.Attempt}
	for _, r := range t.Reviews {
		notes = append(notes, fmt.Sprintf("review %d by %s: %s, %d of them new", r.Round, r.Provider, format.Count(r.Found, "finding"), r.New))
	}
	for i, c := range t.Criteria {
		by := "checked by " + c.Provider
		if c.ByOperator {
			by = "decided by you"
		}
		notes = append(notes, fmt.Sprintf("criterion %d, %s: %s", i+1, by, c.Verdict.Verdict))
	}
	return notes
}

// TakenBack says in the task list and in the memory that the change of a task was taken
// back by a commit, and commits both: the task counts as failed, so that nothing is built
// on it before somebody asks for it again. The caller holds the workspace's lock.
func TakenBack(ctx context.Context, env *Env, task, commit string) error {
	git, err := git.Open(ctx, env.Root)
	if err != nil {
		return err
	}
	p := &Pipeline{env: env, list: &prd.File{Path: filepath.Join(env.Root, TasksFile)}, place: git}
	if _, p.branch, err = git.Head(ctx); err != nil {
		return err
	}
	l, err := p.list.Read()
	if err != nil {
		return err
	}
	t := l.Find(task)
	if t == nil || t.Status != prd.Completed {
		return nil
	}
	why := fmt.Sprintf(takenBack+"%.12s", commit)
	fields := map[string]any{"status": prd.Failed, "completed_at": nil}
	if p.ownNotes(t) == "" {
		fields["notes"] = why
	}
	if err := p.list.Edit(prd.Set(task, fields)); err != nil {
		return err
	}
	c, err := memory.Read(p.dir(memoryFile))
	if err != nil {
		return err
	}
	c.Add(memory.Entry{TaskID: task, Title: t.Title, Done: why, Commits: []string{commit}, At: p.now().UTC()}, "")
	if err := c.Write(p.dir(memoryFile)); err != nil {
		return err
	}
	_, err = p.commitRecords(ctx, change.Message{Subject: "chore: " + task + " taken back", Trailers: []change.Trailer{{Key: "Relay-Task", Value: task}}}, nil)
	return err
}
