package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/paxiom/relay/host"
	"github.com/paxiom/relay/host/setup"
)

type doctorOptions struct {
	app  *app
	live bool
}

func newDoctorCmd(a *app) *cobra.Command {
	o := &doctorOptions{app: a}
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check what a tick needs, and say what is missing",
		Long: "Tries git, the configuration, trust, the box (for real), and each plugin that the configuration\n" +
			"names: its program and version, its key or login, its server. Calls no model unless --live\n" +
			"says so; that costs a fraction of a cent for each provider, and the cost is shown.",
		Example: "relay doctor\nrelay doctor --live\nrelay doctor --json | jq '.checks[] | select(.ok | not)'",
		GroupID: groupStart,
		Args:    noArgs,
		RunE:    inRepo(a, o, runDoctor),
	}
	cmd.Flags().BoolVar(&o.live, "live", false, "ask each provider's model one tiny question, and say what it cost")
	return cmd
}

func runDoctor(ctx context.Context, repo *host.Repo, o *doctorOptions) error {
	d, err := setup.Doctor(ctx, repo, setup.DoctorOptions{Live: o.live})
	if err != nil {
		return err
	}
	code := host.ExitDone
	if !d.OK {
		code = host.ExitBlocked
	}
	return o.app.end(code, d, func(p *printer) {
		checkLines(p, d.Checks)
		if d.OK {
			p.linef("%s relay can work here", p.green("healthy:"))
			p.next(repo.Begin())
			return
		}
		failed := 0
		for _, c := range d.Checks {
			if !c.OK && !c.Skip {
				failed++
			}
		}
		p.linef("%s %s", p.red("not ready:"), plural(failed, "check failed", "checks failed"))
		p.next("apply the fixes above, then rerun `relay doctor`")
	})
}
