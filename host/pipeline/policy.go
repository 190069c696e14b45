package pipeline

import (
	"context"
	"slices"

	"github.com/paxiom/relay/host/change"
	"github.com/paxiom/relay/host/durable"
	"github.com/paxiom/relay/host/internal/policy"
	"github.com/paxiom/relay/host/internal/report"
)

// holdToPolicy holds what was built and proved to the rules. What they ask about is the
// operator's to decide, while the work is kept.
func (a *attempt) holdToPolicy(f durable.Flow) error {
	if a.trail.Policy == nil {
		return nil
	}
	base := a.trail.Base
	p, err := do(a, f, "policy", func(ctx context.Context, _ durable.Attempt) (*report.Policy, error) {
		if err := a.stand(ctx); err != nil {
			return nil, err
		}
		return a.decide(ctx, a.trail.Base)
	})
	if err != nil {
		return err
	}
	a.trail.Policy = p
	if hits := p.Forbids(); len(hits) > 0 {
		return a.giveUp(f, a.forbidden(hits))
	}
	asks := p.Asks()
	if len(asks) == 0 {
		return nil
	}
	if err := a.keep(f, "policy-keep"); err != nil {
		return err
	}
	d, err := a.consult(f, Question{Name: "policy", Kind: "policy", Text: "the policy asks about it: " + oneLine(report.ListHits(asks)) + ". May it land?"})
	if err != nil {
		return err
	}
	a.trail.Decisions = append(a.trail.Decisions, d)
	if !d.Yes {
		stop := a.forbidden(asks)
		stop.What, stop.Salvage = "you did not let it land", change.KeptRef(a.trail.RunID)
		return stop
	}
	a.trail.Policy.Approve(asks)
	if err := a.rebase(f, "policy-rebase"); err != nil || a.trail.Base == base {
		return err
	}
	why, err := do(a, f, "policy-again", func(ctx context.Context, _ durable.Attempt) (string, error) {
		if err := a.stand(ctx); err != nil {
			return "", err
		}
		return a.decideAgain(ctx, a.trail.Base, base)
	})
	if why != "" {
		stop := a.forbidden(nil)
		stop.Why, stop.Salvage = "on top of later work: "+why, change.KeptRef(a.trail.RunID)
		return stop
	}
	return err
}

func (a *attempt) forbidden(hits []report.PolicyHit) *Problem {
	stop := policy.Forbidden(hits, "`relay task show "+a.trail.TaskID+"`")
	return &Problem{Code: stop.Code, What: stop.What, Why: stop.Why, Fix: stop.Fix}
}

// decide computes the rules of a commit for the change in the box.
func (a *attempt) decide(ctx context.Context, base string) (*report.Policy, error) {
	set, err := policy.Open(ctx, a.place.Git, base, a.p.env.Environ)
	if err != nil {
		return nil, err
	}
	_, request := a.law()
	var hidden []string
	for _, h := range a.hidden() {
		hidden = append(hidden, h.ID)
	}
	in := policy.InputOf(a.change.Kept(), request, a.trail.TaskID, a.lastChecks(), hidden)
	in.Run.Workflow = "task"
	for _, s := range a.trail.Sessions {
		if s.Model != "" {
			in.Run.Models = append(in.Run.Models, s.Model)
		}
	}
	for _, d := range a.trail.Decisions {
		if d.Yes {
			in.Approvals = append(in.Approvals, policy.Approval{Name: d.kind()})
		}
	}
	return set.Decide(in), nil
}

// decideAgain holds a change that lands on a later commit to the rules that hold there.
func (a *attempt) decideAgain(ctx context.Context, tip, before string) (why string, err error) {
	if tip == before {
		return "", nil
	}
	p, err := a.decide(ctx, tip)
	if err != nil || p == nil {
		return "", err
	}
	if was := a.trail.Policy; was != nil && was.SHA256 == p.SHA256 { // a yes is to these very rules
		p.Approve(slices.DeleteFunc(slices.Clone(was.Hits), func(h report.PolicyHit) bool { return !h.Approved }))
	}
	a.trail.Policy = p
	if hits := append(p.Forbids(), p.Asks()...); len(hits) > 0 {
		return "the policy does not let it: " + report.ListHits(hits), nil
	}
	return "", nil
}

// checkPolicy refuses to begin under a policy that can't be used: nothing is paid for then.
func (p *Pipeline) checkPolicy(ctx context.Context) error {
	tip, err := p.tip(ctx)
	if err == nil {
		_, err = policy.Open(ctx, p.place.Git, tip, p.env.Environ)
	}
	return err
}
