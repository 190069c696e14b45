package host

import (
	"context"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/health"
	"github.com/paxiom/relay/host/internal/catalog"
	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/host/internal/pluginenv"
	"github.com/paxiom/relay/judge/git"
)

func (r *Repo) Checkup(ctx context.Context, l *config.Loaded, cat *catalog.Catalog) (*health.Checkup, error) {
	git, err := git.Open(ctx, l.Root)
	if err != nil {
		return nil, err
	}
	return &health.Checkup{Git: git, PluginEnv: pluginenv.Env{Catalog: cat, Config: l.Config, Root: l.Root, StateDir: r.StateDir(), Home: r.Home(), Version: r.Options.Version}}, nil
}

// Ready says why the plugins of a workflow certainly can't work: a program that is
// missing, no key, no login. It asks no network and costs nothing; nil is no promise.
// It is asked by what reports whether a tick could start, by a cycle before its first audit
// (health.CycleTeam), and by a pipeline before its first task (health.PipelineTeam).
func (r *Repo) Ready(ctx context.Context, l *config.Loaded, cat *catalog.Catalog, team []health.Member) error {
	c, err := r.Checkup(ctx, l, cat)
	if err != nil {
		return nil // the workflow has better words for it
	}
	for _, res := range c.All(ctx, team) {
		if !res.OK && !res.Skip {
			return &diag.Error{Code: res.Code, What: res.What, Why: res.Why, Fix: res.Fix, Says: res.PluginSays}
		}
	}
	return nil
}
