package tick

import (
	"context"
	"path/filepath"

	"github.com/paxiom/relay/host/attempt"
	"github.com/paxiom/relay/host/internal/confine"
	"github.com/paxiom/relay/host/internal/netproxy"
	"github.com/paxiom/relay/host/internal/pluginenv"
	"github.com/paxiom/relay/host/internal/progress"
	"github.com/paxiom/relay/host/internal/report"
)

// plugins is where the plugins of this run come from.
func (r *run) pluginEnv() pluginenv.Env {
	return r.at().PluginEnv(r.rep.RunID, filepath.Join(r.hist.Dir(), "plugins"))
}

// refused says that something in a box wanted a host that is not listed.
func (r *run) refused(n netproxy.Refusal) {
	r.observe(progress.Event{Kind: progress.Notice, Text: attempt.RefusedText(n)})
}

// describeNetwork says in the report what boxes could reach, and what they were refused.
func (r *run) describeNetwork() {
	if r.rep.Box == nil {
		return
	}
	var plans []*confine.Plan
	for _, p := range []*pluginenv.Plugin{r.provider, r.Builder} {
		if p != nil {
			plans = append(plans, p.Plan)
		}
	}
	for _, p := range append(plans, r.Plan) {
		if n := p.Report(); n != nil {
			r.rep.Box.Network = append(r.rep.Box.Network, *n)
		}
	}
}

// warmProvider starts the orchestrator's plugin while the preflight continues. What goes
// wrong is said when it is asked.
func (r *run) warmProvider(ctx context.Context) {
	r.brains = r.orchestrators()
	if p, err := r.openProvider(ctx, r.brains.Now().Name); err == nil {
		p.Lazy.Warm(ctx)
	}
}

// openProvider gives the provider of this name, from the session where it runs already.
func (r *run) openProvider(ctx context.Context, name string) (*pluginenv.Plugin, error) {
	if p := r.opened[name]; p != nil {
		return p, nil
	}
	if r.boxErr != nil {
		return nil, r.boxErr
	}
	p, err := r.o.Session.Provider(ctx, r.pluginEnv(), name, r.git)
	if err != nil {
		return nil, err
	}
	if r.opened == nil {
		r.opened = map[string]*pluginenv.Plugin{}
	}
	r.opened[name] = p
	if r.rep.Box == nil {
		r.rep.Box = &report.BoxReport{Means: p.Box.Means(), Gaps: append(p.Box.Gaps(), p.Plan.Gaps(p.Box.Means())...)}
	}
	return p, nil
}

// chooseProvider makes the provider of this name the one that is asked.
func (r *run) chooseProvider(ctx context.Context, name string) (*pluginenv.Plugin, error) {
	p, err := r.openProvider(ctx, name)
	if err == nil {
		r.provider, r.rep.Orchestrator = p, p.Worker
	}
	return p, err
}
