package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/paxiom/relay/host"
	"github.com/paxiom/relay/host/cycles"
)

type acceptOptions struct {
	app     *app
	id      string
	despite cycles.Despite
}

func newAcceptCmd(a *app) *cobra.Command {
	o := &acceptOptions{app: a}
	cmd := &cobra.Command{
		Use:   "accept CYCLE",
		Short: "Gate 2: accept the revision; the branch is ready",
		Long: "Accepts the revision of a cycle as it was shown, ends the cycle and prints the command to merge its\n" +
			"branch. relay merges nothing by itself. At the first gate of a later round it accepts what the last\n" +
			"revision landed.",
		Example: "relay show bf3c91 --diff\nrelay audit accept bf3c91",
		Args:    needArg(&o.id, "cycle", "relay queue"),
		RunE:    inRepo(a, o, runAccept),

		ValidArgsFunction: completeCycles(a),
	}
	cmd.Flags().BoolVar(&o.despite.FailingTests, "with-failing-tests", false, "acknowledge that the tests failed")
	cmd.Flags().BoolVar(&o.despite.EditedPlan, "with-edited-plan", false, "even though you edited the plan after it was carried out")
	return cmd
}

func runAccept(ctx context.Context, repo *host.Repo, o *acceptOptions) error {
	live := newProgress(o.app, repo)
	defer live.close()
	res, err := cycles.Accept(ctx, repo, o.id, o.despite, live)
	live.close()
	return o.app.cycleEnd(res, err)
}
