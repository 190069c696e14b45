package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/paxiom/relay/host"
	"github.com/paxiom/relay/host/setup"
)

type initOptions struct {
	app    *app
	format string
	force  bool
	dryRun bool
	texts  bool
}

func newInitCmd(a *app) *cobra.Command {
	o := &initOptions{app: a}
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Write a first configuration for this repository",
		Long: "Looks at the languages, CI files, test and lint commands and installed agents, writes one file,\n" +
			"trusts it, tries each check once, and commits the file (commit.on_success=false leaves that to you).\n" +
			"Nothing else is committed.",
		Example: "relay init\nrelay init --format yaml   # with comments\nrelay init --dry-run       # only show it",
		GroupID: groupStart,
		Args:    noArgs,
		RunE:    inRepo(a, o, runInit),
	}
	cmd.Flags().StringVar(&o.format, "format", "json", "`json|yaml`")
	cmd.Flags().BoolVar(&o.force, "force", false, "replace the existing configuration")
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "print the configuration and write nothing")
	cmd.Flags().BoolVar(&o.texts, "prompts", false, "only write the built-in prompts, for editing")
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions([]string{"json", "yaml"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func runInit(ctx context.Context, repo *host.Repo, o *initOptions) error {
	if o.texts {
		return writePrompts(o.app, repo)
	}
	tell := func(what string) {
		if !o.app.quiet {
			fmt.Fprintln(o.app.err, host.Safe(what))
		}
	}
	r, err := setup.Init(ctx, repo, setup.InitOptions{Format: o.format, Force: o.force, DryRun: o.dryRun, Tell: tell})
	return o.app.done(r, err, func(p *printer) {
		if r.DryRun {
			p.write(r.Config)
			return
		}
		found := "none that relay knows"
		if len(r.Languages) > 0 {
			found = joined(r.Languages)
		}
		p.row("language", found)
		wide := 10
		for _, c := range r.Checks {
			wide = max(wide, len(c.ID))
		}
		for i, c := range r.Checks {
			p.row(first(i, "checks"), pad(c.ID, wide)+"  "+host.Safe(checkLine(c))+"  "+p.dim("from "+c.From+howLong(c)))
		}
		if len(r.Required) > 0 {
			p.row("", p.dim("nothing lands unless it passes: "+strings.Join(r.Required, ", ")))
		}
		if r.Branch != "" {
			p.row("branch", host.Safe(r.Branch)+"  "+p.dim("the default branch"))
		}
		p.row("planner", r.Provider)
		p.row("builder", r.Builder+others(r))
		if r.Adopted {
			p.row("kept", r.File+"  "+p.dim("relay reads it as it is"))
		} else {
			p.row("wrote", r.File+"  "+p.dim("who plans and builds, what may change, what has to pass: read it, it is short"))
		}
		p.row("", r.Workspace+"/  "+p.dim("relay's own files; git does not see them"))
		if r.Commit != "" {
			p.row("committed", r.Commit[:12]+"  "+p.dim("so that your team and CI have it"))
		}
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

func writePrompts(a *app, repo *host.Repo) error {
	r, err := setup.Prompts(repo)
	return a.done(r, err, func(p *printer) {
		for i, name := range r.Wrote {
			p.row(first(i, "wrote"), r.Dir+"/"+name)
		}
		for i, name := range r.Kept {
			p.row(first(i, "kept"), r.Dir+"/"+name)
		}
		p.next(r.Next)
	})
}

// checkLine is a check's command as one would type it at the root.
func checkLine(c host.DetectedCheck) string {
	words := slices.Concat(c.Env, []string{c.Cmd}, c.Args)
	if c.Dir != "" {
		words = append([]string{"cd", c.Dir, "&&"}, words...)
	}
	return strings.Join(words, " ")
}

func howLong(c host.DetectedCheck) string {
	switch {
	case c.Fails != "":
		return ", fails now"
	case c.Limit > 0:
		return fmt.Sprintf(", limit %d s", c.Limit)
	}
	return ""
}

func others(r *setup.InitResult) string {
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
