package pipeline

import (
	"context"
	"errors"
	"fmt"

	"github.com/paxiom/relay/host/attempt"
	"github.com/paxiom/relay/host/change"
	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/format"
	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/box"
	"github.com/paxiom/relay/judge/git"
)

// in is where changes of a checkout are made. Each attempt has a journal of its own, so that
// nobody else settles it.
func (p *Pipeline) in(where *git.Repo, journal string) attempt.Env {
	at := p.env.at(where)
	at.Journal, at.Now = journal, p.now
	return at
}

// show has the providers of a step see the commit, and nothing that the operator is working
// on. With means that can't show it they see no more than their prompts.
func (a *taskRun) show(ctx context.Context, at beginning) (done func(), err error) {
	env, err := a.At.Boxes(ctx)
	if err != nil {
		return nil, err
	}
	if env.Keep == nil {
		return func() {}, nil
	}
	tree, err := env.Keep.Take(ctx, at.Base, at.Branch)
	if err != nil {
		return nil, diag.Internal(err)
	}
	a.sees = &tree.Kept
	return func() {
		a.fire(context.WithoutCancel(ctx))
		a.sees = nil
		tree.Release()
	}, nil
}

// records are the files, relative to the repository, that relay and the operator write
// while tasks are worked on.
func (p *Pipeline) records() []string {
	return []string{TasksFile, p.env.WS.Rel() + "/" + rootDir + "/" + memoryFile}
}

// open gives the attempt its box: the one that it had, with what was built so far, or a
// new one. landed says that the change is on the branch already.
func (a *taskRun) open(ctx context.Context) (landed string, err error) {
	if a.Change != nil {
		return "", nil
	}
	env, err := a.At.Boxes(ctx)
	if err != nil {
		return "", err
	}
	o := a.changeOptions(a.record.Base, a.record.Branch)
	r, err := a.Resume(ctx, o)
	switch {
	case err != nil:
		return "", err
	case r != nil && r.Conflict != "":
		return "", diag.New(judge.BlockedCrashRecovery, "the change of task "+a.record.TaskID+" was being written and can't be settled", r.Conflict,
			"`git status`, take your own change back, then `relay pipeline run`")
	case r != nil && r.Landed:
		return r.Commit, nil
	case r != nil && a.hasBuilt():
		return "", lost("what was built did not outlive the end of relay: " + r.Did)
	}
	if moved := a.moved(ctx, env.Keep != nil && !a.aside()); moved != nil {
		return "", firstOf(a.Discard(), moved)
	}
	if a.Change == nil {
		if commit, err := a.landedCommit(ctx); commit != "" || err != nil {
			return commit, err
		}
		if a.hasBuilt() {
			return "", lost("its box is gone")
		}
		if err = a.Begin(ctx, o); err != nil {
			return "", err
		}
		a.fresh = true
	}
	a.noteBox()
	return "", nil
}

// programsFile keeps what the programs of checks were before anything was built.
const programsFile = "programs.json"

func (a *taskRun) changeOptions(base, branch string) change.Options {
	a.Programs = a.dir(programsFile)
	return change.Options{RunID: a.record.RunID, Base: base, Branch: branch}
}

// noteBox notes which kind of box it is.
func (a *taskRun) noteBox() {
	b := a.Change.Box()
	a.record.Box = &report.BoxReport{Means: b.Means(), Gaps: b.Gaps()}
}

func firstOf(err, or error) error {
	if err != nil {
		return err
	}
	return or
}

// moved says that the checkout is not where the attempt began, so that its work can't
// land on it as it is. What is built on a kept commit follows its branch.
func (a *taskRun) moved(ctx context.Context, kept bool) error {
	head, branch, err := a.At.Git.Head(ctx)
	if err != nil {
		return diag.Internal(err)
	}
	if kept {
		branch = a.p.branch
	}
	if branch != a.record.Branch {
		return diag.New(judge.BlockedDirtyWorktree, "the checkout is not on the branch that the task was started on", fmt.Sprintf("it is on %q and was on %q", branch, a.record.Branch),
			"`git switch "+diag.Word(a.record.Branch)+"`, then `relay pipeline run`")
	}
	if kept || head == a.record.Base {
		return nil
	}
	if commit, err := a.landedCommit(ctx); commit != "" || err != nil {
		return err
	}
	return lost(fmt.Sprintf("%s has moved on from %.12s, on which it was built", orHead(branch), a.record.Base))
}

func orHead(branch string) string {
	if branch == "" {
		return "HEAD"
	}
	return branch
}

// landedCommit is the last commit of this attempt on its branch; "" when there is none.
func (a *taskRun) landedCommit(ctx context.Context) (string, error) {
	commits, err := ofRun(ctx, a.At.Git, a.record.Branch, a.record.RunID)
	if len(commits) == 0 {
		return "", err
	}
	return commits[len(commits)-1], err
}

// hasBuilt reports whether a builder was let into the box.
func (a *taskRun) hasBuilt() bool { return len(a.record.Sessions) > 0 }

// throwAway ends the change: the checkout is as it was, or as the landing left it.
func (a *taskRun) throwAway() error {
	if a.Change == nil {
		return a.p.discardLeft(context.Background(), a.record, a.At.Git)
	}
	return a.Discard()
}

// discardLeft throws away what an attempt has left in its box.
func (p *Pipeline) discardLeft(ctx context.Context, t *Record, where *git.Repo) error {
	_, err := p.in(where, p.dir(tasksDir, t.Attempt, journalDir)).Recover(ctx, false, nil)
	_, jerr := p.in(p.place, p.dir(tasksDir, t.Attempt, joinDir)).Recover(ctx, false, nil)
	return errors.Join(err, jerr)
}

// maxPaths bounds the changed paths of a trail.
const maxPaths = 200

// look has the judge read the box. A broken rule keeps what was built aside and is the
// task's end.
func (a *taskRun) look(ctx context.Context) (Judged, error) {
	v, err := a.Judge(ctx)
	if err != nil {
		return Judged{}, err
	}
	j := Judged{Code: v.Code, Files: v.Radius.Files, Added: v.Radius.Added, Deleted: v.Radius.Deleted, New: v.Radius.New}
	for _, ch := range v.Kept {
		if len(j.Paths) < maxPaths {
			j.Paths = append(j.Paths, ch.Path)
		}
	}
	j.Rules = report.Hits(v, 40)
	for i, h := range j.Rules {
		j.Rules[i].Path, j.Rules[i].Rule = format.Clip(h.Path, 300), format.Clip(h.Rule, 300)
		j.Violations = append(j.Violations, format.Clip(h.String(), 300))
	}
	if v.Code == judge.Success {
		return j, nil
	}
	p := &Problem{Code: v.Code, What: "the judge stopped the change", Why: "the broken rule is not disclosed", Fix: "`relay task show " + a.record.TaskID + "` lists every broken rule"}
	if len(j.Violations) > 0 {
		p.Why = j.Violations[0]
		if n := len(j.Violations) - 1; n > 0 {
			p.Why += fmt.Sprintf(" (and %d more)", n)
		}
	}
	return j, a.reject(ctx, p)
}

// reject keeps what was built where the operator can get at it.
func (a *taskRun) reject(ctx context.Context, p *Problem) *Problem {
	m := a.message()
	m.Subject = "rejected: " + a.record.Task.Title
	ref, notes := a.Reject(ctx, m)
	if ref != "" {
		a.keepPatch()
		p.Salvage = ref
	}
	a.got.Notes = append(a.got.Notes, notes...)
	return p
}

// evidence is what speaks for the change; see report.Verification.
func (a *taskRun) evidence() string { return a.lastChecks().Evidence() }

// lastChecks are the checks of the last round.
func (a *taskRun) lastChecks() report.Verification {
	round := 0
	for _, c := range a.record.Checks {
		round = max(round, c.Round)
	}
	return verification(a.record, func(c Check) bool { return c.Round == round })
}

// verification is what checks of an attempt said.
func verification(t *Record, which func(Check) bool) report.Verification {
	v := report.Verification{Runs: []report.VerifyRun{}, Beside: t.Box != nil && !box.AtOwnPath(t.Box.Means)}
	for _, c := range t.Checks {
		switch {
		case !which(c):
		case c.Hidden != "":
			v.Hidden, v.Seed = c.Hidden, c.Seed
		default:
			v.Runs = append(v.Runs, report.VerifyRun{TemplateID: "validation", Phase: "slow", Cmd: c.Command[0], Args: append([]string{}, c.Command[1:]...),
				ExitCode: c.ExitCode, DurationMS: c.MS, TimedOut: c.TimedOut, Tests: c.Tests})
		}
	}
	return v
}

// message is that of the commit which closes the task.
func (a *taskRun) message() change.Message {
	m := change.Message{Subject: "feat: complete " + oneLine(a.record.Task.Title), Trailers: []change.Trailer{
		{Key: "Relay-Run", Value: a.record.RunID}, {Key: "Relay-Task", Value: a.record.TaskID}, {Key: "Relay-Evidence", Value: a.evidence()}}}
	if n := len(a.record.Sessions); n > 0 {
		m.Body = append(m.Body, a.record.Sessions[n-1].Summary)
		m.Trailers = append(m.Trailers, change.Trailer{Key: "Relay-Builder", Value: a.record.Sessions[n-1].Builder})
	}
	return m
}
