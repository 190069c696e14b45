package cycle

import (
	"context"
	"errors"
	"fmt"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/durable"
	"github.com/paxiom/relay/host/internal/catalog"
	"github.com/paxiom/relay/judge"
)

// Preview is what an approval would set going.
type Preview struct {
	Reviser  string
	Model    string
	Items    int
	Tests    []string
	MaxUSD   float64 // the revision's calls; 0: not limited
	Reviewed bool
	Marks    map[string]int
}

func (c *Cycle) preview() (*Preview, error) {
	text, d, err := c.planText()
	if err != nil {
		return nil, err
	}
	p := &revision{c: c}
	rules := c.rec.ConfigSnapshot.Cycle
	most := rules.MaxCallUSD
	if _, err := c.env.Catalog.Find(c.rec.Reviser, catalog.Provider); err == nil {
		most *= 2 // an answer without its form is asked for once more
	}
	return &Preview{Reviser: c.rec.Reviser, Model: p.model(), Items: len(d.Items), Tests: rules.TestCommand, MaxUSD: most,
		Reviewed: c.reviewed(hashOf([]byte(text))), Marks: d.Marks()}, nil
}

// Continue approves the plan as it is now, and runs the cycle to the second gate.
// before is called with what will run; its error leaves the gate closed. May be nil.
func Continue(ctx context.Context, e *Env, uuid string, before func(*Preview) error) (*Record, error) {
	c, wait, err := e.at(ctx, uuid, AwaitingReview, "continue")
	if err != nil {
		return nil, err
	}
	p, err := c.preview()
	if err != nil {
		return nil, err
	}
	if err := c.covered("relay audit continue "+Short(uuid), c.rec.Reviser); err != nil {
		return nil, err
	}
	if before != nil {
		if err := before(p); err != nil {
			return nil, err
		}
	}
	a, err := c.approval(ctx)
	if err != nil {
		return nil, err
	}
	if why, err := c.holds(ctx, a); why != "" || err != nil {
		if err != nil {
			return nil, err
		}
		return nil, diag.New("", "the plan can't be approved", why, "`relay audit resume "+Short(uuid)+"`, or `relay audit abort "+Short(uuid)+"` and start over")
	}
	c.log(fmt.Sprintf("operator continue: plan %.12s, commit %.12s, %d entries", a.Plan, a.Tree, p.Items))
	if c.rec.State == AwaitingReview {
		return c.answer(ctx, wait, a)
	}
	again, err := c.acceptance(ctx, Acceptance{Decision: DecideAgain, Approval: &a})
	if err != nil {
		return nil, err
	}
	return c.answer(ctx, wait, again)
}

// Despite is what the operator accepts a revision in spite of.
type Despite struct {
	FailingTests bool
	EditedPlan   bool // after it was carried out
}

// Decide accepts the revision or asks for another iteration, and runs the cycle to its
// end or to the next gate.
func Decide(ctx context.Context, e *Env, uuid, decision string, o Despite) (*Record, error) {
	c, wait, err := e.at(ctx, uuid, AwaitingAcceptance, decision)
	if err != nil {
		return nil, err
	}
	if c.rec.State == AwaitingReview {
		return c.acceptEarlier(ctx, wait, o)
	}
	a, err := c.acceptance(ctx, Acceptance{Decision: decision, Failing: o.FailingTests})
	if err != nil {
		return nil, err
	}
	id := Short(uuid)
	anew := "`relay audit abort " + id + "`, then `relay audit start " + c.rec.ServiceID + "` begins a new cycle"
	again := "`relay audit continue " + id + "` carries the plan out once more, `relay audit review " + id + "` edits it first"
	switch why := c.noSuch(a); {
	case why != "" && decision == DecideAccept && c.rec.Iteration < c.rec.ConfigSnapshot.Cycle.MaxIterations:
		return nil, diag.New("", "the revision can't be accepted", why, again+"; `relay audit iterate "+id+"` audits again")
	case why != "" && decision == DecideAccept:
		return nil, diag.New("", "the revision can't be accepted", why+", and no other iteration is left", again)
	case why != "" && c.rec.Revision.Landed:
		return nil, diag.New("", "no other iteration is left", why, "`relay audit accept "+id+"`, or "+anew+"; cycle.max_iterations of the service holds for new cycles")
	case why != "":
		return nil, diag.New("", "no other iteration is left", why+", and nothing was landed", again)
	case decision == DecideAccept && c.failing() && !o.FailingTests:
		return nil, c.failingTests("`relay audit iterate " + id + "`")
	}
	if decision == DecideAccept && c.rec.Revision.Landed && !o.EditedPlan {
		if err := c.asCarriedOut(); err != nil {
			return nil, err
		}
	}
	why, err := c.stands(ctx, a)
	if err != nil {
		return nil, err
	}
	if why != "" {
		return nil, diag.New(judge.StopHeadMoved, "what is there now is not what you were shown", why, "`git -C "+diag.Word(c.rec.Worktree)+" log --oneline -3`; `relay audit iterate "+id+"` audits what is there now")
	}
	if decision == DecideIterate {
		if err := c.auditorsCovered("relay audit iterate " + id); err != nil {
			return nil, err
		}
	}
	c.log(fmt.Sprintf("operator %s: commit %.12s, %s", decision, a.Tree, c.rec.Tests.Text()))
	return c.answer(ctx, wait, a)
}

// acceptEarlier accepts, at the first gate, what an earlier iteration landed.
func (c *Cycle) acceptEarlier(ctx context.Context, wait string, o Despite) (*Record, error) {
	id := Short(c.rec.UUID)
	if c.failing() && !o.FailingTests {
		return nil, c.failingTests("`relay audit review " + id + "`")
	}
	a, err := c.evidence(ctx)
	if err != nil {
		return nil, err
	}
	a.Accept, a.Failing = true, o.FailingTests
	if a, err = c.given(a); err != nil {
		return nil, err
	}
	why, err := c.holds(ctx, a)
	if err != nil {
		return nil, err
	}
	if why != "" {
		return nil, diag.New(judge.StopHeadMoved, "what is there now is not what you were shown", why, "`git -C "+diag.Word(c.rec.Worktree)+" log --oneline -3`; `relay audit resume "+id+"`")
	}
	c.log(fmt.Sprintf("operator accept: commit %.12s of iteration %d, %s", a.Tree, c.rec.LastLanded.Iteration, c.tests().Text()))
	return c.answer(ctx, wait, a)
}

// failingTests says that tests failed, and what else can be done.
func (c *Cycle) failingTests(other string) error {
	id := Short(c.rec.UUID)
	return diag.New("", "the tests failed, so the revision is not accepted just like that", c.tests().Text(),
		"`relay show "+id+"`, then "+other+"; or `relay audit accept "+id+" --with-failing-tests` if that is what you want")
}

// asCarriedOut refuses a plan that was edited after its revision had landed: nothing of
// the edit is in what would be accepted.
func (c *Cycle) asCarriedOut() error {
	text, err := c.edited()
	if err != nil {
		return err
	}
	now := hashOf(text)
	if text == nil {
		if now, err = hashFile(c.path(planFile)); err != nil {
			return diag.Internal(err)
		}
	}
	if c.rec.Approval == nil || now == c.rec.Approval.Plan {
		return nil
	}
	id := Short(c.rec.UUID)
	return diag.New("", "the plan was edited after it had been carried out", "nothing of the edit is in the revision", "`relay audit iterate "+id+"` audits what is there; `relay audit accept "+id+" --with-edited-plan` accepts the revision as it is")
}

// answer gives the operator's decision to the engine and runs on.
func (c *Cycle) answer(ctx context.Context, wait string, decision any) (*Record, error) {
	err := c.store.Answer(c.rec.UUID, wait, decision)
	if errors.Is(err, durable.ErrAnswered) || errors.Is(err, durable.ErrEnded) {
		return nil, diag.New("", "cycle "+Short(c.rec.UUID)+" has just been decided", "another relay decided first", "`relay show "+Short(c.rec.UUID)+"`")
	}
	if err != nil {
		return nil, diag.Internal(err)
	}
	next, err := open(c.env, c.rec.UUID)
	if err != nil {
		return nil, err
	}
	return next.run(ctx)
}
