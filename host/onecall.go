package host

import (
	"context"

	"github.com/paxiom/relay/host/health"
	"github.com/paxiom/relay/host/internal/catalog"
	"github.com/paxiom/relay/host/internal/ledger"
	"github.com/paxiom/relay/host/internal/modelcall"
	"github.com/paxiom/relay/host/internal/pluginenv"
	"github.com/paxiom/relay/host/internal/progress"
	"github.com/paxiom/relay/judge/git"
)

// Caller is where a single call is made in a role, by the provider that plans a pipeline's
// tasks: with reservations of its own, beside whatever else runs. Answers are kept in a folder.
func (r *Repo) Caller(ctx context.Context, repo *Opened, git *git.Repo, id, kept string, watch Observer, spent func(ledger.Line)) (*modelcall.Caller, *pluginenv.Lineup, func(), error) {
	cfg, ws := repo.Loaded.Config, repo.WS
	cat, err := r.Catalog(repo.Root)
	if err != nil {
		return nil, nil, nil, err
	}
	role := health.Member{Role: id, Name: cfg.Pipeline.Plan.Provider, Kind: catalog.Provider, Model: cfg.Pipeline.Plan.Model}
	if err := r.Ready(ctx, repo.Loaded, cat, []health.Member{role}); err != nil {
		return nil, nil, nil, err
	}
	if err := ws.Ensure(); err != nil {
		return nil, nil, nil, err
	}
	answers := modelcall.Answers{Dir: kept}
	reserved, _, err := ledger.OpenReservations(ws, cfg.Budgets, r.StateDir(), id, answers.Kept)
	if err != nil {
		return nil, nil, nil, err
	}
	env := pluginenv.Env{Catalog: cat, Config: cfg, Root: repo.Root, StateDir: r.StateDir(), Home: r.Home(), Version: r.Options.Version, RunID: id}
	session := &pluginenv.Session{}
	d := &modelcall.Caller{Workflow: id, RunID: id, Plugins: func() pluginenv.Env { return env }, Reserve: modelcall.Reserved(reserved), Answers: answers,
		Start: func(ctx context.Context, name string) (*pluginenv.Plugin, error) {
			return session.Provider(ctx, env, name, git)
		},
		Show: func(e progress.Event) {
			if e.RunID = id; watch != nil {
				watch.Observe(e)
			}
		},
		Spent: spent,
	}
	d.Note = func(text string) { d.Show(progress.Event{Kind: progress.Notice, Text: text}) }
	lineup := env.Lineup(role.Role, role.Name, role.Model, cfg.Pipeline.Plan.Fallback)
	return d, lineup, func() { session.Close(context.WithoutCancel(ctx)) }, nil
}
