package cycle

import (
	"context"

	"github.com/paxiom/relay/host/cycle/audit"
	"github.com/paxiom/relay/host/internal/attest"
	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/host/internal/workspace"
)

// attest says of the revision that has landed what is known of it. Its task is the plan
// that was approved.
func (p *revision) attest(ctx context.Context) {
	c, facts := p.c, &p.out.Facts
	plan, err := workspace.ReadFile(c.path(planFile), maxState)
	if err != nil || hashOf(plan) != p.a.Plan {
		c.note("the commit has no attestation: the approved plan is gone")
		return
	}
	if p.doc == nil { // an attempt before this one has landed it
		if p.doc, err = audit.Parse(string(plan)); err != nil {
			c.note("the commit has no attestation: " + err.Error())
			return
		}
	}
	f := attest.Facts{Run: p.key, Task: plan, Base: p.a.Tree, Commit: facts.Commit, Box: &report.BoxReport{Means: facts.Box}}
	if p.Change != nil {
		f.Box.Gaps = p.Change.Box().Gaps()
	} else {
		f.Unknown = append(f.Unknown, "the gaps of the box: relay was ended before it could say them")
	}
	if facts.Verification != nil {
		f.Verification = *facts.Verification
	}
	if f.Verification.Hidden != "" {
		f.Hidden = p.hiddenIDs()
	}
	if facts.Policy != nil {
		f.Rules = facts.Policy.SHA256
	}
	var calls []attest.Call
	for _, l := range append(pointers(c.rec.Calls), p.out.Calls...) {
		if l != nil {
			calls = append(calls, attest.Call{Role: l.Role, Plugin: l.Provider, Model: l.Model, CostUSD: l.CostUSD})
		}
	}
	f.Plugins = attest.Parts(calls, c.env.Catalog)
	p.Attest(ctx, f)
}

// approvals are what the operator has seen and approved.
func (p *revision) approvals() []attest.Approval {
	return []attest.Approval{{Kind: "plan", At: p.a.At.UTC().Format(attest.Time), Key: p.a.Key, Signed: p.a.Signed}}
}
