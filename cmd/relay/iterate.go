package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/paxiom/relay/host"
	"github.com/paxiom/relay/host/cycles"
)

type iterateOptions struct {
	app *app
	id  string
}

func newIterateCmd(a *app) *cobra.Command {
	o := &iterateOptions{app: a}
	return &cobra.Command{
		Use:   "iterate CYCLE",
		Short: "Gate 2: not yet; audit again",
		Long: "Has the auditors look at the revision, with what they found before, its diff and the tests' output.\n" +
			"Findings keep their ids, so that you see what is fixed, new, or came back.",
		Example: "relay audit iterate bf3c91",
		Args:    needArg(&o.id, "cycle", "relay queue"),
		RunE:    inRepo(a, o, runIterate),

		ValidArgsFunction: completeCycles(a),
	}
}

func runIterate(ctx context.Context, repo *host.Repo, o *iterateOptions) error {
	live := newProgress(o.app, repo)
	defer live.close()
	res, err := cycles.Iterate(ctx, repo, o.id, live)
	live.close()
	return o.app.cycleEnd(res, err)
}
