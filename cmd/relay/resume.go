package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/paxiom/relay/host"
	"github.com/paxiom/relay/host/cycles"
)

type resumeOptions struct {
	app     *app
	id      string
	without []string
}

func newResumeCmd(a *app) *cobra.Command {
	o := &resumeOptions{app: a}
	cmd := &cobra.Command{
		Use:   "resume CYCLE",
		Short: "Continue a cycle that a crash, a signal or a problem interrupted",
		Long: "Continues from the last recorded step. Answers that had arrived are not asked for again. One that\n" +
			"was under way is asked for again, and relay says so.",
		Example: "relay audit resume bf3c91\nrelay audit resume bf3c91 --without audit_b   # continue with the audits that exist",
		Args:    needArg(&o.id, "cycle", "relay queue"),
		RunE:    inRepo(a, o, runResume),

		ValidArgsFunction: completeCycles(a),
	}
	cmd.Flags().StringSliceVar(&o.without, "without", nil, "continue without `ROLE`: audit_a, audit_b, …, refinement")
	return cmd
}

func runResume(ctx context.Context, repo *host.Repo, o *resumeOptions) error {
	live := newProgress(o.app, repo)
	defer live.close()
	res, err := cycles.Resume(ctx, repo, o.id, o.without, live)
	live.close()
	return o.app.cycleEnd(res, err)
}
