package pipeline

import (
	"context"
	"strings"

	"github.com/paxiom/relay/host/internal/attest"
	"github.com/paxiom/relay/judge"
)

// attest says of the commits that have landed what is known of them. A step that is done
// again says it again.
func (a *attempt) attest(ctx context.Context, commits []string) {
	if len(commits) == 0 {
		return
	}
	e := a.p.env
	ceiling, request := a.law()
	out, err := a.p.place.Git.Run(ctx, nil, "rev-parse", "--verify", "-q", commits[0]+"^")
	if err != nil {
		a.note("the commit has no attestation: " + err.Error())
		return
	}
	f := attest.Facts{Workflow: "task", Run: a.trail.RunID, TaskID: a.trail.TaskID, Base: strings.TrimSpace(string(out)), Commit: commits[len(commits)-1],
		Ceiling: &ceiling, Request: &request, Code: judge.Success, Verification: a.lastChecks(), Box: a.trail.Box}
	f.Task = attest.JSON(a.trail.Task)
	if p := a.trail.Policy; p != nil {
		f.Rules = p.SHA256
	}
	var calls []attest.Call
	for _, l := range a.trail.calls(e.WS) {
		calls = append(calls, attest.Call{Role: l.Role, Plugin: l.Provider, Model: l.Model, CostUSD: l.CostUSD})
	}
	f.Plugins = attest.Parts(calls, e.Catalog)
	for _, h := range a.hidden() {
		f.Hidden = append(f.Hidden, h.ID)
	}
	for _, d := range a.trail.Decisions {
		switch {
		case d.Yes && d.Approval != nil:
			f.Approvals = append(f.Approvals, *d.Approval)
		case d.Yes:
			f.Approvals = append(f.Approvals, attest.Approval{Kind: d.kind(), At: d.At.UTC().Format(attest.Time)})
		}
	}
	if problem := attest.Attach(ctx, attest.Options{Git: a.p.place.Git, StateDir: e.StateDir, Home: e.Home, Environ: e.Environ, Sign: e.Config.Evidence.Sign, Version: e.Version, Now: a.p.now()}, f); problem != "" {
		a.note(problem)
	}
}
