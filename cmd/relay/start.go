package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/paxiom/relay/host"
	"github.com/paxiom/relay/host/cycles"
)

type startOptions struct {
	app     *app
	service string
	base    string
	models  []string
	with    []string
	force   bool
}

func newStartCmd(a *app) *cobra.Command {
	o := &startOptions{app: a}
	cmd := &cobra.Command{
		Use:   "start SERVICE",
		Short: "Begin an audit cycle: models audit, and the plan waits for you",
		Long: "Begins a cycle on a service, on a branch and in a work tree of its own. The auditors read the code\n" +
			"and the references; their plan then waits for relay audit review and relay audit continue.",
		Example: "relay audit start A-202\nrelay audit start A-202 --base feature/sync --model audit_a=claude-opus-4-7\nrelay audit start A-202 --json | jq -r .cycle.uuid",
		Args:    needArg(&o.service, "service", "relay audit service list"),
		RunE:    inRepo(a, o, runStart),

		ValidArgsFunction: completeServices(a),
	}
	f := cmd.Flags()
	f.StringVar(&o.base, "base", "", "begin at `COMMIT` or branch, not at HEAD")
	f.StringArrayVar(&o.models, "model", nil, "`[ROLE=]MODEL` for this cycle: audit_a, audit_b or refinement")
	f.StringArrayVar(&o.with, "with", nil, "override `KEY=VALUE` of the service for this cycle")
	f.BoolVar(&o.force, "force", false, "even if another cycle works on the service")
	return cmd
}

func runStart(ctx context.Context, repo *host.Repo, o *startOptions) error {
	live := newProgress(o.app, repo)
	defer live.close()
	res, err := cycles.Start(ctx, repo, cycles.StartOptions{Service: o.service, Base: o.base, Model: o.models, With: o.with, Force: o.force, Observer: live,
		Began: func(c *host.Cycle) { live.note("cycle " + c.UUID + " on " + c.Branch) }})
	live.close()
	return o.app.cycleEnd(res, err)
}
