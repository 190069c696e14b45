package tick

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/paxiom/relay/host/change"
	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/history"
	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/judge"
)

// Recover settles the runs that a crash cut off, and writes the reports that they did
// not get to write. The caller holds the workspace's lock. With force, files that
// somebody has changed since stay as they are; without it they are a Conflict.
func Recover(ctx context.Context, env *Env, force bool) ([]change.Recovery, error) {
	r := newRun(env, Options{})
	for _, row := range r.rows()[:rowsBeforeLock] {
		if row.id == "trust" {
			continue // nothing of the configuration is run
		}
		if _, err := row.look(ctx); err != nil {
			return nil, err
		}
	}
	return r.recover(ctx, force)
}

func (r *run) recover(ctx context.Context, force bool) ([]change.Recovery, error) {
	done, err := r.at().Recover(ctx, force, func(d change.Recovery) error { return r.reportCrash(ctx, d) })
	if err != nil {
		return done, err
	}
	return done, r.reportOpen(ctx)
}

// lookBack is how many of the newest runs may lack an end: the one that was cut off,
// and those of starts that did not get far.
const lookBack = 5

// reportOpen ends, in the history, runs that were cut off before they had a journal.
func (r *run) reportOpen(ctx context.Context) error {
	store := history.Open(r.ws.History())
	metas, err := store.List(lookBack)
	if err != nil {
		return err
	}
	for _, m := range metas {
		if m.Workflow == "" {
			if err := store.DropEmpty(m.RunID); err != nil {
				return err
			}
			continue
		}
		if m.Code != "" || m.RunID == r.rep.RunID || m.Workflow != history.Tick && m.Workflow != history.Undo {
			continue
		}
		if err := r.reportCrash(ctx, change.Recovery{RunID: m.RunID, Base: r.rep.BaseCommit, Did: "found nothing of it to settle"}); err != nil {
			return err
		}
	}
	return nil
}

// reportCrash writes the report of a run that was cut off before it could, unless it
// had done so already. A run whose apply a failing disk left unsettled has said so; when it
// has landed after all, that is no longer its end: undo and history would not find it.
func (r *run) reportCrash(ctx context.Context, d change.Recovery) error {
	store := history.Open(r.ws.History())
	m, err := store.Find(d.RunID)
	if err != nil || m.Code != "" && !(m.Code == judge.BlockedCrashRecovery && d.Landed) {
		return nil // it has its report
	}
	if m.Workflow == history.Undo {
		return r.env.CutOffUndo(ctx, m, d)
	}
	rep := newRun(r.env, Options{}).rep
	if len(d.Note) > 0 {
		json.Unmarshal(d.Note, rep) // the draft from before the apply
	}
	if rep.Task.TaskID == "" {
		rep.Task = report.Task{TaskID: m.TaskID, MilestoneID: m.MilestoneID, Intent: m.Intent}
	}
	rep.RunID, rep.StartedAt, rep.EndedAt = d.RunID, m.StartedAt, r.now().UTC()
	rep.DurationMS = rep.EndedAt.Sub(rep.StartedAt).Milliseconds()
	rep.BaseCommit, rep.HeadCommit = d.Base, d.Base
	if d.Landed {
		rep.Code, rep.Summary, rep.Commit = judge.Success, rep.Verification.Landed("landed after a crash"), d.Commit
		if d.Commit != "" {
			rep.HeadCommit = d.Commit
		}
	} else {
		rep.Code, rep.Summary = judge.StopInterrupted, "relay was ended in the middle of the run"
		rep.Why, rep.Next = "the next start "+d.Did, "`relay run`"
		if d.State != "" {
			rep.Why = "it was in state " + d.State + "; " + rep.Why
		}
	}
	rep.Verdict = rep.Code.Outcome()
	rep.Notes = append(rep.Notes, d.Notes...)
	r.attestCrash(ctx, rep)
	return r.writeCrash(store, rep, m)
}

func (r *run) writeCrash(store *history.Store, rep *report.Report, m history.Meta) error {
	raw, err := report.Encode(rep)
	if err != nil {
		return err
	}
	md := report.Render(rep, r.cfg.Runner.RenderReportMD.MaxChars)
	run, err := store.Reopen(m.RunID)
	if err != nil {
		return err
	}
	m.Cut = rep.Code == judge.StopInterrupted
	m.EndedAt, m.Code, m.Commit, m.BaseCommit = rep.EndedAt, rep.Code, rep.Commit, rep.BaseCommit
	m.TaskID, m.MilestoneID, m.Intent = rep.Task.TaskID, rep.Task.MilestoneID, rep.Task.Intent
	if err := workspace.WriteFile(r.ws.Report(), raw); err != nil {
		return err
	}
	if r.cfg.Runner.RenderReportMD.Enabled {
		if err := workspace.WriteFile(r.ws.ReportMD(), md); err != nil {
			return err
		}
	}
	// The end goes last: a run that has one is not reported again.
	if err := errors.Join(run.Write("report.json", raw), run.Write("report.md", md)); err != nil {
		return err
	}
	return run.End(m)
}

// settleCrash discards or finishes what an interrupted run left behind.
func (r *run) settleCrash(ctx context.Context) error {
	if _, err := r.checkJournal(ctx); err != nil {
		return err
	}
	done, err := r.recover(ctx, false)
	if err != nil {
		return err
	}
	for _, d := range done {
		if d.Conflict != "" {
			return diag.New(judge.BlockedCrashRecovery, "run "+d.RunID+" can't be settled without you", d.Conflict, "`relay recover`")
		}
		r.note("run " + d.RunID + " was interrupted: " + d.Did)
	}
	if len(done) > 0 { // an apply that was finished has moved HEAD
		_, err = r.checkGit(ctx)
	}
	return err
}
