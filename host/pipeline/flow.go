package pipeline

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/paxiom/relay/host/durable"
	"github.com/paxiom/relay/host/internal/format"
	"github.com/paxiom/relay/host/internal/pluginenv"
	"github.com/paxiom/relay/host/internal/policy"
	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/judge"
)

// beginning is where an attempt begins.
type beginning struct {
	Base   string `json:"base"`
	Branch string `json:"branch"`
	// Policy is the policy as code of the base; nil where there is none.
	Policy *report.Policy `json:"policy,omitempty"`
}

// flow is the workflow of an attempt: deterministic code over recorded steps. Whatever
// becomes of the task, the attempt itself comes to its end.
func (a *taskRun) flow(f durable.Flow) error {
	carry := a.carryOut
	if a.record.From != "" {
		carry = a.bring
	}
	a.record.clear()
	err := carry(f)
	var failed *Problem
	var gone lost
	switch {
	case errors.As(err, &gone):
		a.record.Lost = string(gone)
	case errors.As(err, &failed):
		a.record.Code, a.record.Summary, a.record.Why, a.record.Next, a.record.Salvage = failed.Code, failed.What, failed.Why, failed.Fix, failed.Salvage
	case err != nil:
		return err
	default:
		a.record.Code, a.record.Summary = judge.Success, a.summary()
		if a.record.Evidence = a.evidence(); strings.HasPrefix(a.record.Evidence, report.NotVerified) {
			a.record.Summary += " (" + a.record.Evidence + ")"
		}
	}
	if a.record.EndedAt, err = f.Now(); err != nil {
		return err
	}
	if a.record.Step = ""; a.record.From == "" {
		a.record.Key = a.p.o.Key
	}
	if err := a.throwAway(); err != nil {
		a.stop(err)
		return err
	}
	return a.record.write(a.p)
}

// possible looks for what would keep the task from landing, before a call is paid for.
func (a *taskRun) possible() error {
	if beyond := Beyond(a.p.env.Config, &a.record.Task); len(beyond) > 0 && !a.p.o.Beyond {
		return &Problem{Code: judge.BlockedBeyondCeiling, What: "the task asks for more than the ceiling gives", Why: judge.Listed(beyond),
			Fix: "`relay pipeline run --beyond-ceiling --only " + a.record.TaskID + "` let it, if you mean it; `relay config show pipeline.scope` and `relay config show scope` show the ceiling"}
	}
	if _, missing := a.p.env.Config.Verification.HiddenChecks(a.p.place, a.p.env.Home, a.record.Task.HiddenChecks); len(missing) > 0 {
		return &Problem{Code: judge.BlockedMissingConfig, What: "the task asks for hidden checks that are not here", Why: strings.Join(missing, ", "),
			Fix: "`relay check list`, then `relay task retry " + a.record.TaskID + "`"}
	}
	for _, c := range a.commands() {
		if what, why, fix := pluginenv.CantStart(c.argv[0], a.p.env.Environ, a.At.Git.Root); what != "" {
			return &Problem{Code: judge.BlockedMissingConfig, What: "the command `" + strings.Join(c.argv, " ") + "` can't run: " + what, Why: why,
				Fix: fix + "; then `relay task retry " + a.record.TaskID + "`"}
		}
	}
	return nil
}

// carryOut takes the task through its steps.
func (a *taskRun) carryOut(f durable.Flow) error {
	if err := a.possible(); err != nil {
		return err
	}
	if err := a.plan(f); err != nil {
		return err
	}
	b, err := do(a, f, "begin", a.begin) // planning may have waited for days
	if err != nil {
		return err
	}
	a.record.Base, a.record.Branch, a.record.Policy = b.Base, b.Branch, b.Policy
	if err := a.code(f); err != nil {
		return err
	}
	if err := a.polish(f); err != nil {
		return err
	}
	if err := a.prove(f); err != nil {
		return err
	}
	if err := a.holdToPolicy(f); err != nil {
		return err
	}
	if a.p.o.Key == "" && !a.aside() {
		return a.land(f)
	}
	if err := a.keep(f, "set-aside"); err != nil || a.p.o.Key != "" {
		return err
	}
	return a.joinKept(f)
}

// polish reviews and cleans up: once, and again while reviews find something new or the
// validation command fails.
func (a *taskRun) polish(f durable.Flow) error {
	rounds := a.p.env.Config.Pipeline.MaxReviewRounds
	look, last := true, Check{OK: true}
	for round := 1; round <= rounds; round++ {
		fresh := 0
		if look {
			if err := a.lookAtTests(f, round); err != nil {
				return err
			}
			r, err := a.review(f, round)
			if err != nil {
				return err
			}
			fresh = r.New
		}
		if round > 1 && fresh == 0 && last.OK {
			return nil
		}
		if err := a.cleanup(f, round, last); err != nil {
			return err
		}
		var err error
		if last, err = a.validate(f, round); err != nil {
			return err
		}
		look = fresh > 0
		if !look && last.OK {
			return nil
		}
	}
	if !last.OK {
		return a.giveUp(f, a.problem(last, fmt.Sprintf(", after %s of cleanup", format.Count(rounds, "round"))))
	}
	return nil
}

// begin notes where the checkout stands, and the policy there.
func (a *taskRun) begin(ctx context.Context, _ durable.Attempt) (b beginning, err error) {
	if b, err = a.stands(ctx); err != nil {
		return b, err
	}
	set, err := policy.Open(ctx, a.At.Git, b.Base, a.p.env.Environ)
	b.Policy = set.Report()
	return b, err
}

func (a *taskRun) stands(ctx context.Context) (beginning, error) {
	if err := a.p.tidy(ctx, a.At.Git); err != nil {
		return beginning{}, err
	}
	return a.standing(ctx)
}

// standing is where the checkout stands.
func (a *taskRun) standing(ctx context.Context) (beginning, error) {
	if a.At.Git.Root == a.p.place.Root {
		tip, err := a.p.tip(ctx)
		return beginning{Base: tip, Branch: a.p.branch}, err
	}
	head, branch, err := a.At.Git.Head(ctx)
	return beginning{Base: head, Branch: branch}, err
}

// summary says in one line what came of a task that is done.
func (a *taskRun) summary() string {
	for i := len(a.record.Sessions) - 1; i >= 0; i-- {
		if s := a.record.Sessions[i].Summary; s != "" {
			return s
		}
	}
	return "done"
}
