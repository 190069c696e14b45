package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/paxiom/relay/host"
	"github.com/paxiom/relay/host/checkcmd"
	"github.com/paxiom/relay/host/pipelines"
)

type generateOptions struct {
	app   *app
	yes   bool
	dry   bool
	again bool

	hidden bool
}

func newPipelineGenerateCmd(a *app) *cobra.Command {
	o := &generateOptions{app: a}
	cmd := &cobra.Command{
		Use: "generate", Short: "Have a model write prd.json from AGENTS.md",
		Long: "The provider of pipeline.plan reads AGENTS.md and proposes tasks. In front of each comes one that\n" +
			"makes its checks. What has begun stays as it is. The difference is shown, and you are asked.",
		Example: "relay pipeline generate\nrelay pipeline generate --dry-run\nrelay pipeline generate --yes",
		Args:    noArgs, RunE: inRepo(a, o, runPipelineGenerate),
	}
	f := cmd.Flags()
	f.BoolVarP(&o.yes, "yes", "y", false, "write it without being asked")
	f.BoolVar(&o.dry, "dry-run", false, "only print the difference")
	f.BoolVar(&o.hidden, "hidden-checks", false, "then have a hidden check written for each task that asks for none")
	f.BoolVar(&o.again, "again", false, "ask the model again, even if it has answered for the same AGENTS.md")
	return cmd
}

func runPipelineGenerate(ctx context.Context, repo *host.Repo, o *generateOptions) error {
	if !o.yes && !o.dry && !o.app.interactive() { // before anything is paid
		return usageError{what: "relay can't ask you without a terminal", why: "a task list is only written when somebody agrees to it",
			fix: "`relay pipeline generate --dry-run`, then `relay pipeline generate --yes`, which takes the same answer"}
	}
	if o.hidden && (o.dry || o.app.json) {
		return usageError{what: "--hidden-checks goes with neither --dry-run nor --json", why: "each check is shown, tried and asked about", fix: "`relay pipeline generate --hidden-checks`"}
	}
	live := newProgress(o.app, repo)
	defer live.close()
	agree := func(res *pipelines.GenerateResult) error {
		live.close()
		if o.yes {
			return nil
		}
		p := o.app.printer(o.app.err, o.app.errTTY)
		proposed(p, res)
		return o.app.agreed(p, "Write this to "+host.TasksFile+"?",
			usageError{what: host.TasksFile + " stays as it is", why: "you did not say yes", fix: "`relay pipeline generate` asks again, and takes the same answer"})
	}
	res, err := pipelines.Generate(ctx, repo, pipelines.GenerateOptions{DryRun: o.dry, Again: o.again, Observer: live, Agree: agree})
	live.close()
	if err != nil {
		return err
	}
	err = o.app.done(res, nil, func(p *printer) {
		if o.yes || o.dry {
			proposed(p, res)
		}
		if res.Diff == "" {
			p.linef("%s already is what the model proposes", host.TasksFile)
		}
		p.row("tasks", plain(res.Tasks))
		p.row("wrote", strings.Join(res.Wrote, ", "))
		p.next(res.Next)
	})
	if err != nil || !o.hidden {
		return err
	}
	return o.examine(ctx, repo)
}

// examine has a hidden check written for each task that asks for none. One that can't be
// had keeps no other from being written.
func (o *generateOptions) examine(ctx context.Context, repo *host.Repo) error {
	ids, err := checkcmd.Unexamined(repo)
	if err != nil {
		return err
	}
	p := o.app.printer(o.app.err, o.app.errTTY)
	for _, id := range ids {
		check := &checkNewOptions{app: o.app, name: id, hidden: true, yes: o.yes, add: checkcmd.AddOptions{Task: id}}
		if check.about, err = checkcmd.DescribeTask(repo, id); err != nil {
			return err
		}
		p.linef("\n%s", p.dim("a hidden check for "+host.Safe(id)+":"))
		err := describeCheck(ctx, check, repo)
		if ctx.Err() != nil {
			return err
		}
		if err != nil {
			p.linef("%s", host.Safe(err.Error()))
		}
	}
	return nil
}

// proposed shows what would be written, and what a reader should know about it.
func proposed(p *printer, res *pipelines.GenerateResult) {
	diffText(p, host.SplitDiff(res.Diff))
	for _, n := range res.Notes {
		p.row("note", host.Safe(n))
	}
	by := res.Provider
	if res.Model != "" {
		by += "/" + res.Model
	}
	if res.CostUSD != nil {
		by += ", $" + money(*res.CostUSD)
	}
	p.row("by", host.Safe(by))
}
