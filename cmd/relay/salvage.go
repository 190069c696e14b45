package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/paxiom/relay/host"
)

type salvageOptions struct {
	app    *app
	run    string
	branch string
	patch  string
}

func newSalvageCmd(a *app) *cobra.Command {
	o := &salvageOptions{app: a}
	cmd := &cobra.Command{
		Use:   "salvage [RUN|CYCLE|TASK]",
		Short: "Retrieve what a stopped run had built",
		Long: "A change that was stopped is kept, and so is a cycle's revision that did not land. This says where,\n" +
			"makes a branch of it, or writes it as a patch. Your files are not touched. Without an argument the\n" +
			"last stopped run.",
		Example:           "relay salvage\nrelay salvage --branch rescued\nrelay salvage --patch - | git apply --check",
		GroupID:           groupBack,
		Args:              oneArg(&o.run, "run, cycle or task"),
		RunE:              inRepo(a, o, runSalvage),
		ValidArgsFunction: completeRuns(a, func(r host.RunLine) bool { return r.Salvage != "" }),
	}
	cmd.Flags().StringVar(&o.branch, "branch", "", "make branch `NAME` from it")
	cmd.Flags().StringVar(&o.patch, "patch", "", "write it to `FILE` as a patch; - is stdout")
	return cmd
}

func runSalvage(ctx context.Context, repo *host.Repo, o *salvageOptions) error {
	if o.branch != "" && o.patch != "" {
		return usageError{what: "--branch and --patch exclude each other", fix: "`relay salvage --branch NAME`"}
	}
	s, err := repo.Salvage(ctx, o.run, host.SalvageOptions{Branch: o.branch, Patch: o.patch})
	return o.app.done(s, err, func(p *printer) {
		if o.patch == "-" {
			p.write(s.Patch) // the bytes themselves, for git apply
			return
		}
		p.row("run", s.RunID)
		p.row("ref", host.Safe(s.Ref))
		p.row("branch", host.Safe(s.Branch))
		p.row("patch", host.Safe(s.File))
		for _, n := range s.Notes {
			p.row("note", host.Safe(n))
		}
		for _, n := range s.Next {
			p.next(n)
		}
	})
}
