package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/paxiom/relay/host"
	"github.com/paxiom/relay/host/checkcmd"
	"github.com/paxiom/relay/host/diag"
)

type checkNewOptions struct {
	app    *app
	name   string
	hidden bool
	lang   string
	yes    bool
	about  string // what a model is to write it from
	add    checkcmd.AddOptions
}

func newCheckNewCmd(a *app) *cobra.Command {
	o := &checkNewOptions{app: a}
	cmd := &cobra.Command{
		Use: "new NAME --hidden", Short: "Write the draft of a hidden check",
		Long: "new makes a folder in your own configuration, which no box shows, with a check that you finish\n" +
			"and the few lines by which it calls the code. It does not count before `relay check add`.\n" +
			"With --describe or --task a model writes it, which no builder meets; `relay check add` follows.",
		Example: "relay check new ranges --hidden --lang python\nrelay check new ranges --hidden --describe \"merge joins ranges that touch\"\nrelay check new ranges --hidden --task merge-ranges",
		Args:    neededArg(&o.name, "name", "`relay check new ranges --hidden`"), RunE: inRepo(a, o, runCheckNew),
	}
	cmd.Flags().BoolVar(&o.hidden, "hidden", false, "a check that no builder sees")
	cmd.Flags().StringVar(&o.lang, "lang", "", "the `LANGUAGE` that the check is written in: python, javascript or go")
	cmd.Flags().StringVar(&o.about, "describe", "", "have the provider of pipeline.plan write it from a `TEXT`")
	cmd.Flags().StringVar(&o.add.Class, "class", "", "with --describe: all that a model is told when it fails, a `TEXT`")
	cmd.Flags().StringVar(&o.add.Reference, "reference", "", "with --describe: a `COMMIT` at which the code is right")
	cmd.Flags().BoolVar(&o.add.OnRequest, "on-request", false, "with --describe: run by hand alone, not for every change")
	cmd.Flags().StringVar(&o.add.Task, "task", "", "write it from the task `ID` of prd.json, which alone asks for it")
	cmd.Flags().BoolVarP(&o.yes, "yes", "y", false, "with --describe: agree without being asked")
	return cmd
}

func runCheckNew(ctx context.Context, repo *host.Repo, o *checkNewOptions) error {
	if !o.hidden {
		return usageError{what: "only hidden checks are made from a template", why: "the others are commands of your project", fix: "`relay check new " + diag.Word(o.name) + " --hidden`, or `relay init`"}
	}
	if o.add.Task != "" && o.about == "" {
		var err error
		if o.about, err = checkcmd.DescribeTask(repo, o.add.Task); err != nil {
			return err
		}
	}
	if o.about != "" {
		return describeCheck(ctx, o, repo)
	}
	res, err := checkcmd.New(ctx, repo, o.name, o.lang)
	return o.app.done(res, err, func(p *printer) {
		p.linef("Written to %s: %s.", host.Safe(res.Folder), strings.Join(res.Files, " and "))
		p.next(res.Next)
	})
}

// describeCheck has a model write the draft, shows it, and continues as `relay check add`.
func describeCheck(ctx context.Context, o *checkNewOptions, repo *host.Repo) error {
	if !o.yes && !o.app.interactive() { // before anything is paid
		return usageError{what: "relay can't ask you without a terminal", why: "a check counts only once somebody has agreed to it", fix: "the same with --yes, or `relay check new " + diag.Word(o.name) + " --hidden`"}
	}
	live := newProgress(o.app, repo)
	res, err := checkcmd.Describe(ctx, repo, o.name, o.lang, o.about, live)
	live.close()
	if err != nil {
		return err
	}
	if !o.app.json {
		p := o.app.printer(o.app.err, o.app.errTTY)
		for line := range strings.Lines(res.Text) {
			p.linef("%s", host.SafeLine(strings.TrimSuffix(line, "\n")))
		}
		p.linef("")
		p.row("class", host.Safe(cmp.Or(o.add.Class, res.Class)))
	}
	o.add.Class = cmp.Or(o.add.Class, res.Class)
	return runCheckAdd(ctx, repo, o)
}

func newCheckAddCmd(a *app) *cobra.Command {
	o := &checkNewOptions{app: a}
	cmd := &cobra.Command{
		Use: "add NAME", Short: "Try the draft of a hidden check, and have it count",
		Long: "add runs the draft on the last commit, on one where the code is right if you name\n" +
			"it, and on that code with small mistakes, each of which it should notice. Then it asks.",
		Example: "relay check add ranges --class \"wrong for empty ranges\"\nrelay check add ranges --reference v1.2",
		Args:    neededArg(&o.name, "name", "`relay check list`"), RunE: inRepo(a, o, runCheckAdd),
	}
	cmd.Flags().StringVar(&o.add.Class, "class", "", "all that a model is told when it fails: a `TEXT`")
	cmd.Flags().StringVar(&o.add.Reference, "reference", "", "a `COMMIT` at which the code is right")
	cmd.Flags().BoolVar(&o.add.OnRequest, "on-request", false, "run by hand alone, not for every change")
	cmd.Flags().StringVar(&o.add.Task, "task", "", "the task `ID` of prd.json asks for it, and no other change")
	cmd.Flags().BoolVarP(&o.yes, "yes", "y", false, "agree without being asked")
	return cmd
}

func runCheckAdd(ctx context.Context, repo *host.Repo, o *checkNewOptions) error {
	o.add.Name = o.name
	no := diag.New("", "the check is still a draft", "", "`relay check add "+diag.Word(o.name)+"`")
	o.add.Agree = func(t *checkcmd.Tried) error {
		if o.yes {
			return nil
		}
		if !o.app.interactive() {
			return diag.New("", "the check is still a draft", "relay can't ask you without a terminal", "`relay check add "+diag.Word(o.name)+" --yes`")
		}
		p := o.app.printer(o.app.err, o.app.errTTY)
		tried(p, t)
		if o.add.Task != "" {
			return o.app.agreed(p, "Is the task "+host.Safe(o.add.Task)+" to pass it?", no)
		}
		return o.app.agreed(p, "Is every change to pass it?", no)
	}
	res, err := checkcmd.Add(ctx, repo, o.add)
	return o.app.done(res, err, func(p *printer) {
		if o.yes {
			tried(p, res)
		}
		if res.Task != "" {
			p.linef("The task %s has to pass it from now on.", host.Safe(res.Task))
		} else {
			p.linef("It counts from now on.")
		}
		p.next(res.Next)
	})
}

// tried shows what a check did.
func tried(p *printer, t *checkcmd.Tried) {
	ends := func(label string, e *checkcmd.End) {
		if e == nil {
			return
		}
		word := "fails"
		said := ""
		if e.OK {
			word = "passes"
		} else if lines := strings.Split(strings.TrimSpace(e.Output), "\n"); lines[len(lines)-1] != "" {
			said = "; it says: " + shorten(lines[len(lines)-1], 200)
		}
		p.row(label, word+": "+host.Safe(e.Outcome+said))
	}
	ends("now", &t.Now)
	ends("reference", t.Reference)
	for i, m := range t.Mutants {
		word := p.yellow("not noticed")
		if m.Noticed {
			word = "noticed"
		}
		p.row(first(i, "mistakes"), fmt.Sprintf("%s:%d, %s: %s", host.Safe(m.Path), m.Line, host.Safe(m.What), word))
	}
	if len(t.Mutants) == 0 {
		p.row("mistakes", "none could be made: nothing shows that the check notices one")
	}
}
