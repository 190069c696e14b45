package pipeline

import (
	"context"
	"slices"

	"github.com/paxiom/relay/host/attempt"
	"github.com/paxiom/relay/host/change"
	"github.com/paxiom/relay/host/durable"
	"github.com/paxiom/relay/host/internal/policy"
	"github.com/paxiom/relay/host/internal/report"
)

// holdToPolicy holds what was built and proved to the rules. What they ask about is the
// operator's to decide, while the work is kept.
func (a *taskRun) holdToPolicy(f durable.Flow) error {
	if a.record.Policy == nil {
		return nil
	}
	var settled []string // rules with a yes, to what was kept on top of seen
	var seen, kept string
	for n := 1; ; n++ { // more than once where a rule counts approvals, or later work brought others
		asks, err := a.ruled(f, nth("policy", n), settled, seen, kept)
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
		a.record.Decisions = append(a.record.Decisions, d)
		if !d.Yes {
			stop := a.forbidden(asks)
			stop.What, stop.Salvage = "you did not allow the change", change.KeptRef(a.record.RunID)
			return stop
		}
		for _, h := range asks {
			settled = append(settled, h.ID())
		}
		seen, kept = a.record.Base, a.record.Kept
		if err := a.rebase(f, nth("policy-rebase", n)); err != nil {
			return err
		}
	}
}

// ruled computes the rules where the change stands and gives those that ask; what they forbid
// ends the attempt. Settled are rules with a yes to what was kept on top of seen: to these very files,
// unless a later commit has changed one of them.
func (a *taskRun) ruled(f durable.Flow, name string, settled []string, seen, kept string) ([]report.PolicyHit, error) {
	was := a.record.Policy.SHA256
	p, err := do(a, f, name, func(ctx context.Context, _ durable.Attempt) (*report.Policy, error) {
		if err := a.stand(ctx); err != nil {
			return nil, err
		}
		p, set, err := a.decide(ctx, a.record.Base)
		if err != nil || p == nil || p.SHA256 != was || len(settled) == 0 {
			return p, err
		}
		changed, err := attempt.ChangedSince(ctx, a.At.Git, seen, kept, a.record.Base)
		if changed == "" {
			set.Settle(p, settled)
		}
		return p, err
	})
	if err != nil {
		return nil, err
	}
	a.record.Policy = p
	if hits := p.Forbids(); len(hits) > 0 {
		return nil, a.giveUp(f, a.forbidden(hits))
	}
	return p.Asks(), nil
}

func (a *taskRun) forbidden(hits []report.PolicyHit) *Problem {
	stop := policy.Forbidden(hits, "`relay task show "+a.record.TaskID+"`")
	return &Problem{Code: stop.Code, What: stop.What, Why: stop.Why, Fix: stop.Fix}
}

// decide computes the rules of a commit for the change in the box.
func (a *taskRun) decide(ctx context.Context, base string) (*report.Policy, *policy.Set, error) {
	set, err := policy.Open(ctx, a.At.Git, base, a.p.env.Environ)
	if err != nil {
		return nil, nil, err
	}
	var models []string
	for _, s := range a.record.Sessions {
		if s.Model != "" {
			models = append(models, s.Model)
		}
	}
	return a.Decide(set, a.lastChecks(), a.hiddenIDs(), models), set, nil
}

// decideAgain holds a change that lands on a later commit to the rules that hold there.
func (a *taskRun) decideAgain(ctx context.Context, tip, before string) (why string, err error) {
	if a.sameGround(tip) {
		return "", nil
	}
	p, _, err := a.decide(ctx, tip)
	if err != nil || p == nil {
		return "", err
	}
	changed, err := attempt.ChangedSince(ctx, a.At.Git, before, a.record.Kept, tip)
	if err != nil {
		return "", err
	}
	if was := a.record.Policy; was != nil && was.SHA256 == p.SHA256 && changed == "" { // a yes is to these very rules and files
		p.Approve(slices.DeleteFunc(slices.Clone(was.Hits), func(h report.PolicyHit) bool { return !h.Approved }))
	}
	a.record.Policy = p
	if hits := append(p.Forbids(), p.Asks()...); len(hits) > 0 {
		why := "the policy does not let it: " + report.ListHits(hits)
		if changed != "" {
			why += "; " + report.Safe(changed) + " was changed since you were asked"
		}
		return why, nil
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
