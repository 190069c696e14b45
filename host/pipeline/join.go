package pipeline

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/paxiom/relay/host/change"
	"github.com/paxiom/relay/host/durable"
	"github.com/paxiom/relay/host/fault"
	"github.com/paxiom/relay/host/internal/crew"
	"github.com/paxiom/relay/host/internal/journal"
	"github.com/paxiom/relay/judge"
)

// joinDir is the journal of an attempt's way onto the operator's branch.
const joinDir = "join"

// joined is what came of bringing a task's commits onto the operator's branch.
type joined struct {
	Commits []string `json:"commits,omitempty"` // there, the oldest first
	Check   *Check   `json:"check,omitempty"`
	// Conflict says what does not go together.
	Conflict string `json:"conflict,omitempty"`
}

// aside says that the attempt works in a work tree of its own.
func (a *attempt) aside() bool { return a.trail.Branch == sideBranch(a.trail.TaskID) }

// join brings what was built in a work tree of its own onto the operator's branch: made
// again on top of what landed meanwhile, and judged and validated once more there. What
// does not go together is built anew once with that in mind; then the operator is asked.
func (a *attempt) join(f durable.Flow) error {
	if err := a.keep(f, "set-aside"); err != nil {
		return err
	}
	j, err := do(a, f, "join", a.merge)
	if err != nil {
		return err
	}
	if j.Check != nil {
		a.trail.Checks = append(a.trail.Checks, *j.Check)
	}
	if j.Conflict == "" {
		if n := len(j.Commits); n > 0 {
			a.trail.Commits, a.trail.Commit = j.Commits, j.Commits[n-1]
		}
		a.leave(landedLine(j.Commits))
		return nil
	}
	a.trail.Conflict = j.Conflict
	what := firstLine(j.Conflict)
	a.left(what, true)
	if before, err := a.before(); err != nil || before == nil || before.Conflict == "" {
		return firstOf(err, lost(what))
	}
	d, err := a.consult(f, Question{Name: "conflict", Kind: "conflict", Text: "it did not go together with what landed meanwhile, twice: " + oneLine(what) + ". Build it once more?"})
	if err != nil {
		return err
	}
	a.trail.Decisions = append(a.trail.Decisions, d)
	if d.Yes {
		return lost("you asked for another attempt")
	}
	return &Problem{Code: judge.StopHeadMoved, What: "what was built does not go together with what landed meanwhile", Why: what, Salvage: change.KeptRef(a.trail.RunID),
		Fix: "`relay task retry " + a.trail.TaskID + "` when nothing else is under way"}
}

// merge is the step of join. One task after the other has it.
func (a *attempt) merge(ctx context.Context, at durable.Attempt) (joined, error) {
	p := a.p
	p.turn.Lock()
	defer p.turn.Unlock()
	env := p.recordEnv(p.place)
	env.Journal = journal.Open(a.dir(joinDir))
	var err error
	if env.Means, err = crew.Means(ctx, p.env.Config, p.env.StateDir, p.place.Git.Root); err != nil {
		return joined{}, err
	}
	if at.Again { // what was cut off is settled: see settleJoin
		if there, err := p.ofRun(ctx, a.trail.RunID); len(there) > 0 || err != nil {
			return joined{Commits: there}, err
		}
	}
	if err := p.tidy(ctx, p.place); err != nil {
		return joined{}, err
	}
	tip, branch, err := p.place.Git.Head(ctx)
	if err != nil {
		return joined{}, fault.Internal(err)
	}
	onto, err := change.Begin(env, change.Options{RunID: a.trail.RunID, Base: tip, Branch: branch})
	if err != nil {
		return joined{}, crew.BoxFault(err)
	}
	a.use(onto)
	journal.Reached("pipeline.joining")
	j, err := a.mergeInBox(ctx, tip)
	a.change = nil
	return j, errors.Join(err, onto.Discard())
}

// settleJoin settles a way onto the operator's branch that was cut off, before anything
// else is written there.
func (p *Pipeline) settleJoin(ctx context.Context, t *Trail) error {
	env := p.recordEnv(p.place)
	env.Journal = journal.Open(p.dir(tasksDir, t.Attempt, joinDir))
	all, err := change.Recover(ctx, env, false)
	for _, r := range all {
		if r.Conflict != "" && err == nil {
			err = fault.New(judge.BlockedCrashRecovery, "the change of task "+t.TaskID+" was being written and can't be settled", r.Conflict, "`git status`, take your own change back, then `relay pipeline run`")
		}
	}
	return err
}

// mergeInBox makes the commits again on top of the tip, judges them, tries them where that is not where they
// were built, and lands them.
func (a *attempt) mergeInBox(ctx context.Context, tip string) (j joined, err error) {
	why, err := a.change.Replay(ctx, a.trail.Base, a.trail.Kept)
	if err != nil {
		return j, crew.BoxFault(err)
	}
	if why != "" {
		j.Conflict = fmt.Sprintf("on top of %.12s it meets %s", tip, head(why, maxConflict))
		return j, nil
	}
	journal.Reached("pipeline.replayed")
	if _, err := a.look(ctx); err != nil {
		return j, err
	}
	if argv := a.trail.Task.Validation.Command; len(argv) > 0 && tip != a.trail.Base {
		check, text, err := a.try(ctx, "join", argv)
		if err != nil {
			return j, err
		}
		if j.Check = &check; !check.OK {
			j.Conflict = fmt.Sprintf("the validation command fails on top of %.12s: %s\n%s", tip, check.Outcome, tail(text, maxConflict))
			return j, nil
		}
	}
	a.keepPatch()
	landed, err := a.change.Land(ctx, change.Landing{Message: a.message(), Commit: true, Note: a.trail.Attempt})
	if err != nil {
		if f, ok := fault.As(err); ok && f.Code == judge.StopHeadMoved {
			return j, lost("it could not land: " + f.Why)
		}
		return j, crew.BoxFault(err)
	}
	a.got.Notes = append(a.got.Notes, landed.Notes...)
	j.Commits, err = commitsOf(ctx, a.p.place.Git, tip, landed.Commit)
	return j, err
}

// maxConflict bounds what a task is told of a conflict, in bytes.
const maxConflict = 8000

// head keeps the beginning of a text.
func head(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "\n[…]"
}

// ofRun are the commits of a run on the operator's branch, the oldest first.
func (p *Pipeline) ofRun(ctx context.Context, run string) ([]string, error) {
	const far = "-500"
	out, err := p.place.Git.Run(ctx, nil, "log", far, "--no-show-signature", "--format=%H %(trailers:key=Relay-Run,valueonly,separator=%x2C)")
	if err != nil {
		return nil, fault.Internal(err)
	}
	var commits []string
	for line := range strings.Lines(string(out)) {
		if commit, of, _ := strings.Cut(strings.TrimSpace(line), " "); of == run {
			commits = append([]string{commit}, commits...)
		}
	}
	return commits, nil
}

func commitsOf(ctx context.Context, git *judge.Git, base, commit string) ([]string, error) {
	out, err := git.Run(ctx, nil, "rev-list", "--reverse", base+".."+commit)
	if err != nil {
		return nil, fault.Internal(err)
	}
	return strings.Fields(string(out)), nil
}
