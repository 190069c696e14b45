package tick

import (
	"context"

	"github.com/paxiom/relay/host/internal/crew"
	"github.com/paxiom/relay/host/internal/ledger"
)

// orchestrators are the configured provider and its fallback.
func (r *run) orchestrators() *crew.Lineup {
	return r.crew().Lineup(ledger.RoleOrchestrator, r.cfg.Orchestrator.Provider, r.cfg.Models.OrchestratorModel, r.cfg.Fallback.Orchestrator)
}

// workers are the builder that the task names and its fallback. A patch is applied by
// patch or not at all.
func (r *run) workers() *crew.Lineup {
	fallback := r.cfg.Fallback.Builder
	if r.task.Builder.Mode == "patch" {
		fallback = nil
	}
	return r.crew().Lineup(ledger.RoleBuilder, r.task.Builder.Mode, r.cfg.Models.BuilderModel, fallback)
}

// keepUnfinished keeps what a builder had done when it met a limit: the next one begins
// anew, and nothing is ever lost.
func (r *run) keepUnfinished(ctx context.Context) {
	if !r.built || r.change == nil {
		return
	}
	_, err := r.change.Judge(ctx, r.policy())
	if err == nil && len(r.change.Touched().Changes) > 0 {
		name := "unfinished-" + r.builder.Entry.Name + ".patch"
		var kept bool
		if kept, err = r.writePatch(name); kept {
			r.note("what " + r.builder.Entry.Name + " had done when it met its limit is kept in the history as " + name)
		}
	}
	if err != nil {
		r.note("what " + r.builder.Entry.Name + " had done when it met its limit could not be kept: " + err.Error())
	}
}
