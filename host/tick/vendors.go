package tick

import (
	"context"

	"github.com/paxiom/relay/host/internal/catalog"
	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/host/internal/ledger"
	"github.com/paxiom/relay/host/internal/pluginenv"
)

// orchestrators are the configured provider and its fallback.
func (r *run) orchestrators() *pluginenv.Lineup {
	return r.pluginEnv().LineupOf(ledger.RoleOrchestrator, planners(r.cfg))
}

// workers are the builder that the task names and its fallback.
func (r *run) workers() *pluginenv.Lineup {
	return r.pluginEnv().LineupOf(ledger.RoleBuilder, workersOf(r.cfg, r.task.Builder.Mode))
}

func planners(cfg *config.Config) []pluginenv.Choice {
	return pluginenv.Choices(cfg.Orchestrator.Provider, cfg.Models.OrchestratorModel, cfg.Fallback.Orchestrator)
}

// workersOf: a patch is applied by patch or not at all.
func workersOf(cfg *config.Config, builder string) []pluginenv.Choice {
	fallback := cfg.Fallback.Builder
	if builder == "patch" {
		fallback = nil
	}
	model := ""
	if configured(cfg, builder) {
		model = cfg.Models.BuilderModel
	}
	return pluginenv.Choices(builder, model, fallback)
}

// configured reports whether a builder is the one that the configuration's models are for:
// another one, which a task may name, would not know them.
func configured(cfg *config.Config, builder string) bool {
	return catalog.Canonical(builder) == catalog.Canonical(cfg.Builder.DefaultMode)
}

// Askable is whom a tick can ask in a role, when its task names no other builder than
// the configured one.
func Askable(cfg *config.Config, role string) []pluginenv.Choice {
	if role == ledger.RoleBuilder {
		return workersOf(cfg, cfg.Builder.DefaultMode)
	}
	return planners(cfg)
}

// keepUnfinished keeps what a builder had done when it met a limit: the next one begins
// anew, and nothing is ever lost.
func (r *run) keepUnfinished(ctx context.Context) {
	if !r.built || r.Change == nil {
		return
	}
	_, err := r.Attempt.Judge(ctx)
	if err == nil && len(r.Change.Touched().Changes) > 0 {
		name := "unfinished-" + r.Builder.Entry.Name + ".patch"
		var kept bool
		if kept, err = r.writePatch(name); kept {
			r.note("what " + r.Builder.Entry.Name + " had done when it met its limit is kept in the history as " + name)
		}
	}
	if err != nil {
		r.note("what " + r.Builder.Entry.Name + " had done when it met its limit could not be kept: " + err.Error())
	}
}
