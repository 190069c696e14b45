package main

import (
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/paxiom/relay/host"
	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/pipelines"
)

func newTaskCmd(a *app) *cobra.Command {
	return parent("task", "The tasks of the pipeline", "relay task list\nrelay task show login\nrelay task add \"Log in with a token\" --after users",
		groupWork, newTaskListCmd(a), newTaskShowCmd(a), newTaskAddCmd(a), newTaskDepCmd(a), newTaskEditCmd(a),
		newTaskAnswerCmd(a), newTaskRetryCmd(a), newTaskSkipCmd(a), newTaskGraphCmd(a))
}

// taskOptions are what all commands about one task share.
type taskOptions struct {
	app *app
	id  string
}

func newTaskListCmd(a *app) *cobra.Command {
	o := &taskOptions{app: a}
	return &cobra.Command{
		Use: "list", Short: "All tasks, and what is ready", Example: "relay task list\nrelay task list --json | jq -r '.ready[0]'",
		Args: noArgs, RunE: inRepo(a, o, runTaskList),
	}
}

func runTaskList(ctx context.Context, repo *host.Repo, o *taskOptions) error {
	res, err := pipelines.Tasks(ctx, repo)
	return o.app.done(res, err, func(p *printer) {
		rows := [][]string{{"task", "status", "priority", "title", ""}}
		for _, t := range res.Tasks {
			rows = append(rows, []string{t.ID, strings.ReplaceAll(t.Status, "_", " "), strconv.Itoa(t.Priority), shorten(t.Title, 50), waiting(t)})
		}
		p.table(rows)
		if len(res.Ready) > 0 {
			p.next("`relay task show " + res.Ready[0] + "`")
		}
	})
}

// waiting says in few words what a task waits for.
func waiting(t pipelines.TaskLine) string {
	switch {
	case t.Asked != "":
		return "waits for you: " + shorten(t.Asked, 60)
	case t.Step != "":
		return "at " + t.Step
	case t.HeldBy != "":
		return "held up by " + t.HeldBy + ", which failed"
	case t.Ready:
		return "ready"
	case t.Status == "pending" && len(t.Waits) > 0:
		return "waits for " + strings.Join(t.Waits, ", ")
	}
	return ""
}

func newTaskShowCmd(a *app) *cobra.Command {
	o := &taskOptions{app: a}
	return &cobra.Command{
		Use: "show TASK", Short: "One task in full", Example: "relay task show login",
		Args: neededArg(&o.id, "task id", "`relay task list`"), RunE: inRepo(a, o, runTaskShow), ValidArgsFunction: completeTasks(a, false),
	}
}

func runTaskShow(ctx context.Context, repo *host.Repo, o *taskOptions) error {
	t, err := pipelines.Task(ctx, repo, o.id)
	return o.app.done(t, err, func(p *printer) { taskPage(p, t) })
}

func taskPage(p *printer, t *pipelines.TaskResult) {
	p.row("task", t.ID)
	p.row("title", host.Safe(t.Title))
	p.row("status", strings.ReplaceAll(t.Status, "_", " "))
	p.row("", waiting(t.TaskLine))
	p.row("priority", strconv.Itoa(t.Priority))
	p.row("after", strings.Join(t.DependsOn, ", "))
	p.row("before", strings.Join(t.Blocks, ", "))
	for _, l := range strings.Split(t.Description, "\n") {
		p.row("what", host.Safe(l))
	}
	for _, c := range t.Criteria {
		p.row("done when", host.Safe(c))
	}
	p.row("validate", host.Safe(command(t.Validation)))
	if t.Scope != nil {
		p.row("scope", host.Safe(strings.Join(t.Scope.AllowedGlobs, " ")))
	}
	for _, f := range t.Artifacts {
		p.row("file", host.Safe(f))
	}
	if t.CompletedAt != nil {
		p.row("completed", t.CompletedAt.Local().Format("2006-01-02 15:04"))
	}
	p.row("notes", host.Safe(t.Notes))
	for i, a := range t.Attempts {
		if i > 0 {
			p.row("", "")
		}
		trail(p, a)
	}
	if len(t.Attempts) == 0 {
		return
	}
	switch last := t.Attempts[0]; {
	case t.Asked != "":
		p.next(last.Waiting.Next(t.ID))
	case t.Status == "failed" && strings.Contains(last.Next, "relay task retry") && !strings.Contains(last.Next, "relay task show"):
		p.next(last.Next)
	case t.Status == "failed":
		p.next("`relay task retry " + t.ID + "`, then `relay pipeline run`")
	}
}

// command is an argv as it would be typed.
func command(argv []string) string {
	words := make([]string, len(argv))
	for i, w := range argv {
		if words[i] = w; w != "&&" { // which is no word of the command
			words[i] = diag.Word(w)
		}
	}
	return strings.Join(words, " ")
}

type taskAddOptions struct {
	app  *app
	task pipelines.NewTask
}

func newTaskAddCmd(a *app) *cobra.Command {
	o := &taskAddOptions{app: a}
	cmd := &cobra.Command{
		Use: "add TITLE", Short: "Append a task",
		Long:    "A running pipeline reads the list before each task, so it works on what you add.",
		Example: "relay task add \"Log in with a token\" --after users \\\n    --done-when \"a wrong token is refused\" --validate \"go test ./auth/...\"",
		Args:    neededArg(&o.task.Title, "title", "`relay task add \"What is to be done\"`"), RunE: inRepo(a, o, runTaskAdd),
	}
	f := cmd.Flags()
	f.StringVar(&o.task.ID, "id", "", "its `ID`; without one it is made of the title")
	f.IntVarP(&o.task.Priority, "priority", "p", 0, "lower `N` comes first")
	f.StringSliceVar(&o.task.DependsOn, "after", nil, "`TASK`s that must be done before it")
	f.StringArrayVar(&o.task.Criteria, "done-when", nil, "an acceptance criterion, `TEXT`; may be given several times")
	f.StringVar(&o.task.Validation, "validate", "", "the `COMMAND` that tries the result; no shell")
	return cmd
}

func runTaskAdd(ctx context.Context, repo *host.Repo, o *taskAddOptions) error {
	t, err := pipelines.AddTask(ctx, repo, o.task)
	return o.app.task(t, err)
}

// task prints a task as an edit left it.
func (a *app) task(t *pipelines.TaskResult, err error) error {
	return a.done(t, err, func(p *printer) {
		p.linef("%s  %s  %s", t.ID, strings.ReplaceAll(t.Status, "_", " "), host.Safe(t.Title))
		if w := waiting(t.TaskLine); w != "" {
			p.linef("%s", p.dim(w))
		}
	})
}

type taskDepOptions struct {
	app  *app
	args []string
	off  bool
}

func newTaskDepCmd(a *app) *cobra.Command {
	o := &taskDepOptions{app: a}
	cmd := &cobra.Command{
		Use: "dep TASK BLOCKER...", Short: "Make a task wait for others",
		Example: "relay task dep login users sessions\nrelay task dep login users --remove",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 2 {
				return usageError{what: "a task and at least one that it waits for are needed", fix: "`relay task dep TASK BLOCKER`"}
			}
			o.args = args
			return nil
		},
		RunE: inRepo(a, o, runTaskDep), ValidArgsFunction: completeTasks(a, true),
	}
	cmd.Flags().BoolVar(&o.off, "remove", false, "no longer wait for them")
	return cmd
}

func runTaskDep(ctx context.Context, repo *host.Repo, o *taskDepOptions) error {
	on, off := o.args[1:], []string(nil)
	if o.off {
		on, off = nil, on
	}
	t, err := pipelines.DependTask(ctx, repo, o.args[0], on, off)
	return o.app.task(t, err)
}

type taskEditOptions struct {
	taskOptions
	cmd                    *cobra.Command
	title, notes, validate string
	priority               int
	criteria               []string
}

func newTaskEditCmd(a *app) *cobra.Command {
	o := &taskEditOptions{taskOptions: taskOptions{app: a}}
	cmd := &cobra.Command{
		Use: "edit TASK", Short: "Change fields of a task", Example: "relay task edit login --priority 1 --validate \"go test ./auth/...\"",
		Args: neededArg(&o.id, "task id", "`relay task list`"), RunE: inRepo(a, o, runTaskEdit), ValidArgsFunction: completeTasks(a, false),
	}
	o.cmd = cmd
	f := cmd.Flags()
	f.StringVar(&o.title, "title", "", "its `TEXT`")
	f.StringVar(&o.notes, "notes", "", "its `TEXT`")
	f.StringVar(&o.validate, "validate", "", "the `COMMAND` that tries the result; no shell")
	f.IntVarP(&o.priority, "priority", "p", 0, "lower `N` comes first")
	f.StringArrayVar(&o.criteria, "done-when", nil, "all its acceptance criteria, each a `TEXT`")
	return cmd
}

func runTaskEdit(ctx context.Context, repo *host.Repo, o *taskEditOptions) error {
	var e pipelines.TaskEdit
	given := o.cmd.Flags().Changed
	for name, set := range map[string]func(){"title": func() { e.Title = &o.title }, "notes": func() { e.Notes = &o.notes },
		"validate": func() { e.Validation = &o.validate }, "priority": func() { e.Priority = &o.priority }, "done-when": func() { e.Criteria = o.criteria }} {
		if given(name) {
			set()
		}
	}
	t, err := pipelines.EditTask(ctx, repo, o.id, e)
	return o.app.task(t, err)
}

func newTaskRetryCmd(a *app) *cobra.Command {
	o := &taskOptions{app: a}
	return &cobra.Command{
		Use: "retry TASK", Short: "Make a task pending again", Example: "relay task retry login",
		Args: neededArg(&o.id, "task id", "`relay task list`"), RunE: inRepo(a, o, runTaskRetry), ValidArgsFunction: completeTasks(a, false),
	}
}

func runTaskRetry(ctx context.Context, repo *host.Repo, o *taskOptions) error {
	t, err := pipelines.RetryTask(ctx, repo, o.id)
	return o.app.task(t, err)
}

type taskSkipOptions struct {
	taskOptions
	why string
}

func newTaskSkipCmd(a *app) *cobra.Command {
	o := &taskSkipOptions{taskOptions: taskOptions{app: a}}
	cmd := &cobra.Command{
		Use: "skip TASK", Short: "Skip a task; tasks that depend on it can start", Example: "relay task skip login --why \"done by hand\"",
		Args: neededArg(&o.id, "task id", "`relay task list`"), RunE: inRepo(a, o, runTaskSkip), ValidArgsFunction: completeTasks(a, false),
	}
	cmd.Flags().StringVar(&o.why, "why", "", "kept in the task's notes, `TEXT`")
	return cmd
}

func runTaskSkip(ctx context.Context, repo *host.Repo, o *taskSkipOptions) error {
	t, err := pipelines.SkipTask(ctx, repo, o.id, o.why)
	return o.app.task(t, err)
}

type taskGraphOptions struct {
	app *app
	dot bool
}

func newTaskGraphCmd(a *app) *cobra.Command {
	o := &taskGraphOptions{app: a}
	cmd := &cobra.Command{
		Use: "graph", Short: "Draw what depends on what", Example: "relay task graph\nrelay task graph --dot | dot -Tsvg > tasks.svg",
		Args: noArgs, RunE: inRepo(a, o, runTaskGraph),
	}
	cmd.Flags().BoolVar(&o.dot, "dot", false, "for Graphviz")
	return cmd
}

func runTaskGraph(ctx context.Context, repo *host.Repo, o *taskGraphOptions) error {
	g, err := pipelines.Graph(ctx, repo, o.dot)
	return o.app.done(g, err, func(p *printer) { p.write(g.Text) })
}
