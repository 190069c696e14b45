package pipeline

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/paxiom/relay/host/change"
	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/durable"
	"github.com/paxiom/relay/host/internal/journal"
	"github.com/paxiom/relay/host/internal/pluginenv"
	"github.com/paxiom/relay/judge"
)

// Each attempt has two journals: of what is built, and of its way onto the operator's branch.
const (
	journalDir = "journal"
	joinDir    = "join"
)

// joined is what came of bringing a task's commits onto the operator's branch.
type joined struct {
	Commits []string `json:"commits,omitempty"` // there, the oldest first
	Check   *Check   `json:"check,omitempty"`
	Hidden  *Check   `json:"hidden,omitempty"`
	// Conflict says what does not go together.
	Conflict string `json:"conflict,omitempty"`
	// Held says what of the operator's is in the way.
	Held string `json:"held,omitempty"`
}

// aside says that the attempt works in a work tree of its own.
func (a *taskRun) aside() bool { return a.record.Branch == sideBranch(a.record.TaskID) }

// joinKept brings what was built in a work tree of its own, or on another machine, onto the
// operator's branch: made again on top of what landed meanwhile, and judged and validated once
// more there. What does not go together is rebuilt once with that in mind; then the operator is
// asked.
func (a *taskRun) joinKept(f durable.Flow) error {
	j, err := do(a, f, "join", a.merge)
	for n := 2; err == nil && j.Held != ""; n++ {
		a.left(j.Held, true)
		if err = a.makeRoom(f, nth("in-the-way", n-1), j.Held); err == nil {
			j, err = do(a, f, nth("join", n), a.merge)
		}
	}
	if err != nil {
		return err
	}
	for _, c := range []*Check{j.Check, j.Hidden} {
		if c != nil {
			a.record.Checks = append(a.record.Checks, *c)
		}
	}
	if j.Conflict == "" {
		if n := len(j.Commits); n > 0 {
			a.record.Commits, a.record.Commit = j.Commits, j.Commits[n-1]
		}
		a.leave(landedLine(j.Commits))
		return nil
	}
	a.record.Conflict = j.Conflict
	what := firstLine(j.Conflict)
	a.left(what, true)
	if before, err := a.before(); err != nil || before == nil || before.Conflict == "" {
		return firstOf(err, lost(what))
	}
	d, err := a.consult(f, Question{Name: "conflict", Kind: "conflict", Text: "it did not go together with what landed meanwhile, twice: " + oneLine(what) + ". Build it once more?"})
	if err != nil {
		return err
	}
	a.record.Decisions = append(a.record.Decisions, d)
	if d.Yes {
		return lost("you asked for another attempt")
	}
	return &Problem{Code: judge.StopHeadMoved, What: "the change conflicts with what has landed in the meantime", Why: what, Salvage: change.KeptRef(a.record.RunID),
		Fix: "`relay task retry " + a.record.TaskID + "` when nothing else is running"}
}

// merge is the step of join. One task after the other has it.
func (a *taskRun) merge(ctx context.Context, at durable.Attempt) (joined, error) {
	p := a.p
	p.turn.Lock()
	defer p.turn.Unlock()
	if at.Again { // what was cut off is settled: see settleJoin
		if there, err := ofRun(ctx, p.place, p.branch, a.record.RunID); len(there) > 0 || err != nil {
			return joined{Commits: there}, err
		}
	}
	if err := p.tidy(ctx, p.place); err != nil {
		return joined{}, err
	}
	tip, err := p.tip(ctx)
	if err != nil {
		return joined{}, err
	}
	built := a.At
	a.At = p.in(p.place, a.dir(joinDir))
	defer func() { a.At = built }()
	if err := a.Begin(ctx, a.changeOptions(tip, p.branch)); err != nil {
		return joined{}, err
	}
	a.noteBox()
	journal.Reached("pipeline.joining")
	j, err := a.mergeInBox(ctx, tip)
	return j, errors.Join(err, a.Discard())
}

// settleJoin settles a way onto the operator's branch that was cut off, before anything
// else is written there.
func (p *Pipeline) settleJoin(ctx context.Context, t *Record) error {
	all, err := p.in(p.place, p.dir(tasksDir, t.Attempt, joinDir)).Recover(ctx, false, nil)
	for _, r := range all {
		if r.Conflict != "" && err == nil {
			err = diag.New(judge.BlockedCrashRecovery, "the change of task "+t.TaskID+" was being written and can't be settled", r.Conflict, "`git status`, take your own change back, then `relay pipeline run`")
		}
	}
	return err
}

// sameGround reports whether the tip is where what was built was tried, on this machine.
func (a *taskRun) sameGround(tip string) bool { return tip == a.record.Base && a.record.From == "" }

// mergeInBox makes the commits again on top of the tip, judges them, tries them where that is not where they
// were built, and lands them.
func (a *taskRun) mergeInBox(ctx context.Context, tip string) (j joined, err error) {
	why, err := a.Change.Replay(ctx, a.record.Base, a.record.Kept)
	if err != nil {
		return j, pluginenv.BoxFault(err)
	}
	if why != "" {
		j.Conflict = fmt.Sprintf("on top of %.12s it meets %s", tip, head(why, maxConflict))
		return j, nil
	}
	journal.Reached("pipeline.replayed")
	if _, err := a.look(ctx); err != nil {
		return j, err
	}
	for i, c := range a.commands() {
		if a.sameGround(tip) {
			break
		}
		name := "join"
		if i > 0 {
			name = fmt.Sprintf("join-%d", i+1)
		}
		check, text, err := a.try(ctx, name, c)
		if err != nil {
			return j, err
		}
		if j.Check = &check; !check.OK {
			j.Conflict = fmt.Sprintf("the validation command fails on top of %.12s: %s\n%s", tip, check.Outcome, tail(text, maxConflict))
			return j, nil
		}
	}
	if hidden := a.hidden(); !a.sameGround(tip) && len(hidden) > 0 {
		check, err := a.tryHidden(ctx, hidden)
		if err != nil {
			return j, err
		}
		if j.Hidden = &check; !check.OK {
			j.Conflict = fmt.Sprintf("on top of %.12s %s", tip, check.Outcome)
			return j, nil
		}
	}
	if why, err := a.decideAgain(ctx, tip, a.record.Base); why != "" || err != nil {
		if why != "" {
			j.Conflict = fmt.Sprintf("on top of %.12s %s", tip, why)
		}
		return j, err
	}
	a.keepPatch()
	landed, err := a.Change.Land(ctx, a.landing())
	if err != nil {
		if j.Held = inTheWay(err); j.Held != "" {
			return j, nil
		}
		if f, ok := diag.As(err); ok && f.Code == judge.StopHeadMoved {
			return j, lost("it could not land: " + f.Why)
		}
		return j, pluginenv.BoxFault(err)
	}
	a.got.Notes = append(a.got.Notes, landed.Notes...)
	j.Commits = a.landedAs(ctx, a.p.place, a.p.branch, landed.Commit)
	return j, nil
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
