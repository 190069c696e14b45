package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/paxiom/relay/host"
)

type statsOptions struct{ app *app }

func newStatsCmd(a *app) *cobra.Command {
	o := &statsOptions{app: a}
	return &cobra.Command{
		Use:     "stats",
		Short:   "How well models keep to the form that cycles require",
		Long:    "Counts, for each model, the calls of all audit cycles and the answers that lacked the form\nrequired: it shows whose prompt needs work.",
		Example: "relay audit stats\nrelay audit stats --json",
		Args:    noArgs,
		RunE:    inRepo(a, o, runStats),
	}
}

func runStats(ctx context.Context, repo *host.Repo, o *statsOptions) error {
	res, err := repo.Stats(ctx)
	return o.app.done(res, err, func(p *printer) {
		if len(res.Models) == 0 {
			p.advise("", "No audit cycle has called a model yet. `relay cost` has the calls of everything.")
			return
		}
		rows := [][]string{{"provider", "model", "calls", "wrong form", "audits", "raw audits", "cost"}}
		for _, m := range res.Models {
			rows = append(rows, []string{host.Safe(m.Provider), host.Safe(m.Model), plain(m.Calls), plain(m.NonConforming), plain(m.Audits), plain(m.Raw), spendText(m.Calls, m.CostUSD, m.UnknownCalls)})
		}
		p.table(rows)
	})
}
