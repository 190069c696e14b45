package host

import (
	"context"

	"github.com/paxiom/relay/host/change"
	"github.com/paxiom/relay/host/cycle"
	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/health"
	"github.com/paxiom/relay/host/internal/activitylog"
	"github.com/paxiom/relay/host/internal/catalog"
	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/host/internal/journal"
	"github.com/paxiom/relay/host/internal/notify"
	"github.com/paxiom/relay/host/internal/pluginenv"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/host/pipeline"
	"github.com/paxiom/relay/host/tick"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/git"
)

// ChangeEnv is what changes of this repository share.
func (r *Repo) ChangeEnv(ctx context.Context, o *Opened) (change.Env, error) {
	git, err := git.Open(ctx, o.Root)
	if err != nil {
		return change.Env{}, diag.Git(err)
	}
	return change.Env{Git: git, StateDir: r.StateDir(), Choose: pluginenv.Chooser(o.Loaded.Config, r.StateDir()), Journal: journal.Open(o.WS.Journal()), Home: r.Home(),
		Owned: append(o.WS.OwnedGlobs(), o.Loaded.Config.Runner.RunnerOwnedGlobs...), Environ: r.Options.Env}, nil
}

// tickEnv gathers what ticks need. What is missing is left for the preflight, which
// reports it in its own order.
func (r *Repo) tickEnv(obs Observer) (*tick.Env, error) {
	env := &tick.Env{Dir: r.Dir, Trust: r.TrustStore(), StateDir: r.StateDir(), Private: r.private(), Home: r.Home(),
		Environ: r.Options.Env, Version: r.Options.Version, Observer: obs}
	if r.Options.Clock != nil {
		env.Now = r.Options.Clock.Now
	}
	env.Root, env.LoadErr = workspace.FindRoot(r.Dir)
	if env.LoadErr == nil {
		env.Loaded, env.LoadErr = r.LoadConfig(env.Root)
	}
	if env.LoadErr == nil {
		env.Observer = r.Watched("tick", env.Loaded.Config, obs)
	}
	var err error
	env.Catalog, err = r.Catalog(env.Root)
	env.Ready = r.readiness(env)
	return env, err
}

// readiness serves the commands that report whether a tick could start; a tick asks its own plugins.
func (r *Repo) readiness(env *tick.Env) func(ctx context.Context, planner, builder string) error {
	return func(ctx context.Context, planner, builder string) error {
		team := []health.Member{{Role: "builder", Name: builder, Kind: catalog.Builder, Model: env.Loaded.Config.Models.BuilderModel}}
		if planner != "" {
			team = append(team, health.Member{Role: "orchestrator", Name: planner, Kind: catalog.Provider, Model: env.Loaded.Config.Models.OrchestratorModel})
		}
		return r.Ready(ctx, env.Loaded, env.Catalog, team)
	}
}

// CycleEnv gathers what cycles need.
func (r *Repo) CycleEnv(obs Observer) (*cycle.Env, *Opened, error) {
	repo, err := r.Open()
	if err != nil {
		return nil, nil, err
	}
	if err := r.TrustStore().Check(repo.Loaded, r.Getenv); err != nil {
		return nil, nil, err
	}
	cat, err := r.Catalog(repo.Root)
	if err != nil {
		return nil, nil, err
	}
	if err := repo.WS.Ensure(); err != nil {
		return nil, nil, err
	}
	if err := repo.WS.MkdirAll(repo.WS.Logs()); err != nil {
		return nil, nil, err
	}
	env := &cycle.Env{Root: repo.Root, Config: repo.Loaded.Config, WS: repo.WS, Catalog: cat, StateDir: r.StateDir(), DataDir: r.DataDir(), Home: r.Home(),
		Environ: r.Options.Env, Version: r.Options.Version, Now: r.Now, Clock: r.Options.Clock,
		Observer: r.Watched("cycle", repo.Loaded.Config, obs)}
	env.RaisedCap = repo.Loaded.Origin(PerCycle).Layer == config.LayerFlag
	env.Log = func(uuid, service, text string) { _ = activitylog.Append(repo.WS.Logs(), r.Now(), uuid, service, text) }
	env.Notify = func(n cycle.Notice) {
		n.Title, n.Text = Safe(n.Title), Safe(n.Text)
		r.Tell(repo, repo.Loaded.Config.Notify, n.UUID, n.Service, notify.Message{Title: n.Title, Text: n.Text, Data: n})
	}
	return env, repo, nil
}

func (r *Repo) PipelineEnv(obs Observer) (*pipeline.Env, *Opened, error) {
	repo, err := r.Open()
	if err != nil {
		return nil, nil, err
	}
	if repo.Loaded.File == "" {
		return nil, nil, diag.New(judge.BlockedMissingConfig, "this repository has no configuration for relay", "there is no relay.config.json, .yaml, .yml or .toml in "+repo.Root, "`relay init`")
	}
	cat, err := r.Catalog(repo.Root)
	if err != nil {
		return nil, nil, err
	}
	return &pipeline.Env{Root: repo.Root, Config: repo.Loaded.Config, WS: repo.WS, Catalog: cat, StateDir: r.StateDir(), DataDir: r.DataDir(), Home: r.Home(),
		Environ: r.Options.Env, Version: r.Options.Version, Clock: r.Options.Clock,
		Observer: r.Watched("pipeline", repo.Loaded.Config, obs)}, repo, nil
}

const PerCycle = "budgets.per_cycle.max_cost_usd"
