package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/paxiom/relay/host"
)

type doctorOptions struct{ app *app }

func newDoctorCmd(a *app, runF func(context.Context, *doctorOptions) error) *cobra.Command {
	o := &doctorOptions{app: a}
	return &cobra.Command{
		Use:   "doctor",
		Short: "Try what a tick needs, and say what is missing",
		Long: "Tries git, the configuration, trust, the box (for real), the plugins and the programs that they\n" +
			"start. Calls no model.",
		Example: "relay doctor\nrelay doctor --json | jq '.checks[] | select(.ok | not)'",
		GroupID: groupStart,
		Args:    noArgs,
		RunE:    runE(o, runF, runDoctor),
	}
}

func runDoctor(ctx context.Context, o *doctorOptions) error {
	repo, err := o.app.open()
	if err != nil {
		return err
	}
	d, err := repo.Doctor(ctx)
	if err != nil {
		return err
	}
	code := host.ExitDone
	if !d.OK {
		code = host.ExitBlocked
	}
	return o.app.end(code, d, func(p *printer) {
		checks(p, d.Checks)
		if d.OK {
			p.linef("%s relay can work here", p.green("healthy:"))
			p.next("`relay run --goal \"...\"`")
			return
		}
		failed := 0
		for _, c := range d.Checks {
			if !c.OK && !c.Skip {
				failed++
			}
		}
		p.linef("%s %s", p.red("not ready:"), plural(failed, "check failed", "checks failed"))
	})
}
