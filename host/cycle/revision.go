package cycle

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/paxiom/relay/host/attempt"
	"github.com/paxiom/relay/host/change"
	"github.com/paxiom/relay/host/cycle/audit"
	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/catalog"
	"github.com/paxiom/relay/host/internal/format"
	"github.com/paxiom/relay/host/internal/policy"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/judge"
)

// keptResult is the file beside the diff: what came of an approval, for an attempt that
// is cut off before its step is recorded.
type keptResult struct {
	Approval string `json:"approval"`
	Final    bool   `json:"final"` // otherwise it holds if the branch has its commit
	revisionResult
}

// revision is one on its way through a box.
type revision struct {
	attempt.Attempt
	c      *Cycle
	key    string // of the approval: every attempt to carry it out has the same
	a      Approval
	plan   string
	doc    *audit.Document
	built  bool // what is in the box is finished and was paid for
	out    revisionResult
	claims map[string][]string
	seen   *material
	rules  *policy.Set
}

// carryOut has the approved plan carried out, judged and committed. What an attempt
// before this one had done already is taken from there.
func (c *Cycle) carryOut(ctx context.Context, a Approval) (revisionResult, error) {
	p := &revision{c: c, key: hashOf([]byte(a.Seal))[:24], a: a, out: revisionResult{Facts: RevisionFacts{By: c.rec.Reviser}}}
	p.Attempt = attempt.Attempt{At: c.at(), Workflow: "cycle", RunID: p.runID(), TaskID: c.rec.UUID, Law: p.law, Approvals: p.approvals, Programs: c.programsFile(c.rec.Iteration),
		Note: func(text string) { p.out.Facts.Notes = append(p.out.Facts.Notes, text) }}
	done, err := p.settle(ctx)
	if !done && err == nil {
		err = p.make(ctx)
	}
	return p.out, p.end(err)
}

// make brings the plan to its end: from what a builder had finished, or from the start.
func (p *revision) make(ctx context.Context) error {
	c := p.c
	void, err := c.holds(ctx, p.a)
	if void != "" || err != nil {
		p.out.Void = void
		return err
	}
	if p.rules, err = policy.Open(ctx, c.git, p.a.Tree, c.env.Environ); err != nil { // before anything is paid for
		return err
	}
	p.out.Facts.Policy = p.rules.Report()
	if _, p.doc, err = c.planText(); err != nil {
		return err
	}
	reg, err := c.registry(c.rec.Iteration)
	if err != nil {
		return err
	}
	p.decisions()
	p.doc.Fill(reg)
	p.plan = p.doc.String()
	if p.built {
		return p.judge(ctx)
	}
	if p.seen, err = c.gather(ctx, c.rec.Input); err != nil {
		return err
	}
	return p.build(ctx)
}

// decisions notes what the operator made of the ambiguous entries of the plan.
func (p *revision) decisions() {
	b, err := workspace.ReadFile(p.c.path(proposedFile), 16<<20)
	if err != nil {
		return // of a cycle that began before they were noted
	}
	proposed, err := audit.Parse(string(b))
	if err != nil {
		return
	}
	all := atMost(audit.Decisions(proposed, p.doc), 50)
	for i := range all {
		all[i].Plan, all[i].Asked, all[i].Decided = p.c.rec.Iteration, format.Clip(all[i].Asked, 200), format.Clip(all[i].Decided, 200)
	}
	p.out.Facts.Decisions = all
}

// end lets go of the box. After a failure, what was paid for stays in it for the next
// attempt, and an apply that could not be settled is left to that.
func (p *revision) end(err error) error {
	f, _ := diag.As(err)
	if err != nil && (p.built || f != nil && f.Code == judge.BlockedCrashRecovery) {
		return errors.Join(err, p.Leave())
	}
	return errors.Join(err, p.Discard())
}

// settle looks for what an earlier attempt did: the whole, or the builder's part. Of the
// rest it finishes or reverts what was begun.
func (p *revision) settle(ctx context.Context) (done bool, err error) {
	c := p.c
	old := p.kept()
	if !old.Final {
		if err := p.takeUp(ctx); p.Change != nil || err != nil {
			return false, err
		}
	}
	recovered, err := c.at().Recover(ctx, false, nil)
	if err != nil {
		return false, err
	}
	for _, r := range recovered {
		c.note("left over from an earlier attempt: " + r.Did)
		if r.Conflict != "" {
			return false, diag.New(judge.BlockedCrashRecovery, "the revision that was being written can't be settled", r.Conflict,
				"`git -C "+diag.Word(c.rec.Worktree)+" status`, take your own change back, then `relay audit resume "+Short(c.rec.UUID)+"`")
		}
	}
	if old.Final {
		p.out = old.revisionResult
		return true, nil
	}
	out, err := c.git.Run(ctx, nil, "log", "-1", "--format=%H%n%(trailers:key="+stepTrailer+",valueonly)")
	if err != nil {
		return false, diag.Git(err)
	}
	head, trailer, _ := strings.Cut(string(out), "\n")
	if strings.TrimSpace(trailer) != p.key {
		return false, nil
	}
	if old.Approval != p.key {
		return false, diag.New(judge.BlockedCrashRecovery, "what the landed revision came to can't be read", revisionFile+".json is not there, or of another revision",
			"`git -C "+diag.Word(c.rec.Worktree)+" show`")
	}
	p.out = old.revisionResult
	p.out.Facts.Landed, p.out.Facts.Commit = true, head
	p.attest(ctx)
	return true, nil
}

// kept is what an attempt to carry out this approval wrote down; empty when none did.
func (p *revision) kept() (old keptResult) {
	b, err := workspace.ReadFile(p.c.path(revisionFile+".json"), 1<<20)
	if err != nil || json.Unmarshal(b, &old) != nil || old.Approval != p.key {
		return keptResult{}
	}
	return old
}

// takeUp opens the box in which a builder had finished before relay ended, so that
// nobody builds, and pays, again.
func (p *revision) takeUp(ctx context.Context) error {
	c := p.c
	id := c.callID(p.ask())
	ans, err := c.answers().Read(id)
	if err != nil || ans == nil || !ans.Answered {
		return err
	}
	if _, err := c.env.Catalog.Find(ans.Provider, catalog.Builder); err != nil {
		return nil // a provider's answer needs no box
	}
	_, err = p.Resume(ctx, p.changeOptions())
	if p.Change != nil {
		c.note("what " + ans.Provider + " had finished is still there; nothing is built again")
		p.took(ans)
	}
	return err
}

func (p *revision) changeOptions() change.Options {
	return change.Options{RunID: p.RunID, Base: p.a.Tree, Branch: p.c.rec.Branch}
}

// programsFile keeps what the programs of the tests were before an iteration's revision.
func (c *Cycle) programsFile(iteration int) string {
	return c.path(fmt.Sprintf("programs-%d.json", iteration))
}
