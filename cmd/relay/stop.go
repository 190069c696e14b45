package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/paxiom/relay/host"
)

type stopOptions struct {
	app   *app
	drain bool
}

func newStopCmd(a *app) *cobra.Command {
	o := &stopOptions{app: a}
	cmd := &cobra.Command{
		Use:   "stop",
		Short: "Stop the loop or run at work here, from another terminal",
		Long: "Stops the relay at work in this repository, like Ctrl-C in its own terminal: the current call\n" +
			"ends, nothing half-done remains, and a report is written. With --drain a loop first finishes\n" +
			"the current tick, and relay stop doesn't wait for it.",
		Example: "relay stop\nrelay stop --drain",
		GroupID: groupWork,
		Args:    noArgs,
		RunE:    inRepo(a, o, runStop),
	}
	cmd.Flags().BoolVar(&o.drain, "drain", false, "let the current tick finish")
	return cmd
}

// stopWait is how long an end at once may take before relay stop says that it lasts.
const stopWait = 15 * time.Second

func runStop(ctx context.Context, repo *host.Repo, o *stopOptions) error {
	opts := host.StopOptions{Drain: o.drain, Wait: stopWait}
	if o.drain {
		opts.Wait = 0
	}
	res, err := repo.Stop(ctx, opts)
	if err != nil {
		return err
	}
	return o.app.end(res.ExitCode, res, func(p *printer) {
		who := "process " + plain(res.PID)
		if res.LoopID != "" {
			who = "loop " + res.LoopID + ", " + who
		}
		switch {
		case !res.Running:
			p.linef("Nothing runs here.")
		case res.Ended:
			p.linef("Ended: %s.", who)
		case res.Drain:
			p.linef("Asked: %s ends after the tick under way.", who)
		default:
			p.linef("Asked, and it has not ended yet: %s.", who)
		}
		p.next(res.Next)
	})
}
