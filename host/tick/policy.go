package tick

import (
	"context"
	"fmt"

	"github.com/paxiom/relay/host/attempt"
	"github.com/paxiom/relay/host/change"
	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/attest"
	"github.com/paxiom/relay/host/internal/format"
	"github.com/paxiom/relay/host/internal/patch"
	"github.com/paxiom/relay/host/internal/pluginenv"
	"github.com/paxiom/relay/host/internal/policy"
	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/host/internal/trust"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/verify"
)

// checkPolicy compiles the policy as code for work on the base commit.
func (r *run) checkPolicy(ctx context.Context) (found string, err error) {
	if r.policies, err = policy.Open(ctx, r.git, r.rep.BaseCommit, r.env.Environ); err != nil {
		return "", err
	}
	if r.rep.Policy = r.policies.Report(); r.rep.Policy == nil {
		return "none", nil
	}
	return format.Count(r.rep.Policy.Rules, "rule"), nil
}

// hiddenChecks are those that this change has to pass.
func (r *run) hiddenChecks() (all []verify.Command) {
	if r.task.Kind == judge.Execute && len(r.verdict.Kept) > 0 {
		all, _ = r.cfg.Verification.HiddenChecks(r.git, r.env.Home, nil)
	}
	return all
}

func (r *run) hiddenIDs() (ids []string) {
	all, _ := r.Checker.Hidden()
	for _, h := range all {
		ids = append(ids, h.Command.ID)
	}
	return ids
}

// holdToPolicy holds what was judged and verified to the rules. What they ask about is
// asked at once where somebody is there, and is a question to be answered later otherwise:
// what was built is kept, and lands when the answer is yes.
func (r *run) holdToPolicy(ctx context.Context) error {
	if len(r.verdict.Kept) == 0 {
		return nil
	}
	asks, err := r.decidePolicy()
	if err != nil {
		return r.reject(ctx, err)
	}
	if len(asks) == 0 {
		return nil
	}
	if r.o.Policy != nil && !r.policies.Counts(asks) { // what counts approvals is asked until there are enough
		patch, err := patch.Bytes(r.Change.Left)
		if err != nil {
			return internal(err)
		}
		if r.o.Policy(ctx, asks, patch) {
			r.approve(asks)
			return nil
		}
		return r.reject(ctx, diag.New(judge.StopPolicyForbidden, "you did not allow the change", report.ListHits(asks), "`relay salvage` gets at the change"))
	}
	return r.askPolicy(ctx, asks)
}

// decidePolicy computes the rules, and gives those that ask and have no yes.
func (r *run) decidePolicy() ([]report.PolicyHit, error) {
	var models []string
	for _, p := range r.parts() {
		if p.Model != "" {
			models = append(models, p.Model)
		}
	}
	if w := r.letLand; w != nil && w.Built.Policy != r.policies.Digest() {
		w.Built.Yes = nil // it was to other rules
	}
	r.rep.Policy = r.Decide(r.policies, r.rep.Verification, r.hiddenIDs(), models)
	p := r.rep.Policy
	if w := r.letLand; w != nil && p != nil && w.Built.Policy == p.SHA256 {
		r.policies.Settle(p, w.Built.Rules)
	}
	if hits := p.Forbids(); len(hits) > 0 {
		return nil, policy.Forbidden(hits, "`relay show`")
	}
	return p.Asks(), nil
}

// approve notes the operator's yes.
func (r *run) approve(asks []report.PolicyHit) {
	r.rep.Policy.Approve(asks)
	r.policyAt = r.now()
}

// askPolicy keeps what was built and makes a question of it.
func (r *run) askPolicy(ctx context.Context, asks []report.PolicyHit) error {
	if !r.cfg.Commit.OnSuccess {
		return r.reject(ctx, diag.New(judge.StopPolicyForbidden, "the policy asks about the change, and without commits it can't be kept for the answer", report.ListHits(asks), "`relay run` at a terminal asks at once"))
	}
	kept, err := r.Change.Keep(ctx, r.evident())
	if err != nil {
		return interrupted(ctx, pluginenv.BoxFault(err))
	}
	r.rep.Salvage, r.policyAsks = change.KeptRef(r.rep.RunID), true
	b := &trust.Built{Base: r.Change.Base(), Commit: kept, By: r.asker(), Beyond: r.beyond(), Policy: r.rep.Policy.SHA256, Plugins: r.parts()}
	for _, h := range r.rep.Policy.Hits { // those that were settled before are not asked again
		if h.Effect == string(policy.Ask) {
			b.Rules = append(b.Rules, h.ID())
		}
	}
	if b.Touched, err = attest.TouchedBetween(ctx, r.git, b.Base, b.Commit); err != nil {
		return diag.Git(err)
	}
	so := ""
	if w := r.letLand; w != nil && w.Built.Touched == b.Touched {
		b.Yes = w.Built.Yes
		keys := map[string]bool{}
		for _, yes := range b.Yes {
			if yes.Key != nil {
				keys[*yes.Key] = true
			}
		}
		so = fmt.Sprintf(" It has %s so far (different keys: %d).", format.Count(len(b.Yes), "approval"), len(keys))
	}
	w := trust.Wish{RunID: r.rep.RunID, Task: r.taskJSON, Built: b}
	if err := r.env.Trust.Ask(r.env.Root, w); err != nil {
		return internal(err)
	}
	r.rep.Question = &report.Question{Prompt: fmt.Sprintf("The policy asks about what was built for %q: %s. `relay salvage %s` has it.%s May it land?", report.Safe(r.task.Intent), report.ListHits(asks), r.rep.RunID, so), Choices: w.Choices()}
	return nil
}

// replay puts what the operator lets land into the box.
func (r *run) replay(ctx context.Context) error {
	b := r.letLand.Built
	why, err := r.Change.Replay(ctx, b.Base, b.Commit)
	if err == nil && why == "" {
		if why, err = attempt.ChangedSince(ctx, r.git, b.Base, b.Commit, r.Change.Base()); why != "" {
			why = report.Safe(why) + " was changed since you were asked"
		}
	}
	if err != nil {
		return internal(err)
	}
	if why != "" {
		return diag.New(judge.StopHeadMoved, "the change that you allowed conflicts with later work", why, "`relay salvage "+r.letLand.RunID+"` has it; `relay run` starts over")
	}
	r.built = true
	return nil
}
