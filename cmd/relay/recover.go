package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/paxiom/relay/host"
)

type recoverOptions struct{ app *app }

func newRecoverCmd(a *app) *cobra.Command {
	o := &recoverOptions{app: a}
	return &cobra.Command{
		Use:   "recover",
		Short: "Settle what a crash left behind",
		Long: "Finishes or takes back an interrupted apply, throws leftover boxes away, and puts damaged files\n" +
			"of relay's own aside. Never overwrites your changes.",
		Example: "relay recover",
		GroupID: groupBack,
		Args:    noArgs,
		RunE:    inRepo(a, o, runRecover),
	}
}

func runRecover(ctx context.Context, repo *host.Repo, o *recoverOptions) error {
	r, err := repo.Recover(ctx)
	if err != nil {
		return err
	}
	code := host.ExitDone
	if !r.Clean {
		code = host.ExitBlocked
	}
	return o.app.end(code, r, func(p *printer) {
		for _, line := range r.Done {
			p.linef("%s", host.Safe(line))
		}
		if r.Clean && len(r.Done) == 0 {
			p.linef("Nothing to recover.")
		}
		p.next(r.Next)
	})
}
