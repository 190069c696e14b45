package main

import (
	"cmp"
	"context"

	"github.com/spf13/cobra"

	"github.com/paxiom/relay/host"
)

type milestoneOptions struct {
	app   *app
	name  string
	reset bool
}

func newMilestoneCmd(a *app) *cobra.Command {
	o := &milestoneOptions{app: a}
	cmd := &cobra.Command{
		Use:   "milestone [NAME]",
		Short: "Show the milestone, begin another one, or reset this one",
		Long: "Budgets are counted by milestone. Without an argument the present one is shown with what it has\n" +
			"used. A name begins that milestone with a budget of its own, or continues it where it was;\n" +
			"--reset resets it. The planner is told its name.",
		Example: "relay milestone\nrelay milestone docs\nrelay milestone --reset",
		GroupID: groupWork,
		Args:    oneArg(&o.name, "name"),
		RunE:    inRepo(a, o, runMilestone),
	}
	cmd.Flags().BoolVar(&o.reset, "reset", false, "count what the milestone uses from zero again")
	return cmd
}

func runMilestone(ctx context.Context, repo *host.Repo, o *milestoneOptions) error {
	res, err := repo.Milestone(ctx, o.name, o.reset)
	return o.app.done(res, err, func(p *printer) {
		name := cmp.Or(host.Safe(res.MilestoneID), "none yet; the first task names one")
		if res.Was != "" {
			name += " (before: " + host.Safe(res.Was) + ")"
		}
		p.row("milestone", name)
		for _, b := range res.Budgets {
			p.row("", budget(p, b))
		}
		p.next(res.Next)
	})
}
