package tick

import (
	"context"
	"path/filepath"

	"github.com/paxiom/relay/host/internal/crew"
	"github.com/paxiom/relay/host/internal/ledger"
	"github.com/paxiom/relay/host/internal/pluginhost"
	"github.com/paxiom/relay/host/internal/progress"
	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/judge/box"
	"github.com/paxiom/relay/sdk/pluginpb"
)

// crew is where the plugins of this run come from.
func (r *run) crew() crew.Env {
	return crew.Env{Catalog: r.env.Catalog, Config: r.cfg, Root: r.env.Root, StateDir: r.env.StateDir, Home: r.env.Home,
		Version: r.env.Version, RunID: r.rep.RunID, StderrDir: filepath.Join(r.hist.Dir(), "plugins")}
}

// warmProvider starts the orchestrator's plugin while the preflight goes on. What
// goes wrong is said when it is asked.
func (r *run) warmProvider(ctx context.Context) error {
	p, err := r.crew().Provider(r.cfg.Orchestrator.Provider, r.git)
	if err != nil {
		return err
	}
	p.Lazy.Warm(ctx)
	r.provider = p
	r.rep.Box = &report.BoxReport{Means: p.Box.Means(), Gaps: append(p.Box.Gaps(), box.Confine{}.Gaps()...)}
	return nil
}

// spend settles a call's reservation and adds what it used to the run.
func (r *run) spend(res *ledger.Reservation, p *crew.Plugin, model string, u *pluginpb.Usage, outcome string) error {
	use := p.Used(model, u, outcome)
	crew.Add(&r.used.InputTokens, use.InputTokens)
	crew.Add(&r.used.OutputTokens, use.OutputTokens)
	crew.Add(&r.used.CostUSD, use.CostUSD)
	r.observe(progress.Event{Kind: progress.Spent})
	return res.Settle(use)
}

// failedCall settles a call that gave nothing.
func (r *run) failedCall(res *ledger.Reservation, p *crew.Plugin, f *pluginhost.Failure) error {
	p.Failed(f)
	return r.spend(res, p, "", crew.Bought(f), "failed")
}
