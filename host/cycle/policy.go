package cycle

import (
	"github.com/paxiom/relay/host/internal/attest"
	"github.com/paxiom/relay/host/internal/policy"
	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/judge"
)

// holdToPolicy holds the revision to the policy as code. What a rule asks about lands on the
// cycle's own branch, and is decided with the rest of it at the second gate.
func (p *passage) holdToPolicy() bool {
	f := &p.out.Facts
	_, request := p.law()
	var checks report.Verification
	if f.Verification != nil {
		checks = *f.Verification
	}
	in := policy.InputOf(p.change.Kept(), request, p.c.rec.UUID, checks, p.hiddenIDs())
	in.Run.Workflow = "cycle"
	if f.Model != "" {
		in.Run.Models = []string{f.Model}
	}
	in.Approvals = []policy.Approval{{Name: "plan", Key: (&attest.Approval{Key: p.a.Key}).KeyOrNone()}}
	f.Policy = p.rules.Decide(in)
	if hits := f.Policy.Forbids(); len(hits) > 0 {
		f.Code, f.Why = judge.StopPolicyForbidden, "the policy forbids the revision: "+report.ListHits(hits)
		return false
	}
	if asks := f.Policy.Asks(); len(asks) > 0 {
		f.Notes = append(f.Notes, "the policy asks you about it: "+report.ListHits(asks))
	}
	return true
}

func (p *passage) hiddenIDs() (ids []string) {
	hidden, _ := p.c.env.Config.Verification.HiddenChecks(p.c.git, p.c.env.Home, nil)
	for _, h := range hidden {
		ids = append(ids, h.ID)
	}
	return ids
}
