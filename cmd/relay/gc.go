package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/paxiom/relay/host"
)

type gcOptions struct {
	app *app
	dry bool
}

func newGCCmd(a *app) *cobra.Command {
	o := &gcOptions{app: a}
	cmd := &cobra.Command{
		Use:     "gc",
		Short:   "Remove the work trees that no cycle and no task has",
		Long:    "Cycles, and tasks that are worked on side by side, have work trees of their own, which later\nones use again. This removes those that are free. Branches, commits and the files of cycles and\ntasks stay.",
		Example: "relay gc --dry-run\nrelay gc",
		GroupID: groupSetup,
		Args:    noArgs,
		RunE:    inRepo(a, o, runGC),
	}
	cmd.Flags().BoolVar(&o.dry, "dry-run", false, "only say what would be removed")
	return cmd
}

func runGC(ctx context.Context, repo *host.Repo, o *gcOptions) error {
	res, err := repo.GC(ctx, o.dry)
	return o.app.done(res, err, func(p *printer) {
		verb := "removed"
		if res.DryRun {
			verb = "would go"
		}
		for _, w := range res.Removed {
			p.row(verb, host.Safe(w.Path)+"  "+p.dim(size(w.Bytes)))
		}
		for _, w := range res.Kept {
			p.row("in use", host.Safe(w.Path)+"  "+p.dim(w.Cycle+host.Safe(w.Task)))
		}
		if len(res.Removed) == 0 {
			p.linef("nothing to remove")
			return
		}
		p.linef("%s, %s", plural(len(res.Removed), "work tree", "work trees"), size(res.Bytes))
	})
}
