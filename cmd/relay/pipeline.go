package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/paxiom/relay/host"
	"github.com/paxiom/relay/host/pipelines"
)

func newPipelineCmd(a *app) *cobra.Command {
	return parent("pipeline", "Work through a list of tasks", "relay pipeline init\nrelay pipeline check\nrelay pipeline run",
		groupWork, newPipelineInitCmd(a), newPipelineGenerateCmd(a), newPipelineImportCmd(a), newPipelineCheckCmd(a),
		newPipelineRunCmd(a), newPipelineStatusCmd(a))
}

type pipelineOptions struct {
	app  *app
	file string
	from string
	dry  bool
}

func newPipelineInitCmd(a *app) *cobra.Command {
	o := &pipelineOptions{app: a}
	return &cobra.Command{
		Use: "init", Short: "Write AGENTS.md and prd.json to begin with",
		Long:    "Existing files stay as they are. Edit and commit both.",
		Example: "relay pipeline init && $EDITOR prd.json",
		Args:    noArgs, RunE: inRepo(a, o, runPipelineInit),
	}
}

func runPipelineInit(ctx context.Context, repo *host.Repo, o *pipelineOptions) error {
	res, err := pipelines.Init(ctx, repo)
	return o.app.done(res, err, func(p *printer) { wrote(p, res) })
}

func wrote(p *printer, res *pipelines.Files) {
	p.row("wrote", strings.Join(res.Wrote, ", "))
	if len(res.Kept) > 0 {
		p.row("kept", strings.Join(res.Kept, ", ")+" (there already)")
	}
	p.next(res.Next)
}

func newPipelineImportCmd(a *app) *cobra.Command {
	o := &pipelineOptions{app: a}
	cmd := &cobra.Command{
		Use: "import FILE", Short: "Convert another tool's task list to prd.json",
		Long:    "Reads beads (JSON lines), task-master (tasks.json), spec-kit (tasks.md) and ralphex (a plan), and\nnames what a task list has no place for. Never replaces a prd.json that you have edited.",
		Example: "relay pipeline import .beads/issues.jsonl --dry-run\nrelay pipeline import specs/001/tasks.md --from spec-kit",
		Args:    neededArg(&o.file, "file", "`relay pipeline import FILE`"), RunE: inRepo(a, o, runPipelineImport),
	}
	cmd.Flags().StringVar(&o.from, "from", "", "the `KIND` of file: "+strings.Join(pipelines.ImportKinds(), ", ")+"; guessed without it")
	cmd.Flags().BoolVar(&o.dry, "dry-run", false, "only print what would be written")
	_ = cmd.RegisterFlagCompletionFunc("from", cobra.FixedCompletions(pipelines.ImportKinds(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func runPipelineImport(ctx context.Context, repo *host.Repo, o *pipelineOptions) error {
	res, err := pipelines.Import(ctx, repo, o.file, o.from, o.dry)
	return o.app.done(res, err, func(p *printer) {
		if res.DryRun {
			for line := range strings.Lines(res.Text) {
				p.linef("%s", host.Safe(strings.TrimSuffix(line, "\n")))
			}
		}
		p.row("tasks", plain(res.Tasks))
		for _, l := range res.Losses {
			p.row("left out", host.Safe(l.Where+": "+l.What))
		}
		if !res.DryRun {
			wrote(p, res)
		}
	})
}

func newPipelineCheckCmd(a *app) *cobra.Command {
	o := &pipelineOptions{app: a}
	return &cobra.Command{
		Use: "check", Short: "Check that prd.json is a task list that can be worked through", Example: "relay pipeline check",
		Args: noArgs, RunE: inRepo(a, o, runPipelineCheck),
	}
}

func runPipelineCheck(ctx context.Context, repo *host.Repo, o *pipelineOptions) error {
	res, err := pipelines.Check(ctx, repo)
	return o.app.done(res, err, func(p *printer) {
		p.row("tasks", plain(res.Tasks))
		p.row("ready", strings.Join(res.Ready, ", "))
		if res.Estimate != nil {
			p.row("cost", res.Estimate.Words())
		}
		for _, w := range res.Warnings {
			p.row("but", host.Safe(w))
		}
	})
}
