package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/paxiom/relay/host"
)

type undoOptions struct {
	app *app
	run string
	dry bool
}

func newUndoCmd(a *app) *cobra.Command {
	o := &undoOptions{app: a}
	cmd := &cobra.Command{
		Use:   "undo [RUN]",
		Short: "Reverse a landed change with a new commit",
		Long: "Makes a commit that reverts what a run landed; later work in other files stays. Refuses when one\n" +
			"of its files was changed since, committed or not. Without an argument the last run that landed.",
		Example:           "relay undo\nrelay undo --dry-run           # which run, and what it would put back\nrelay undo 20261120-192359-k3v9m2qa",
		GroupID:           groupBack,
		Args:              oneArg(&o.run, "run id"),
		RunE:              inRepo(a, o, runUndo),
		ValidArgsFunction: completeRuns(a, func(r host.RunLine) bool { return r.Commit != "" && r.Workflow != "undo" }),
	}
	cmd.Flags().BoolVar(&o.dry, "dry-run", false, "say what would be taken back, or why it can't be, and do nothing")
	return cmd
}

func runUndo(ctx context.Context, repo *host.Repo, o *undoOptions) error {
	u, err := repo.Undo(ctx, o.run, o.dry)
	return o.app.done(u, err, func(p *printer) {
		if o.dry {
			p.row("would undo", "run "+u.RunID+", commit "+u.Undone)
		} else {
			p.row("undone", "run "+u.RunID+", commit "+u.Undone)
		}
		p.row("commit", u.Commit)
		p.row("files", joined(u.Paths))
		for _, n := range u.Notes {
			p.row("note", host.Safe(n))
		}
	})
}
