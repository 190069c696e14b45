package tick

import (
	"context"
	"slices"
	"strings"

	"github.com/paxiom/relay/host/internal/attest"
	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/judge"
)

// attest says of the commit that has landed what is known of it, for those who have the
// repository alone.
func (r *run) attest(ctx context.Context) {
	f := attest.Facts{Task: r.taskJSON, Base: r.rep.BaseCommit, Commit: r.rep.Commit, Rules: r.policies.Digest(), Verification: r.rep.Verification, Results: r.results, Box: r.rep.Box, Hidden: r.hiddenIDs()}
	f.Plugins = r.parts()
	r.Attest(ctx, f)
}

// parts are the plugins that planned and built the change, in an earlier run where that one has built it.
func (r *run) parts() (all []attest.Plugin) {
	if r.letLand != nil {
		return r.letLand.Built.Plugins
	}
	if w := r.rep.Orchestrator; w != nil {
		digest := ""
		if p := r.opened[w.Plugin]; p != nil {
			digest = p.Entry.SHA256
		}
		all = append(all, part("orchestrator", w, digest))
	}
	if w := r.rep.Builder; w != nil && r.Builder != nil {
		all = append(all, part("builder", w, r.Builder.Entry.SHA256))
	}
	return all
}

// attestCrash says of a commit that has landed in a crash what its draft of a report knows.
func (r *run) attestCrash(ctx context.Context, rep *report.Report) {
	if rep.Commit == "" || attest.Covered(ctx, r.git, rep.Commit) {
		return
	}
	f := attest.Facts{Workflow: "tick", Run: rep.RunID, TaskID: rep.Task.TaskID, Base: rep.BaseCommit, Commit: rep.Commit, Code: judge.Success, Verification: rep.Verification, Box: rep.Box,
		Unknown: []string{"the task and its scope, the names of hidden checks, and approvals: relay was ended before it could say them"}}
	for role, w := range map[string]*report.Worker{"orchestrator": rep.Orchestrator, "builder": rep.Builder} {
		if w != nil {
			f.Plugins = append(f.Plugins, part(role, w, ""))
		}
	}
	slices.SortFunc(f.Plugins, func(a, b attest.Plugin) int { return strings.Compare(b.Role, a.Role) })
	if rep.Policy != nil {
		f.Rules = rep.Policy.SHA256
	}
	if problem := attest.Attach(ctx, r.at().Attester(), f); problem != "" {
		rep.Notes = append(rep.Notes, problem)
	}
}

// approvals are what the operator said yes to.
func (r *run) approvals() (all []attest.Approval) {
	switch {
	case r.approved != nil:
		all = append(all, *r.approved)
	case r.beyond():
		all = append(all, attest.Approval{Kind: attest.Beyond, At: r.rep.StartedAt.Format(attest.Time), Here: true})
	}
	if r.rep.Verification.Agreed {
		all = append(all, attest.Approval{Kind: "changed tests", At: r.now().UTC().Format(attest.Time), Here: true})
	}
	switch {
	case r.letLand != nil:
		all = append(all, r.letLand.Built.Yes...)
	case !r.policyAt.IsZero():
		all = append(all, attest.Approval{Kind: "policy", At: r.policyAt.UTC().Format(attest.Time), Here: true})
	}
	return all
}

func part(role string, w *report.Worker, digest string) attest.Plugin {
	return attest.Plugin{Role: role, Name: w.Plugin, Version: w.Version, SHA256: digest, Model: w.Model, Calls: w.Calls, CostUSD: w.CostUSD}
}
