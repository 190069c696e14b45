package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/paxiom/relay/host"
)

type wakeOptions struct{ app *app }

func newWakeCmd(a *app, runF func(context.Context, *wakeOptions) error) *cobra.Command {
	o := &wakeOptions{app: a}
	return &cobra.Command{
		Use:   "wake",
		Short: "End a loop's wait for a vendor's limit, and ask again now",
		Long: "A loop that met a vendor's limit or outage waits until it ends. relay wake ends the wait from\n" +
			"another terminal: the loop asks every provider that is configured once more. When they refuse\n" +
			"again it waits again; nothing is counted against a budget. relay status shows the wait.",
		Example: "relay wake",
		GroupID: groupWork,
		Args:    noArgs,
		RunE:    runE(o, runF, runWake),
	}
}

func runWake(ctx context.Context, o *wakeOptions) error {
	repo, err := o.app.open()
	if err != nil {
		return err
	}
	res, err := repo.Wake(ctx)
	if err != nil {
		return err
	}
	return o.app.done(res, func(p *printer) {
		switch {
		case res.Loop == nil:
		case res.Loop.Running:
			p.linef("The loop %s asks again now.", res.Loop.ID)
		default:
			p.linef("The wait of the loop %s is over.", res.Loop.ID)
		}
		for _, t := range res.Tasks {
			p.linef("The wait of the task %s is over.", t)
		}
		p.next(res.Next)
	})
}

// waitRow shows a loop that waits: until when, how long that still is, and for whom.
func waitRow(p *printer, l *host.LoopSeen) {
	w := l.Wait
	text := l.ID + "  " + p.bold("waits") + " until " + w.Until.Local().Format(time.DateTime) + ", " + p.bold(countdown(time.Until(w.Until))+" left")
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
