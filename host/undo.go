package host

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/paxiom/relay/host/change"
	"github.com/paxiom/relay/host/fault"
	"github.com/paxiom/relay/host/internal/attest"
	"github.com/paxiom/relay/host/internal/buildcache"
	"github.com/paxiom/relay/host/internal/crew"
	"github.com/paxiom/relay/host/internal/history"
	"github.com/paxiom/relay/host/internal/journal"
	"github.com/paxiom/relay/host/internal/lock"
	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/host/pipeline"
	"github.com/paxiom/relay/judge"
)

// Undo takes a landed change back with a new commit; "" means the last landed run. With dry
// it only says what it would do, or why it can't.
func (r *Repo) Undo(ctx context.Context, run string, dry bool) (*UndoResult, error) {
	o, err := r.open()
	if err != nil {
		return nil, err
	}
	m, err := o.landed(run)
	if err != nil {
		return nil, err
	}
	env, err := r.changeEnv(ctx, o)
	if err != nil {
		return nil, err
	}
	if dry {
		paths, err := change.Undoable(ctx, env, m.BaseCommit, m.Commit)
		if err != nil {
			return nil, fault.Internal(err)
		}
		return &UndoResult{Doc: Doc{"relay.undo", 1}, RunID: m.RunID, Undone: m.Commit, Paths: paths}, nil
	}
	release, err := o.lock("relay undo")
	if err != nil {
		return nil, err
	}
	defer release()
	own := history.Meta{RunID: history.NewRunID(time.Now()), Workflow: history.Undo, StartedAt: time.Now().UTC(), Version: r.opts.Version,
		Undoes: m.RunID, TaskID: m.TaskID, MilestoneID: m.MilestoneID, Intent: "Undo: " + m.Intent, Code: judge.Success}
	u, err := change.Undo(ctx, env, own.RunID, m.BaseCommit, m.Commit, change.Message{
		Subject:  own.Intent,
		Body:     []string{fmt.Sprintf("Takes back commit %s, which run %s had landed.", m.Commit, m.RunID)},
		Trailers: []change.Trailer{{Key: "Relay-Run", Value: own.RunID}, {Key: "Relay-Undoes", Value: m.RunID}, {Key: "Relay-Task", Value: m.TaskID}}})
	if err != nil {
		return nil, fault.Internal(err)
	}
	own.BaseCommit, own.Commit = u.Base, u.Commit
	if problem := r.attestUndo(ctx, o, env.Git, own); problem != "" {
		u.Notes = append(u.Notes, problem)
	}
	if err := buildcache.Forget(crew.CachesIn(r.stateDir()), env.Git); err != nil { // what it had added goes with it
		u.Notes = append(u.Notes, "the caches of checks could not be emptied: "+err.Error())
	}
	if m.Workflow == history.Task {
		if err := r.takenBack(ctx, m.TaskID, u.Commit); err != nil {
			u.Notes = append(u.Notes, pipeline.TasksFile+" still says that "+m.TaskID+" is completed: "+err.Error())
		}
	}
	rep := report.Report{Summary: "the change of run " + m.RunID + " was taken back", Notes: u.Notes,
		Task:  report.Task{TaskID: m.TaskID, MilestoneID: m.MilestoneID},
		Scope: report.Scope{TouchedPaths: u.Paths}, BlastRadius: o.back(m, u.Paths)}
	if note := o.record(own, rep); note != "" {
		u.Notes = append(u.Notes, note)
	}
	return &UndoResult{Doc: Doc{"relay.undo", 1}, RunID: m.RunID, Undone: m.Commit, Commit: u.Commit, Paths: u.Paths, Notes: u.Notes}, nil
}

// attestUndo says of the commit that takes another one back who made it, and that nobody has
// judged it.
func (r *Repo) attestUndo(ctx context.Context, o *opened, git *judge.Git, m history.Meta) string {
	out, err := git.Run(ctx, nil, "rev-parse", "--verify", m.Commit+"^")
	if err != nil {
		return "the commit has no attestation: " + err.Error()
	}
	return attest.Attach(ctx, attest.Options{Git: git, StateDir: r.stateDir(), Home: r.home(), Environ: r.opts.Env, Sign: o.loaded.Config.Evidence.Sign, Version: r.opts.Version, Now: r.now()},
		attest.Facts{Workflow: history.Undo, Run: m.RunID, TaskID: m.TaskID, Base: strings.TrimSpace(string(out)), Commit: m.Commit, Code: judge.Success,
			Evidence: "landed by relay undo of run " + m.Undoes + ": not judged, not verified", Unknown: []string{"whether the checks pass without what was taken back: none ran"}})
}

// back is the size of a change that takes another one back: what that added, this deletes.
func (o *opened) back(m history.Meta, paths []string) report.BlastRadius {
	size := report.BlastRadius{FilesTouched: len(paths)}
	if was, err := readReport(o.hist.Path(m.RunID, "report.json")); err == nil && was != nil {
		size.LinesAdded, size.LinesDeleted = was.BlastRadius.LinesDeleted, was.BlastRadius.LinesAdded
	}
	return size
}

// takenBack has the task list say that a task's change was taken back.
func (r *Repo) takenBack(ctx context.Context, task, commit string) error {
	env, _, err := r.pipelineEnv(nil)
	if err != nil {
		return err
	}
	return pipeline.TakenBack(ctx, env, task, commit)
}

// lookBack is how many landed runs are looked at for the one that landed last: tasks that
// are worked on side by side need not land in the order in which they began.
const lookBack = 50

// landed finds a run that has a commit; "" means the one that ended last.
func (o *opened) landed(run string) (history.Meta, error) {
	if run != "" {
		m, err := o.find(run)
		if err == nil && m.Commit == "" {
			err = fault.New("", "run "+m.RunID+" made no commit, so there is nothing to undo",
				"it was stopped, changed nothing, or left its change uncommitted (commit.on_success is false)", "`relay show "+m.RunID+"`")
		}
		if err != nil {
			return m, err
		}
		by, err := o.undoneBy(m.RunID)
		if by != "" {
			err = fault.New("", "run "+m.RunID+" is undone already", "run "+by+" took it back", "`relay undo "+by+"` brings the change back")
		}
		return m, err
	}
	if rep := o.unkept(""); rep != nil && rep.Commit != "" {
		return metaOf(rep), nil
	}
	all, err := o.hist.All()
	if err != nil {
		return history.Meta{}, err
	}
	undone := map[string]bool{}
	var last history.Meta
	n := 0
	for m := range all { // newest first
		if m.Undoes != "" && !undone[m.RunID] {
			undone[m.Undoes] = true
		}
		if m.Commit == "" || m.Undoes != "" || undone[m.RunID] {
			continue
		}
		if last.RunID == "" || m.EndedAt.After(last.EndedAt) {
			last = m
		}
		if n++; n == lookBack {
			break
		}
	}
	if last.RunID != "" {
		return last, nil
	}
	return history.Meta{}, fault.New("", "there is nothing to undo", "no run in the history has landed a commit that was not taken back since", "`relay history list`")
}

// undoneBy is the run that took a run back, and was not taken back itself; "" is none.
func (o *opened) undoneBy(run string) (string, error) {
	all, err := o.hist.All()
	if err != nil {
		return "", err
	}
	by := map[string]string{}
	for m := range all { // newest first
		if m.Undoes != "" && by[m.RunID] == "" {
			by[m.Undoes] = m.RunID
		}
		if m.RunID == run {
			break
		}
	}
	return by[run], nil
}

// lock takes the workspace's lock for a command.
func (o *opened) lock(command string) (release func() error, err error) {
	if err := o.ws.Ensure(); err != nil {
		return nil, err
	}
	l, _, err := lock.Acquire(o.ws.Lock(), command)
	if err != nil {
		return nil, err
	}
	return func() error {
		err := l.Release()
		_ = o.ws.Publish() // old copies harm nothing
		return err
	}, nil
}

// changeEnv is what changes of this repository share.
func (r *Repo) changeEnv(ctx context.Context, o *opened) (change.Env, error) {
	git, err := judge.OpenGit(ctx, o.root)
	if err != nil {
		return change.Env{}, fault.Git(err)
	}
	return change.Env{Git: git, StateDir: r.stateDir(), Choose: crew.Chooser(o.loaded.Config, r.stateDir()), Journal: journal.Open(o.ws.Journal()), Home: r.home(),
		Owned: append(o.ws.OwnedGlobs(), o.loaded.Config.Runner.RunnerOwnedGlobs...), Environ: r.opts.Env}, nil
}
