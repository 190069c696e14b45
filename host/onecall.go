package host

import (
	"context"

	"github.com/paxiom/relay/host/internal/catalog"
	"github.com/paxiom/relay/host/internal/crew"
	"github.com/paxiom/relay/host/internal/desk"
	"github.com/paxiom/relay/host/internal/ledger"
	"github.com/paxiom/relay/host/internal/progress"
	"github.com/paxiom/relay/judge"
)

// desk is where a single call is made in a role, by the provider that plans a pipeline's
// tasks: on a tab of its own, beside whatever else runs. Answers are kept in a folder.
func (r *Repo) desk(ctx context.Context, repo *opened, git *judge.Git, id, kept string, watch Observer, spent func(ledger.Line)) (*desk.Desk, *crew.Lineup, func(), error) {
	cfg, ws := repo.loaded.Config, repo.ws
	cat, err := r.catalog(repo.root)
	if err != nil {
		return nil, nil, nil, err
	}
	role := member{id, cfg.Pipeline.Plan.Provider, catalog.Provider, cfg.Pipeline.Plan.Model}
	if err := r.ready(ctx, repo.loaded, cat, []member{role}); err != nil {
		return nil, nil, nil, err
	}
	if err := ws.Ensure(); err != nil {
		return nil, nil, nil, err
	}
	answers := desk.Answers{Dir: kept}
	tab, _, err := ledger.OpenTab(ws, cfg.Budgets, r.stateDir(), id, answers.Kept)
	if err != nil {
		return nil, nil, nil, err
	}
	env := crew.Env{Catalog: cat, Config: cfg, Root: repo.root, StateDir: r.stateDir(), Home: r.home(), Version: r.opts.Version, RunID: id}
	hired := &crew.Session{}
	d := &desk.Desk{Workflow: id, RunID: id, Crew: func() crew.Env { return env }, Reserve: desk.Tab(tab), Answers: answers,
		Hire: func(ctx context.Context, name string) (*crew.Plugin, error) {
			return hired.Provider(ctx, env, name, git)
		},
		Show: func(e progress.Event) {
			if e.RunID = id; watch != nil {
				watch.Observe(e)
			}
		},
		Spent: spent,
	}
	d.Note = func(text string) { d.Show(progress.Event{Kind: progress.Notice, Text: text}) }
	lineup := env.Lineup(role.role, role.name, role.model, cfg.Pipeline.Plan.Fallback)
	return d, lineup, func() { hired.Close(context.WithoutCancel(ctx)) }, nil
}
