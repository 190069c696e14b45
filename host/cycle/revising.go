package cycle

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/paxiom/relay/host/change"
	"github.com/paxiom/relay/host/cycle/audit"
	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/durable"
	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/host/internal/format"
	"github.com/paxiom/relay/host/internal/journal"
	"github.com/paxiom/relay/host/internal/patch"
	"github.com/paxiom/relay/host/internal/pluginenv"
	"github.com/paxiom/relay/host/internal/progress"
	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/box"
)

// RevisionFacts is what came of a revision.
type RevisionFacts struct {
	By         string           `json:"by"` // provider that revised
	Model      string           `json:"model,omitempty"`
	Landed     bool             `json:"landed"` // it was committed to the cycle's branch
	Commit     string           `json:"commit"` // of the branch: the revision's own when it landed
	Code       judge.Code       `json:"code"`   // what the judge found
	Why        string           `json:"why,omitempty"`
	Violations []string         `json:"violations,omitempty"` // each of Rules on a line
	Rules      []report.RuleHit `json:"rules,omitempty"`      // every rule that was broken, the first ones
	Policy     *report.Policy   `json:"policy,omitempty"`     // what it asks about is decided at the second gate
	Files      int              `json:"files"`
	Added      int              `json:"lines_added"`
	Deleted    int              `json:"lines_deleted"`
	Conflicts  string           `json:"plan_conflicts,omitempty"` // where the plan contradicts itself or the code
	Coverage   []audit.Coverage `json:"coverage,omitempty"`
	Beyond     []string         `json:"beyond_plan,omitempty"` // changed files that belong to no entry of the plan
	Decisions  []audit.Decision `json:"decisions,omitempty"`
	DiffSHA256 string           `json:"diff_sha256,omitempty"`
	Salvage    string           `json:"salvage,omitempty"`
	Box        string           `json:"box,omitempty"` // means of the box
	// Verification is what the checks said that every change has to pass, the hidden ones
	// among them; nil where there were none.
	Verification *report.Verification `json:"verification,omitempty"`
	Notes        []string             `json:"notes,omitempty"`
}

// revisionResult is what the step records. Void says why the approval does not hold;
// then nothing was changed.
type revisionResult struct {
	Facts RevisionFacts `json:"facts"`
	Calls []*CallFacts  `json:"calls,omitempty"`
	Void  string        `json:"void,omitempty"`
}

// stepTrailer ties a commit to the approval that it carries out.
const stepTrailer = "Relay-Step"

// gates are both of an iteration, with the revision between them. again: another
// iteration follows.
func (c *Cycle) gates(f durable.Flow) (again bool, err error) {
	plans, results := 0, 0
	var approved *Approval
	for {
		if ended, err := c.revise(f, &plans, approved); err != nil || ended {
			return false, err
		}
		if again, approved, err = c.decide(f, &results); approved == nil || err != nil {
			return again, err
		}
	}
}

// revise is the first gate and the revision behind it. An approval that does not hold
// leads back to the gate, as often as it takes; one that was given at the second gate has
// passed it. ended: the operator accepted what an earlier iteration landed. n counts the
// approvals of the iteration.
func (c *Cycle) revise(f durable.Flow, n *int, approved *Approval) (ended bool, err error) {
	for note := ""; ; {
		*n++
		a := approved
		if approved = nil; a == nil {
			if a, err = c.askPlan(f, *n, note); err != nil {
				return false, err
			}
		}
		if a == nil { // void
			continue
		}
		c.rec.Approval, c.rec.Revision = a, nil
		if a.Accept {
			c.rec.Acceptance = &Acceptance{UUID: a.UUID, Iteration: a.Iteration, Decision: DecideAccept, Tree: a.Tree, Failing: a.Failing, At: a.At}
			if err := c.enter(f, Complete, byOperator, fmt.Sprintf("what iteration %d landed", c.rec.LastLanded.Iteration)); err != nil {
				return true, err
			}
			return true, c.finish(f)
		}
		if err := c.enter(f, PlanApproved, byOperator, ""); err != nil {
			return false, err
		}
		if err := c.enter(f, RevisionRunning, byRelay, ""); err != nil {
			return false, err
		}
		res, err := try(c, f, fmt.Sprintf("revision-%d", *n), func(ctx context.Context, _ durable.Attempt, _ []string) (revisionResult, error) {
			return c.carryOut(ctx, *a)
		})
		if err != nil {
			return false, err
		}
		c.count(res.Calls...)
		if res.Void == "" {
			c.rec.Revision = &res.Facts
			c.rec.Decisions = slices.DeleteFunc(c.rec.Decisions, func(d audit.Decision) bool { return d.Plan == c.rec.Iteration })
			c.rec.Decisions = append(c.rec.Decisions, res.Facts.Decisions...)
			return false, nil
		}
		note = "the approval is void: " + res.Void
	}
}

// askPlan waits at the first gate; nil: the answer does not hold.
func (c *Cycle) askPlan(f durable.Flow, n int, note string) (*Approval, error) {
	if c.rec.State != AwaitingReview {
		if err := c.enter(f, AwaitingReview, byRelay, note); err != nil {
			return nil, err
		}
	}
	c.rec.Approval = nil
	a, err := durable.Ask[Approval](f, fmt.Sprintf("plan-%d-%d", c.rec.Iteration, n), map[string]any{"state": AwaitingReview, "iteration": c.rec.Iteration})
	if err != nil {
		return nil, err
	}
	void, err := durable.Step(f, fmt.Sprintf("approval-%d-%d", c.rec.Iteration, n), func(ctx context.Context, _ durable.Attempt) (string, error) {
		why, err := c.holds(ctx, a)
		if err != nil {
			return "", c.halt(err)
		}
		return why, nil
	})
	if err != nil || void == "" {
		return &a, err
	}
	c.note("the approval is void: " + void)
	return nil, nil
}

func (p *revision) runID() string {
	return fmt.Sprintf("%s-%d-%s", p.c.rec.UUID, p.c.rec.Iteration, p.key[:8])
}

// judge reads what was really changed, and lands it or keeps it aside.
func (p *revision) judge(ctx context.Context) error {
	c, f := p.c, &p.out.Facts
	v, err := p.Attempt.Judge(ctx)
	if err != nil {
		return err
	}
	f.Box = p.Change.Box().Means()
	f.Code, f.Files, f.Added, f.Deleted, f.Commit = v.Code, v.Radius.Files, v.Radius.Added, v.Radius.Deleted, p.a.Tree
	var changed []string
	for _, ch := range p.Change.Touched().Changes {
		changed = append(changed, ch.Path)
	}
	p.cover(changed)
	f.Rules = report.Hits(v, 40)
	for i, h := range f.Rules {
		f.Rules[i].Path, f.Rules[i].Rule = format.Clip(h.Path, 200), format.Clip(h.Rule, 200)
		f.Violations = append(f.Violations, format.Clip(h.String(), 200))
	}
	patch, err := patch.Bytes(p.Change.Left)
	if err != nil {
		return diag.Internal(err)
	}
	c.log(fmt.Sprintf("judge %s, %d files, +%d/-%d", v.Code, f.Files, f.Added, f.Deleted))
	switch {
	case v.Code != judge.Success:
		f.Why = "the judge stopped the revision"
		p.reject(ctx)
	case len(v.Kept) == 0:
		f.Why = "nothing was changed"
	default:
		passed, err := p.required(ctx)
		if err != nil {
			return err
		}
		if passed && p.holdToPolicy() {
			return p.land(ctx, patch)
		}
		p.reject(ctx)
	}
	return p.keep(patch, true)
}

// required runs the checks that every change has to pass.
func (p *revision) required(ctx context.Context) (passed bool, err error) {
	c, f := p.c, &p.out.Facts
	v := &c.env.Config.Verification
	hidden, _ := v.HiddenChecks(c.git, c.env.Home, nil)
	checks := v.RequiredChecks()
	if len(checks)+len(hidden) == 0 {
		return true, nil
	}
	k := p.Checks(checks...)
	k.Hidden = hidden
	results, code := p.Checker.Verify(ctx, k)
	p.Plan.Tell(p.At.Heard)
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	f.Verification = &report.Verification{Runs: []report.VerifyRun{}, Beside: !box.AtOwnPath(f.Box)}
	told := p.TellHidden(f.Verification)
	for _, r := range results {
		f.Verification.Runs = append(f.Verification.Runs, report.RunOf(r))
	}
	if f.Code = code; code == judge.Success {
		f.Verification.Said = f.Verification.Evidence()
		return true, nil
	}
	if told.Fault != nil {
		f.Why = told.Failed()
		f.Notes = append(f.Notes, "what the hidden checks printed is in "+pluginenv.HiddenLog(c.env.StateDir, p.RunID))
		return false, nil
	}
	f.Why = "a check that every change has to pass failed"
	if n := len(results); n > 0 {
		f.Why += ": " + results[n-1].Command.ID + " " + results[n-1].Outcome()
	}
	return false, nil
}

// land commits what was judged, if the approval still holds.
func (p *revision) land(ctx context.Context, patch []byte) error {
	c, f := p.c, &p.out.Facts
	void, err := c.holds(ctx, p.a)
	if void != "" || err != nil {
		p.out.Void = void
		return err
	}
	if err := p.keep(patch, false); err != nil {
		return err
	}
	landed, err := p.Change.Land(ctx, change.Landing{Message: p.message(), Commit: true, Note: p.RunID})
	if err != nil {
		return err
	}
	journal.Reached("cycle.landed")
	f.Notes = append(f.Notes, landed.Notes...)
	if landed.Commit == "" {
		f.Why = "git sees no difference"
		return p.keep(patch, true)
	}
	f.Landed, f.Commit = true, landed.Commit
	p.attest(ctx)
	c.log("commit " + landed.Commit + " on " + c.rec.Branch)
	c.observe(progress.Event{Kind: progress.Notice, Text: fmt.Sprintf("%s committed as %.12s on %s", format.Count(f.Files, "file"), landed.Commit, c.rec.Branch)})
	return nil
}

// keep writes the diff, and beside it what came of the approval.
func (p *revision) keep(patch []byte, final bool) error {
	p.out.Facts.DiffSHA256 = hashOf(patch)
	if err := workspace.WriteFile(p.c.path(revisionFile), patch); err != nil {
		return err
	}
	return workspace.WriteJSON(p.c.path(revisionFile+".json"), keptResult{p.key, final, p.out})
}

// reject keeps what was built where the operator can get at it.
func (p *revision) reject(ctx context.Context) {
	m := p.message()
	m.Subject = "[" + Short(p.c.rec.UUID) + "] rejected: " + string(p.out.Facts.Code)
	ref, notes := p.Reject(ctx, m)
	p.out.Facts.Salvage, p.out.Facts.Notes = ref, append(p.out.Facts.Notes, notes...)
}

// law is the ceiling, and what the service's scope asks for: a test or check that the
// approved plan names may be changed, since the operator has seen it there.
func (p *revision) law() (judge.Ceiling, judge.Request) {
	s := p.c.rec.ConfigSnapshot.Scope
	fence := config.Fence{Allowed: s.AllowedGlobs, NewFiles: s.AllowNewFiles, LockfileChanges: s.AllowLockfileChanges, MaxFiles: s.MaxFilesTouched, MaxLines: s.MaxLinesChanged}
	return p.c.at().Ceiling(fence, judge.SquashCommits), judge.Request{By: judge.Operator, Kind: judge.Execute, Allowed: p.named(), Forbidden: s.ForbiddenGlobs,
		NewFiles: s.AllowNewFiles, LockfileChanges: s.AllowLockfileChanges, MaxFiles: s.MaxFilesTouched, MaxLines: s.MaxLinesChanged}
}

// named is the service's scope, and the files in it that the plan names.
func (p *revision) named() []string {
	scope := p.c.rec.ConfigSnapshot.Scope.AllowedGlobs
	all := slices.Clone(scope)
	for _, i := range p.doc.Items {
		for _, path := range audit.Paths(i.Text) {
			if judge.ValidGlob(path) == nil && judge.Match(scope, path) {
				all = append(all, path)
			}
		}
	}
	return all
}

func (p *revision) forbidden() []string {
	return append(append([]string{}, p.c.env.Config.Scope.DefaultForbiddenGlobs...), p.c.rec.ConfigSnapshot.Scope.ForbiddenGlobs...)
}

// cover notes what of the change belongs to which entry of the plan.
func (p *revision) cover(changed []string) {
	all := audit.Cover(p.doc, p.claims, changed)
	p.out.Facts.Beyond = atMost(beyond(p.doc, all, changed), 50)
	all = atMost(all, 150)
	for i := range all {
		all[i].Line = format.Clip(all[i].Line, 160)
		all[i].Files, all[i].Wrong = atMost(all[i].Files, 20), atMost(all[i].Wrong, 10)
	}
	p.out.Facts.Coverage = all
}

// beyond are the changed files that belong to no entry, and that none of the whole plan names.
func beyond(plan *audit.Document, entries []audit.Coverage, changed []string) (rest []string) {
	names := func(path string) bool {
		return slices.ContainsFunc(plan.Items, func(i audit.Item) bool { return slices.Contains(audit.Paths(i.Text), path) })
	}
	for _, path := range changed {
		if !names(path) && !slices.ContainsFunc(entries, func(c audit.Coverage) bool { return slices.Contains(c.Files, path) }) {
			rest = append(rest, path)
		}
	}
	return rest
}

// archive moves the files of this iteration to a folder of theirs.
func (c *Cycle) archive(f durable.Flow) error {
	_, err := durable.Step(f, fmt.Sprintf("archive-%d", c.rec.Iteration), func(context.Context, durable.Attempt) (time.Time, error) {
		to := c.iterationDir(c.rec.Iteration)
		if err := c.env.WS.MkdirAll(to); err != nil {
			return time.Time{}, c.halt(err)
		}
		err := moveAside(filepath.Dir(c.path(planFile)), to, []string{inputFile, auditsDir, refinedFile, proposedFile, planFile, revisionFile, revisionFile + ".json", testsFile, findingsFile, "reviewed"})
		if err != nil {
			return time.Time{}, c.halt(err)
		}
		return c.env.now(), nil
	})
	return err
}
