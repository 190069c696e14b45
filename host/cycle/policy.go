package cycle

import (
	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/judge"
)

// holdToPolicy holds the revision to the policy as code. What a rule asks about lands on the
// cycle's own branch, and is decided with the rest of it at the second gate.
func (p *revision) holdToPolicy() bool {
	f := &p.out.Facts
	var checks report.Verification
	if f.Verification != nil {
		checks = *f.Verification
	}
	var models []string
	if f.Model != "" {
		models = []string{f.Model}
	}
	f.Policy = p.Decide(p.rules, checks, p.hiddenIDs(), models)
	if hits := f.Policy.Forbids(); len(hits) > 0 {
		f.Code, f.Why = judge.StopPolicyForbidden, "the policy forbids the revision: "+report.ListHits(hits)
		return false
	}
	if asks := f.Policy.Asks(); len(asks) > 0 {
		f.Notes = append(f.Notes, "the policy asks you about it: "+report.ListHits(asks))
	}
	return true
}

func (p *revision) hiddenIDs() (ids []string) {
	hidden, _ := p.c.env.Config.Verification.HiddenChecks(p.c.git, p.c.env.Home, nil)
	for _, h := range hidden {
		ids = append(ids, h.ID)
	}
	return ids
}
