package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/paxiom/relay/host"
)

type initOptions struct {
	app    *app
	format string
	force  bool
	dryRun bool
}

func newInitCmd(a *app, runF func(context.Context, *initOptions) error) *cobra.Command {
	o := &initOptions{app: a}
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Write a first configuration for this repository",
		Long: "Looks at the languages, test and lint commands, default branch and installed agents, writes one\n" +
			"file, and trusts what it wrote. A clean repository is still clean afterwards.",
		Example: "relay init\nrelay init --format yaml   # with comments\nrelay init --dry-run       # only show it",
		GroupID: groupStart,
		Args:    noArgs,
		RunE:    runE(o, runF, runInit),
	}
	cmd.Flags().StringVar(&o.format, "format", "json", "`json|yaml`")
	cmd.Flags().BoolVar(&o.force, "force", false, "replace the configuration that is there")
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "print the configuration and write nothing")
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions([]string{"json", "yaml"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func runInit(ctx context.Context, o *initOptions) error {
	repo, err := o.app.open()
	if err != nil {
		return err
	}
	r, err := repo.Init(ctx, host.InitOptions{Format: o.format, Force: o.force, DryRun: o.dryRun})
	if err != nil {
		return err
	}
	return o.app.done(r, func(p *printer) {
		if r.DryRun {
			p.write(r.Config)
			return
		}
		found := "none that relay knows"
		if len(r.Languages) > 0 {
			found = joined(r.Languages)
		}
		p.row("language", found)
		for i, c := range r.Checks {
			p.row(first(i, "checks"), pad(c.ID, 10)+"  "+host.Safe(strings.Join(append([]string{c.Cmd}, c.Args...), " "))+"  "+p.dim("from "+c.From))
		}
		if len(r.Checks) > 0 {
			p.row("", p.dim("nothing lands unless these pass"))
		}
		if r.Branch != "" {
			p.row("branch", host.Safe(r.Branch)+"  "+p.dim("the default branch"))
		}
		p.row("planner", r.Provider)
		p.row("builder", r.Builder+others(r))
		p.row("wrote", r.File+"  "+p.dim("who plans and builds, what may change, what has to pass: read it, it is short"))
		p.row("", r.Workspace+"/  "+p.dim("relay's own files; git does not see them"))
		if r.Trusted != "" {
			what := "this version of " + r.File
			if len(r.Checks) > 0 {
				what = "the commands above, for " + what
			}
			p.row("trusted", what)
		}
		for _, n := range r.Notices {
			p.advise(p.yellow("notice:")+" ", host.Safe(n))
		}
		p.next(r.Next)
	})
}

func others(r *host.InitResult) string {
	var names []string
	for _, b := range r.Builders {
		if b != r.Builder {
			names = append(names, b)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return " (also installed: " + strings.Join(names, ", ") + ")"
}
