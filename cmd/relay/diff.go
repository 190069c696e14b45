package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/paxiom/relay/host"
)

type diffOptions struct {
	app *app
	run string
}

func newDiffCmd(a *app) *cobra.Command {
	o := &diffOptions{app: a}
	return &cobra.Command{
		Use:               "diff [RUN|CYCLE|TASK]",
		Short:             "What a run or cycle changed, or would have changed",
		Long:              "Shows a change file by file, each with the rules that it broke, in your pager on a terminal.\nWithout an argument, the last run's. Only looks; relay show --diff has the rest of the run, too.",
		Example:           "relay diff\nrelay diff 20261120-1923      # a run id or the beginning of one\nrelay diff bf3c91             # an audit cycle",
		GroupID:           groupLook,
		Args:              oneArg(&o.run, "run, cycle or task"),
		RunE:              inRepo(a, o, runDiff),
		ValidArgsFunction: completeWork(a),
	}
}

func runDiff(ctx context.Context, repo *host.Repo, o *diffOptions) error {
	d, err := repo.Diff(ctx, o.run)
	return o.app.done(d, err, func(p *printer) {
		if len(d.Files) == 0 {
			p.advise("", host.Safe(d.ID)+" has no change to show. `relay show "+host.Safe(d.ID)+"` says how it ended.")
			return
		}
		if !page(ctx, o.app, p, d.Files) {
			diffText(p, d.Files)
		}
	})
}
