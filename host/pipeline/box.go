package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/paxiom/relay/host/change"
	"github.com/paxiom/relay/host/fault"
	"github.com/paxiom/relay/host/internal/crew"
	"github.com/paxiom/relay/host/internal/journal"
	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/host/internal/words"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/box"
)

// changeEnv is what the change of this attempt shares with its checkout. Its journal is
// the attempt's own, so that nobody else settles it.
func (a *attempt) changeEnv(ctx context.Context) (change.Env, error) {
	e := a.p.env
	env := a.p.recordEnv(a.place)
	env.Journal = journal.Open(a.dir("journal"))
	var err error
	env.Means, err = crew.Means(ctx, e.Config, e.StateDir, a.place.Git.Root)
	a.p.keep(&env)
	return env, err
}

// keep has boxes show commits. A task's own work tree needs that, too: its git directory is
// the operator's, stashes and all.
func (p *Pipeline) keep(env *change.Env) {
	env.Keep = p.env.filtering().Keeper(env.Git, env.Means, p.env.WS.Rel())
}

// show has the providers of a step see the commit, and nothing that the operator is working
// on. With means that can't show it they see no more than their prompts.
func (a *attempt) show(ctx context.Context, at beginning) (done func(), err error) {
	env := change.Env{Git: a.place.Git}
	if env.Means, err = crew.Means(ctx, a.p.env.Config, a.p.env.StateDir, a.place.Git.Root); err != nil {
		return nil, err
	}
	if a.p.keep(&env); env.Keep == nil {
		return func() {}, nil
	}
	tree, err := env.Keep.Take(ctx, at.Base, at.Branch)
	if err != nil {
		return nil, fault.Internal(err)
	}
	a.sees = &tree.Kept
	return func() {
		a.fire(context.WithoutCancel(ctx))
		a.sees = nil
		tree.Release()
	}, nil
}

// recordEnv is changeEnv without a box.
func (p *Pipeline) recordEnv(where Place) change.Env {
	e := p.env
	return change.Env{Git: where.Git, StateDir: e.StateDir, Required: e.Config.Box.Required, Choose: crew.Chooser(e.Config, e.StateDir), Busy: []string{e.WS.Shared()}, Watch: e.WS.Kept(), Home: e.Home,
		Persist: crew.Persist(e.Config, e.Home), Hide: crew.Hide(e.Config, e.Home), Secrets: crew.Secrets(e.Config, e.Home), Owned: p.owned(), Environ: e.Environ,
		Caches: change.Cached(crew.Caches(e.Config, where.Git, e.StateDir, e.Home).Open)}
}

// records are the files, relative to the repository, that relay and the operator write
// while tasks are worked on.
func (p *Pipeline) records() []string {
	return []string{TasksFile, p.env.WS.Rel() + "/" + rootDir + "/" + memoryFile}
}

// owned are relay's own files: no builder writes them.
func (p *Pipeline) owned() []string {
	return slices.Concat(p.env.WS.OwnedGlobs(), p.env.Config.Runner.RunnerOwnedGlobs)
}

// open gives the attempt its box: the one that it had, with what was built so far, or a
// new one. landed says that the change is on the branch already.
func (a *attempt) open(ctx context.Context) (landed string, err error) {
	if a.change != nil {
		return "", nil
	}
	env, err := a.changeEnv(ctx)
	if err != nil {
		return "", err
	}
	o := a.changeOptions(a.trail.Base, a.trail.Branch)
	c, r, err := change.Resume(ctx, env, o)
	switch {
	case err != nil:
		return "", crew.BoxFault(err)
	case r != nil && r.Conflict != "":
		return "", fault.New(judge.BlockedCrashRecovery, "the change of task "+a.trail.TaskID+" was being written and can't be settled", r.Conflict,
			"`git status`, take your own change back, then `relay pipeline run`")
	case r != nil && r.Landed:
		return r.Commit, nil
	case r != nil && a.hasBuilt():
		return "", lost("what was built did not outlive the end of relay: " + r.Did)
	}
	if moved := a.moved(ctx, env.Keep != nil && !a.aside()); moved != nil {
		if c != nil {
			moved = firstOf(c.Discard(), moved)
		}
		return "", moved
	}
	if c == nil {
		if commit, err := a.landedCommit(ctx); commit != "" || err != nil {
			return commit, err
		}
		if a.hasBuilt() {
			return "", lost("its box is gone")
		}
		if c, err = change.Begin(ctx, env, o); err != nil {
			return "", crew.BoxFault(err)
		}
		a.fresh = true
	}
	a.use(c)
	return "", nil
}

// programsFile keeps what the programs of checks were before anything was built.
const programsFile = "programs.json"

func (a *attempt) changeOptions(base, branch string) change.Options {
	return change.Options{RunID: a.trail.RunID, Base: base, Branch: branch, Programs: a.dir(programsFile)}
}

// use works in a box from here on, and notes which kind it is.
func (a *attempt) use(c *change.Change) {
	b := c.Box()
	a.change, a.trail.Box = c, &report.BoxReport{Means: b.Means(), Gaps: b.Gaps()}
}

func firstOf(err, or error) error {
	if err != nil {
		return err
	}
	return or
}

// moved says that the checkout is not where the attempt began, so that its work can't
// land on it as it is. What is built on a kept commit follows its branch.
func (a *attempt) moved(ctx context.Context, kept bool) error {
	head, branch, err := a.place.Git.Head(ctx)
	if err != nil {
		return fault.Internal(err)
	}
	if kept {
		branch = a.p.branch
	}
	if branch != a.trail.Branch {
		return fault.New(judge.BlockedDirtyWorktree, "the checkout is not on the branch that the task was begun on", fmt.Sprintf("it is on %q and was on %q", branch, a.trail.Branch),
			"`git switch "+fault.Word(a.trail.Branch)+"`, then `relay pipeline run`")
	}
	if kept || head == a.trail.Base {
		return nil
	}
	if commit, err := a.landedCommit(ctx); commit != "" || err != nil {
		return err
	}
	return lost(fmt.Sprintf("%s has moved on from %.12s, on which it was built", orHead(branch), a.trail.Base))
}

func orHead(branch string) string {
	if branch == "" {
		return "HEAD"
	}
	return branch
}

// landedCommit is the last commit of this attempt on its branch; "" when there is none.
func (a *attempt) landedCommit(ctx context.Context) (string, error) {
	commits, err := ofRun(ctx, a.place.Git, a.trail.Branch, a.trail.RunID)
	if len(commits) == 0 {
		return "", err
	}
	return commits[len(commits)-1], err
}

// hasBuilt reports whether a builder was let into the box.
func (a *attempt) hasBuilt() bool { return len(a.trail.Sessions) > 0 }

// letGo leaves the change to the next process.
func (a *attempt) letGo() error {
	if a.change == nil {
		return nil
	}
	c := a.change
	a.change = nil
	return c.Leave()
}

// discard ends the change: the checkout is as it was, or as the landing left it.
func (a *attempt) discard() error {
	if a.change == nil {
		return a.p.discardLeft(context.Background(), a.trail, a.place)
	}
	c := a.change
	a.change = nil
	return c.Discard()
}

// discardLeft throws away what an attempt has left in its box.
func (p *Pipeline) discardLeft(ctx context.Context, t *Trail, where Place) error {
	env := p.recordEnv(where)
	env.Journal = journal.Open(p.dir(tasksDir, t.Attempt, "journal"))
	_, err := change.Recover(ctx, env, false)
	joining := p.recordEnv(p.place)
	joining.Journal = journal.Open(p.dir(tasksDir, t.Attempt, joinDir))
	_, jerr := change.Recover(ctx, joining, false)
	return errors.Join(err, jerr)
}

// maxPaths bounds the changed paths of a trail.
const maxPaths = 200

// look has the judge read the box. A broken rule keeps what was built aside and is the
// task's end.
func (a *attempt) look(ctx context.Context) (Judged, error) {
	law := a.policy()
	v, err := a.change.Judge(ctx, law)
	if err != nil {
		return Judged{}, crew.BoxFault(err)
	}
	j := Judged{Code: v.Code, Files: v.Radius.Files, Added: v.Radius.Added, Deleted: v.Radius.Deleted, New: v.Radius.New}
	for _, ch := range v.Kept {
		if len(j.Paths) < maxPaths {
			j.Paths = append(j.Paths, ch.Path)
		}
	}
	j.Rules = report.Hits(v, 40)
	for i, h := range j.Rules {
		j.Rules[i].Path, j.Rules[i].Rule = words.Clip(h.Path, 300), words.Clip(h.Rule, 300)
		j.Violations = append(j.Violations, words.Clip(h.String(), 300))
	}
	if v.Code == judge.Success {
		return j, nil
	}
	p := &Problem{Code: v.Code, What: "the judge stopped the change", Why: "the rule that was broken is not told", Fix: "`relay task show " + a.trail.TaskID + "` lists every broken rule"}
	if len(j.Violations) > 0 {
		p.Why = j.Violations[0]
		if n := len(j.Violations) - 1; n > 0 {
			p.Why += fmt.Sprintf(" (and %d more)", n)
		}
	}
	return j, a.reject(ctx, p)
}

// reject keeps what was built where the operator can get at it.
func (a *attempt) reject(ctx context.Context, p *Problem) *Problem {
	m := a.message()
	m.Subject = "rejected: " + a.trail.Task.Title
	kept, err := a.change.Reject(context.WithoutCancel(ctx), m)
	if err != nil {
		a.note("what was built could not be kept as a commit: " + err.Error())
		return p
	}
	a.keepPatch()
	p.Salvage = kept.Ref
	a.got.Notes = append(a.got.Notes, kept.Notes...)
	return p
}

// evidence is what speaks for the change; see report.Verification.
func (a *attempt) evidence() string { return a.lastChecks().Evidence() }

// lastChecks are the checks of the last round.
func (a *attempt) lastChecks() report.Verification {
	round := 0
	for _, c := range a.trail.Checks {
		round = max(round, c.Round)
	}
	return verification(a.trail, func(c Check) bool { return c.Round == round })
}

// verification is what checks of an attempt said.
func verification(t *Trail, which func(Check) bool) report.Verification {
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
func (a *attempt) message() change.Message {
	m := change.Message{Subject: "feat: complete " + oneLine(a.trail.Task.Title), Trailers: []change.Trailer{
		{Key: "Relay-Run", Value: a.trail.RunID}, {Key: "Relay-Task", Value: a.trail.TaskID}, {Key: "Relay-Evidence", Value: a.evidence()}}}
	if n := len(a.trail.Sessions); n > 0 {
		m.Body = append(m.Body, a.trail.Sessions[n-1].Summary)
		m.Trailers = append(m.Trailers, change.Trailer{Key: "Relay-Builder", Value: a.trail.Sessions[n-1].Builder})
	}
	return m
}
