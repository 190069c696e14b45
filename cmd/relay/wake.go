package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/paxiom/relay/host"
)

type wakeOptions struct {
	app *app
	id  string
}

func newWakeCmd(a *app) *cobra.Command {
	o := &wakeOptions{app: a}
	return &cobra.Command{
		Use:   "wake [CYCLE]",
		Short: "End the waits for vendors' limits, and ask again now",
		Long: "A loop, an audit cycle or a pipeline that met a vendor's limit or outage waits until it ends.\n" +
			"relay wake ends the wait from another terminal: every configured provider is asked once more. If\n" +
			"they refuse again, it waits again; nothing is counted against a budget. relay status shows waits.",
		Example: "relay wake\nrelay wake bf3c91",
		GroupID: groupWork,
		Args:    oneArg(&o.id, "cycle"),
		RunE:    inRepo(a, o, runWake),

		ValidArgsFunction: completeCycles(a),
	}
}

func runWake(ctx context.Context, repo *host.Repo, o *wakeOptions) error {
	res, err := repo.Wake(ctx, o.id)
	return o.app.done(res, err, func(p *printer) {
		switch {
		case res.Loop == nil:
		case res.Loop.Running:
			p.linef("The loop %s asks again now.", res.Loop.ID)
		default:
			p.linef("The wait of the loop %s is over.", res.Loop.ID)
		}
		for _, t := range res.Tasks {
			if res.Pipeline {
				p.linef("The task %s asks again now.", t)
			} else {
				p.linef("The wait of the task %s is over; no relay works on it.", t)
			}
		}
		for _, c := range res.Cycles {
			p.linef("The wait of cycle %s (%s) is over.", c.Short, host.Safe(c.Service))
		}
		p.next(res.Next)
	})
}

// waitRow shows a loop that waits: until when, how long that still is, and for whom.
func waitRow(p *printer, l *host.LoopSeen) {
	w := l.Wait
	text := l.ID + "  "
	switch left := time.Until(w.Until); {
	case l.Running || left > 0:
		text += p.bold("waits") + " until " + w.Until.Local().Format(time.DateTime) + ", " + p.bold(countdown(left)+" left")
	default:
		text += p.yellow(l.Broke()) + "; its wait ended at " + w.Until.Local().Format(time.DateTime)
	}
	if l.Running {
		text += pid(l.PID)
	} else {
		text += ", to be resumed"
	}
	p.row("loop", text)
	for _, m := range w.Limits {
		who := m.Provider
		if m.Model != "" {
			who += "/" + m.Model
		}
		if m.Name != "" {
			who += " (" + m.Name + ")"
		}
		p.row("", host.Safe(who+": "+m.Summary))
	}
	if !w.Cap.IsZero() {
		p.row("", "it gives up at "+w.Cap.Local().Format(time.DateTime)+" (limits.max_wait)")
	}
}
