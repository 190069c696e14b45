package host

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/paxiom/relay/host/change"
	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/attest"
	"github.com/paxiom/relay/host/internal/buildcache"
	"github.com/paxiom/relay/host/internal/history"
	"github.com/paxiom/relay/host/internal/pluginenv"
	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/host/pipeline"
	"github.com/paxiom/relay/host/tick"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/git"
)

// Undo takes a landed change back with a new commit; "" means the last landed run. With dry
// it only says what it would do, or why it can't.
func (r *Repo) Undo(ctx context.Context, run string, dry bool) (*UndoResult, error) {
	o, err := r.Open()
	if err != nil {
		return nil, err
	}
	env, err := r.ChangeEnv(ctx, o)
	if err != nil {
		return nil, err
	}
	m, err := o.landed(run)
	if err != nil && (run == "" || history.ValidRunID(run)) { // the history may have been pruned since
		if m, err = inCommits(ctx, env.Git, run, err); err != nil {
			return nil, err
		}
	} else if err != nil {
		return nil, err
	}
	if dry {
		paths, err := change.Undoable(ctx, env, m.BaseCommit, m.Commit)
		if err != nil {
			return nil, diag.Internal(err)
		}
		return &UndoResult{Doc: DocOf("relay.undo", 1), RunID: m.RunID, Undone: m.Commit, Paths: paths}, nil
	}
	release, err := o.Lock("relay undo")
	if err != nil {
		return nil, err
	}
	defer release()
	own := history.Meta{RunID: history.NewRunID(time.Now()), Workflow: history.Undo, StartedAt: time.Now().UTC(), Version: r.Options.Version,
		Undoes: m.RunID, TaskID: m.TaskID, MilestoneID: m.MilestoneID, Intent: "Undo: " + m.Intent, Code: judge.Success}
	drop, err := o.begin(own)
	if err != nil {
		return nil, err
	}
	res := &UndoResult{Doc: DocOf("relay.undo", 1), RunID: m.RunID, Undone: m.Commit}
	err = change.Undo(ctx, env, own.RunID, m.BaseCommit, m.Commit, change.Message{
		Subject:  own.Intent,
		Body:     []string{fmt.Sprintf("Takes back commit %s, which run %s had landed.", m.Commit, m.RunID)},
		Trailers: []change.Trailer{{Key: "Relay-Run", Value: own.RunID}, {Key: "Relay-Undoes", Value: m.RunID}, {Key: "Relay-Task", Value: m.TaskID}}},
		func(u change.Undone) error {
			own.BaseCommit, own.Commit = u.Base, u.Commit
			notes, err := r.undid(ctx, o, env.Git, own, m, u.Paths, u.Notes)
			res.Commit, res.Paths, res.Notes = u.Commit, u.Paths, append(u.Notes, notes...)
			return err
		})
	switch {
	case res.Commit != "" && err != nil: // it is there, and so is what is known of it
		res.Notes = append(res.Notes, err.Error())
	case err != nil:
		if f := diag.Internal(err); f.Code != judge.BlockedCrashRecovery {
			return nil, errors.Join(f, drop())
		}
		return nil, err
	}
	return res, nil
}

// undid says everywhere that a run was taken back: in an attestation, which says that nobody has
// judged it, in the caches of checks, the task list and the history. What could not be said is in
// the notes; without its line in the history the undo is not over.
func (r *Repo) undid(ctx context.Context, o *Opened, git *git.Repo, own, m history.Meta, paths, known []string) (notes []string, err error) {
	problem := attest.Attach(ctx, attest.Options{Git: git, StateDir: r.StateDir(), Home: r.Home(), Environ: r.Options.Env, Sign: o.Loaded.Config.Evidence.Sign, Version: r.Options.Version, Now: r.Now()},
		attest.Facts{Workflow: history.Undo, Run: own.RunID, TaskID: own.TaskID, Base: own.BaseCommit, Commit: own.Commit, Code: judge.Success,
			Evidence: "landed by relay undo of run " + own.Undoes + ": not judged, not verified", Unknown: []string{"whether the checks pass without what was taken back: none ran"}})
	if problem != "" {
		notes = append(notes, problem)
	}
	if err := buildcache.Forget(pluginenv.CachesIn(r.StateDir()), git); err != nil { // what it had added goes with it
		notes = append(notes, "the caches of checks could not be emptied: "+err.Error())
	}
	if m.Workflow == history.Task {
		if err := r.takenBack(ctx, m.TaskID, own.Commit); err != nil {
			notes = append(notes, pipeline.TasksFile+" still says that "+m.TaskID+" is completed: "+err.Error())
		}
	}
	rep := report.Report{Summary: "the change of run " + m.RunID + " was taken back", Notes: append(known, notes...),
		Task:  report.Task{TaskID: m.TaskID, MilestoneID: m.MilestoneID},
		Scope: report.Scope{TouchedPaths: paths}, BlastRadius: o.back(m, paths)}
	return notes, o.record(own, rep)
}

// cutOffUndo ends an undo that a crash cut off: as Undo does where its commit is there, and
// otherwise as if nobody had asked for it.
func (r *Repo) cutOffUndo(ctx context.Context, own history.Meta, d change.Recovery) error {
	o, err := r.Open()
	if err != nil {
		return err
	}
	run, err := o.History.Reopen(own.RunID)
	if err != nil {
		return err
	}
	if !d.Landed {
		return run.Drop()
	}
	m, err := o.History.Find(own.Undoes)
	if err != nil {
		m = history.Meta{RunID: own.Undoes, TaskID: own.TaskID} // it was pruned since
	}
	git, err := git.Open(ctx, o.Root)
	if err != nil {
		return err
	}
	names, err := git.Run(ctx, nil, "diff-tree", "-r", "-z", "--name-only", "--no-renames", d.Base, d.Commit)
	if err != nil {
		return err
	}
	own.BaseCommit, own.Commit, own.Code = d.Base, d.Commit, judge.Success
	_, err = r.undid(ctx, o, git, own, m, strings.FieldsFunc(string(names), func(c rune) bool { return c == 0 }), append(d.Notes, "relay was ended before it could say so"))
	return err
}

// tickEnvOfRun is what ticks need that begin or settle something, an undo that was cut off included.
func (r *Repo) tickEnvOfRun(obs Observer) (*tick.Env, error) {
	env, err := r.tickEnv(obs)
	env.CutOffUndo = func(ctx context.Context, own history.Meta, d change.Recovery) error { return r.cutOffUndo(ctx, own, d) }
	return env, err
}

// back is the size of a change that takes another one back: what that added, this deletes.
func (o *Opened) back(m history.Meta, paths []string) report.BlastRadius {
	size := report.BlastRadius{FilesTouched: len(paths)}
	if was, err := ReadReport(o.History.Path(m.RunID, "report.json")); err == nil && was != nil {
		size.LinesAdded, size.LinesDeleted = was.BlastRadius.LinesDeleted, was.BlastRadius.LinesAdded
	}
	return size
}

// takenBack has the task list say that a task's change was taken back.
func (r *Repo) takenBack(ctx context.Context, task, commit string) error {
	env, _, err := r.PipelineEnv(nil)
	if err != nil {
		return err
	}
	return pipeline.TakenBack(ctx, env, task, commit)
}

// lookBack is how many landed runs are looked at for the one that landed last: tasks that
// are worked on side by side need not land in the order in which they began.
const lookBack = 50

// landed finds a run that has a commit; "" means the one that ended last.
func (o *Opened) landed(run string) (history.Meta, error) {
	if run != "" {
		m, err := o.find(run)
		if err == nil && m.Commit == "" {
			err = diag.New("", "run "+m.RunID+" made no commit, so there is nothing to undo",
				"it was stopped, changed nothing, or left its change uncommitted (commit.on_success is false)", "`relay show "+m.RunID+"`")
		}
		if err != nil {
			return m, err
		}
		by, err := o.undoneBy(m.RunID)
		if by != "" {
			err = diag.New("", "run "+m.RunID+" has already been undone", "run "+by+" took it back", "`relay undo "+by+"` brings the change back")
		}
		return m, err
	}
	all, err := o.History.All()
	if err != nil {
		return history.Meta{}, err
	}
	undone := map[string]bool{}
	var last history.Meta
	n := 0
	for m := range all { // newest first
		if m.Commit == "" {
			continue
		}
		if m.Undoes != "" && !undone[m.RunID] {
			undone[m.Undoes] = true
		}
		if m.Undoes != "" || undone[m.RunID] {
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
	return history.Meta{}, diag.New("", "there is nothing to undo", "no run in the history has landed a commit that has not been reverted since", "`relay history list`")
}

// inCommits finds a run that landed by the trailers of its commits, the newest 2,000 of HEAD; "" means the
// newest that nothing took back. Where there is none, the error is the one given: what the history says.
func inCommits(ctx context.Context, git *git.Repo, run string, none error) (history.Meta, error) {
	const trailer = "%(trailers:key=Relay-{},valueonly,separator=%x2C)%x00"
	format := "%H%x00%P%x00%s%x00"
	for _, key := range []string{"Run", "Task", "Undoes"} {
		format += strings.Replace(trailer, "{}", key, 1)
	}
	out, err := git.Run(ctx, nil, "log", "-2000", "--no-show-signature", "--format="+format)
	if err != nil {
		return history.Meta{}, none // no commit yet
	}
	var found history.Meta
	undone := map[string]bool{}
	for line := range strings.Lines(string(out)) { // newest first
		f := strings.Split(line, "\x00")
		if len(f) != 7 || !history.ValidRunID(f[3]) || f[4] == "" {
			continue
		}
		id, parents := f[3], strings.Fields(f[1])
		if f[5] != "" && !undone[id] {
			undone[f[5]] = true
		}
		wanted := id == run || run == "" && f[5] == "" && !undone[id]
		switch {
		case len(parents) != 1:
		case found.RunID == "" && wanted && undone[id]:
			return found, diag.New("", "run "+id+" has already been undone", "a later commit reverted it", "`git log --grep=\"Relay-Undoes: "+id+"\"` shows it")
		case found.RunID == "" && wanted:
			found = history.Meta{RunID: id, TaskID: f[4], Intent: f[2], Commit: f[0], BaseCommit: parents[0]}
		case found.RunID == id: // of several commits that it kept
			found.BaseCommit = parents[0]
		}
	}
	if found.RunID == "" {
		return found, none
	}
	return found, nil
}

// undoneBy is the run that took a run back, and was not taken back itself; "" is none.
func (o *Opened) undoneBy(run string) (string, error) {
	all, err := o.History.All()
	if err != nil {
		return "", err
	}
	by := map[string]string{}
	for m := range all { // newest first
		if m.Undoes != "" && m.Commit != "" && by[m.RunID] == "" {
			by[m.Undoes] = m.RunID
		}
		if m.RunID == run {
			break
		}
	}
	return by[run], nil
}

// UndoResult is the commit that took a landed change back.
type UndoResult struct {
	Doc
	RunID  string   `json:"run_id"`
	Undone string   `json:"undone"` // the commit that was taken back
	Commit string   `json:"commit"` // the new commit; "" when nothing was done
	Paths  []string `json:"paths"`  // that were reverted
	Notes  []string `json:"notes,omitempty"`
}
