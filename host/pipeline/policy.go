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
func (a *taskRun) holdToPolicy(f durable.Flow) error {
	if a.trail.Policy == nil {
		return nil
	}
	var settled []string // rules with a yes
	for n := 1; ; n++ {  // more than once where a rule counts approvals, or later work brought others
		asks, err := a.ruled(f, nth("policy", n), settled)
		if err != nil || len(asks) == 0 {
			return err
		}
		if err := a.keep(f, nth("policy-keep", n)); err != nil {
			return err
		}
		name := "policy"
		if n > 1 {
			name = nth("policy-question", n) // the names of steps have numbers, too
		}
		d, err := a.consult(f, Question{Name: name, Kind: "policy", Text: "the policy asks about it: " + oneLine(report.ListHits(asks)) + ". May it land?"})
		if err != nil {
			return err
		}
		a.trail.Decisions = append(a.trail.Decisions, d)
		if !d.Yes {
			stop := a.forbidden(asks)
			stop.What, stop.Salvage = "you did not let it land", change.KeptRef(a.trail.RunID)
			return stop
		}
		for _, h := range asks {
			settled = append(settled, h.ID())
		}
		if err := a.rebase(f, nth("policy-rebase", n)); err != nil {
			return err
		}
	}
}

// ruled computes the rules where the change stands and gives those that ask; what they forbid
// ends the attempt. Settled are rules with a yes, which is to these very files.
func (a *taskRun) ruled(f durable.Flow, name string, settled []string) ([]report.PolicyHit, error) {
	was := a.trail.Policy.SHA256
	p, err := do(a, f, name, func(ctx context.Context, _ durable.Attempt) (*report.Policy, error) {
		if err := a.stand(ctx); err != nil {
			return nil, err
		}
		p, set, err := a.decide(ctx, a.trail.Base)
		if err == nil && p != nil && p.SHA256 == was {
			set.Settle(p, settled)
		}
		return p, err
	})
	if err != nil {
		return nil, err
	}
	a.trail.Policy = p
	if hits := p.Forbids(); len(hits) > 0 {
		return nil, a.giveUp(f, a.forbidden(hits))
	}
	return p.Asks(), nil
}

func (a *taskRun) forbidden(hits []report.PolicyHit) *Problem {
	stop := policy.Forbidden(hits, "`relay task show "+a.trail.TaskID+"`")
	return &Problem{Code: stop.Code, What: stop.What, Why: stop.Why, Fix: stop.Fix}
}

// decide computes the rules of a commit for the change in the box.
func (a *taskRun) decide(ctx context.Context, base string) (*report.Policy, *policy.Set, error) {
	set, err := policy.Open(ctx, a.At.Git, base, a.p.env.Environ)
	if err != nil {
		return nil, nil, err
	}
	var models []string
	for _, s := range a.trail.Sessions {
		if s.Model != "" {
			models = append(models, s.Model)
		}
	}
	return a.Decide(set, a.lastChecks(), a.hiddenIDs(), models), set, nil
}

// decideAgain holds a change that lands on a later commit to the rules that hold there.
func (a *taskRun) decideAgain(ctx context.Context, tip, before string) (why string, err error) {
	if tip == before {
		return "", nil
	}
	p, _, err := a.decide(ctx, tip)
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
		_, err = policy.Open(ctx, p.place, tip, p.env.Environ)
	}
	return err
}
