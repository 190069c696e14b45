package pipeline

import (
	"context"
	"strings"

	"github.com/paxiom/relay/host/internal/attest"
	"github.com/paxiom/relay/judge"
)

// attest says of the commits that have landed what is known of them. A step that is done
// again says it again.
func (a *taskRun) attest(ctx context.Context, commits []string) {
	if len(commits) == 0 {
		return
	}
	e := a.p.env
	out, err := a.p.place.Run(ctx, nil, "rev-parse", "--verify", "-q", commits[0]+"^")
	if err != nil {
		a.note("the commit has no attestation: " + err.Error())
		return
	}
	f := attest.Facts{Task: attest.JSON(a.record.Task), Base: strings.TrimSpace(string(out)), Commit: commits[len(commits)-1], Verification: a.lastChecks(), Hidden: a.hiddenIDs(), Box: a.record.Box}
	if p := a.record.Policy; p != nil {
		f.Rules = p.SHA256
	}
	var calls []attest.Call
	for _, l := range a.record.calls(e.WS) {
		calls = append(calls, attest.Call{Role: l.Role, Plugin: l.Provider, Model: l.Model, CostUSD: l.CostUSD})
	}
	f.Plugins = attest.Parts(calls, e.Catalog)
	a.Attest(ctx, f)
}

// attest says of a commit of the run's own that it is a record, and that nobody has judged it.
func (p *Pipeline) attest(ctx context.Context, commit string, t *Record) {
	if commit == "" {
		return
	}
	f := attest.Facts{Workflow: "record", Run: p.rec.RunID, Commit: commit, Code: judge.Success, Evidence: "a pipeline's record of its tasks: not judged, not verified",
		Unknown: []string{"who wrote what in the task list: relay commits it as it is"}}
	if t != nil {
		f.TaskID = t.TaskID
	}
	out, err := p.place.Run(ctx, nil, "rev-parse", "--verify", "-q", commit+"^")
	problem := ""
	if err != nil {
		problem = "the commit has no attestation: " + err.Error()
	} else {
		f.Base = strings.TrimSpace(string(out))
		problem = attest.Attach(ctx, p.in(p.place, "").Attester(), f)
	}
	if problem != "" {
		p.notice("the record " + commit[:12] + ": " + problem)
	}
}

// approvals are what the operator said yes to.
func (a *taskRun) approvals() (all []attest.Approval) {
	for _, d := range a.record.Decisions {
		switch {
		case d.Yes && d.Approval != nil:
			all = append(all, *d.Approval)
		case d.Yes:
			all = append(all, attest.Approval{Kind: d.kind(), At: d.At.UTC().Format(attest.Time)})
		}
	}
	return all
}

func (a *taskRun) hiddenIDs() (ids []string) {
	for _, h := range a.hidden() {
		ids = append(ids, h.ID)
	}
	return ids
}
