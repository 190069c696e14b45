package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/paxiom/relay/host"
	"github.com/paxiom/relay/host/cycles"
)

type abortOptions struct {
	app    *app
	id     string
	reason string
}

func newAbortCmd(a *app) *cobra.Command {
	o := &abortOptions{app: a}
	cmd := &cobra.Command{
		Use:   "abort CYCLE",
		Short: "End a cycle for good; its files and branch stay",
		Long: "Ends a cycle in whatever state it is, also while it runs in another terminal. Audits, plan, branch\n" +
			"and commits stay where they are; the service and the work tree are free again.",
		Example: "relay audit abort bf3c91 --reason \"the spec changed\"",
		Args:    needArg(&o.id, "cycle", "relay queue"),
		RunE:    inRepo(a, o, runAbort),

		ValidArgsFunction: completeCycles(a),
	}
	cmd.Flags().StringVar(&o.reason, "reason", "", "`TEXT` for the log")
	return cmd
}

func runAbort(ctx context.Context, repo *host.Repo, o *abortOptions) error {
	res, err := cycles.Abort(ctx, repo, o.id, o.reason)
	return o.app.cycleEnd(res, err)
}
