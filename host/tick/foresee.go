package tick

import (
	"context"
	"slices"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/catalog"
	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/host/internal/ledger"
	"github.com/paxiom/relay/host/internal/task"
	"github.com/paxiom/relay/judge"
)

// Foreseen is what a tick would do, as far as it is known before a model is asked.
type Foreseen struct {
	// Checks are those of Preflight; when one failed, the rest may be empty.
	Checks []Check
	// Task is the operator's own; nil where a planner would be asked for one.
	Task *task.Task
	// Allowed, NewFiles, Lockfiles, MaxFiles and MaxLines are the most that a task may have.
	Allowed             []string
	NewFiles, Lockfiles bool
	MaxFiles, MaxLines  int
	// Refused says why the task would not be built: it asks for more than the ceiling gives.
	Refused error
	// Planner is "" when no planner is asked. Builder is the one that the task names, or the
	// one that a planner is told to prefer; BuilderModel is "" for the builder's own.
	Planner, PlannerModel, Builder, BuilderModel string
	// Verify are the checks of the change; for a planner's task those that every change
	// passes, and it may name more.
	Verify []config.Template
	// Worst is the most that the tick can use.
	Worst ledger.Worst
}

// Foresee works out what a tick would do. It asks no model, builds nothing, and changes
// nothing. The error is what is wrong with the operator's task.
func Foresee(ctx context.Context, env *Env, o Options) (*Foreseen, error) {
	r := newRun(env, o)
	checks, failed := r.lookOver(ctx)
	f := &Foreseen{Checks: checks}
	if failed {
		return f, nil
	}
	var err error
	if r.widened, err = env.Trust.Widened(env.Root); err != nil {
		return f, err
	}
	fence := r.cfg.TickFence()
	told := r.toldCeiling()
	f.Allowed, f.NewFiles, f.Lockfiles, f.MaxFiles, f.MaxLines = fence.Allowed, told.NewFiles, told.Lockfiles, told.MaxFiles, told.MaxLines
	f.Planner, f.PlannerModel, f.Builder = catalog.Canonical(r.cfg.Orchestrator.Provider), r.cfg.Models.OrchestratorModel, catalog.Canonical(r.cfg.Builder.DefaultMode)
	f.Worst = ledger.WorstCase(r.cfg, 0)
	ids := r.cfg.Verification.Required
	if o.Task != nil {
		if err := r.takeTask(); err != nil {
			return f, err
		}
		f.Task, f.Planner, f.PlannerModel = r.task, "", ""
		ids = slices.Concat(r.cfg.Verification.WithRequired(r.task.Verification.Fast, r.task.Verification.Slow), r.task.Verification.Slow)
		f.Worst = ledger.WorstCase(r.cfg, len(ids)).Unasked()
		f.Builder = ""
		if r.task.Builder != nil {
			f.Builder = catalog.Canonical(r.task.Builder.Mode)
		}
		if _, beyond := r.policy(); r.task.Kind == judge.Execute && len(beyond) > 0 {
			f.Refused = diag.New(judge.BlockedBeyondCeiling, "the task asks for more than the ceiling gives", judge.Listed(beyond), r.beyondFix())
		}
	}
	if f.Builder == catalog.Canonical(r.cfg.Builder.DefaultMode) {
		f.BuilderModel = r.cfg.Models.BuilderModel
	}
	for _, id := range ids {
		if i := slices.IndexFunc(r.cfg.Verification.Templates, func(t config.Template) bool { return t.ID == id }); i >= 0 {
			f.Verify = append(f.Verify, r.cfg.Verification.Templates[i])
		}
	}
	return f, nil
}
