package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/paxiom/relay/host"
	"github.com/paxiom/relay/host/pipelines"
)

type pipelineRunOptions struct {
	app      *app
	minutes  int
	only     string
	parallel int
	push     bool
	beyond   bool
	key      string
	join     string
	signers  string
	given    func(flag string) bool
}

func newPipelineRunCmd(a *app) *cobra.Command {
	o := &pipelineRunOptions{app: a}
	cmd := &cobra.Command{
		Use: "run", Short: "Work through the tasks until none is left",
		Long: "Plans, codes, reviews and cleans up one task after the other, each step in a fresh process, and\n" +
			"lands what the judge, the validation command and the acceptance criteria let pass. prd.json is read\n" +
			"before each task, so you can edit it meanwhile. An interrupted run continues where it was, on its\n" +
			"own branch and, unless you give others, with its original flags. Ctrl-C stops the current step\n" +
			"cleanly, `relay stop --drain` stops after the task.",
		Example: "relay pipeline run\nrelay pipeline run --parallel 3 --push\nrelay pipeline run --only login --key login-1 --push\nrelay pipeline run --join login-1,logout-1 --push",
		Args:    noArgs, RunE: inRepo(a, o, runPipelineRun),
	}
	cmd.Flags().IntVar(&o.minutes, "max-session-minutes", 0, "cap of one cleanup process, `N` minutes (also MAX_SESSION_MINUTES)")
	cmd.Flags().StringVar(&o.only, "only", "", "work on this `TASK` alone")
	cmd.Flags().IntVar(&o.parallel, "parallel", 0, "work on `N` independent tasks at a time, each in a work tree of its own")
	cmd.Flags().BoolVar(&o.push, "push", false, "push after each task to pipeline.push.remote; never by force")
	cmd.Flags().StringVar(&o.key, "key", "", "with --only: leave the result at refs/relay/results/`KEY`, made once")
	cmd.Flags().StringVar(&o.join, "join", "", "only land the results of these `KEYS`, separated by commas")
	cmd.Flags().StringVar(&o.signers, "signers", "", "with --key or --join: also believe results signed by a key in `FILE`")
	cmd.Flags().BoolVar(&o.beyond, "beyond-ceiling", false, "let tasks have everything they name, whatever the ceiling")
	o.given = cmd.Flags().Changed
	_ = cmd.RegisterFlagCompletionFunc("only", completeTasks(a, false))
	return cmd
}

func runPipelineRun(ctx context.Context, repo *host.Repo, o *pipelineRunOptions) error {
	from := "--max-session-minutes"
	if env := o.app.getenv("MAX_SESSION_MINUTES"); env != "" && o.minutes == 0 { // the seed's script has its cap there
		from = "MAX_SESSION_MINUTES"
		var err error
		if o.minutes, err = strconv.Atoi(env); err != nil || o.minutes == 0 {
			o.minutes = -1
		}
	}
	if o.app.getenv("MAX_RESUME_ATTEMPTS") != "" { // the seed's script has it, too, and nothing is left unheard
		return usageError{what: "MAX_RESUME_ATTEMPTS is not read", why: "the key pipeline.max_resume_attempts has it", fix: "`unset MAX_RESUME_ATTEMPTS`, then `relay pipeline run --set pipeline.max_resume_attempts=3`"}
	}
	if o.minutes < 0 || o.minutes > 1440 {
		return usageError{what: from + " is not a valid cap", why: "it is a number of minutes from 1 to 1440", fix: "`relay pipeline run --max-session-minutes 15`"}
	}
	if o.parallel < 0 || o.parallel > 32 || o.parallel == 0 && o.given("parallel") {
		return usageError{what: fmt.Sprintf("--parallel %d is not a number of tasks", o.parallel), why: "it is from 1 to 32", fix: "`relay pipeline run --parallel 2`"}
	}
	if o.key != "" && o.only == "" || o.join != "" && o.only+o.key != "" || o.signers != "" && o.key+o.join == "" {
		return usageError{what: "these flags don't go together", why: "--key names the result of the task of --only, --join the results of several, and --signers is about those",
			fix: "`relay pipeline run --only TASK --key KEY`, then `relay pipeline run --join KEY`"}
	}
	live := newProgress(o.app, repo)
	defer live.close()
	res, err := pipelines.Run(ctx, repo, pipelines.RunOptions{Observer: live, OnTask: live.task, Signers: o.signers,
		PipelineOrders: host.PipelineOrders{Only: o.only, Beyond: o.beyond, Session: time.Duration(o.minutes) * time.Minute, Parallel: o.parallel, Push: o.push, Key: o.key, Join: o.join}})
	live.close()
	if err != nil {
		if res != nil && !o.app.json {
			pipelineVerdict(o.app.printer(o.app.out, o.app.outTTY), res)
		}
		return err
	}
	return o.app.end(res.ExitCode, res, func(p *printer) { pipelineVerdict(p, res) })
}

// task says how one task ended.
func (pr *progress) task(t *host.TaskAttempt) {
	pr.mu.Lock()
	defer pr.mu.Unlock()
	end, text := pr.p.outcome(string(t.Code)), t.Summary
	if t.Waiting != nil {
		end, text = pr.p.yellow("waits for you"), t.Waiting.Text
	}
	if len(t.Commit) > 12 {
		text += "  " + t.Commit[:12]
	}
	pr.line(pr.p.bold("task "+t.TaskID)+"  "+end, text)
}

// pipelineVerdict is the last word on a run.
func pipelineVerdict(p *printer, res *pipelines.RunResult) {
	for _, t := range res.Tasks {
		switch {
		case t.Waiting != nil:
			p.row("waits", t.TaskID+"  "+host.Safe(t.Waiting.Text))
		case t.Code == "SUCCESS" && res.Left != nil:
			p.row("left", fmt.Sprintf("%s  %s  %s", res.Left.Ref, t.TaskID, host.Safe(t.Task.Title)))
		case t.Code == "SUCCESS":
			p.row("landed", fmt.Sprintf("%.12s  %s  %s", dash(t.Commit), t.TaskID, host.Safe(t.Task.Title)))
		default:
			p.row("failed", t.TaskID+"  "+p.outcome(string(t.Code))+"  "+host.Safe(t.Summary+": "+t.Why))
		}
	}
	if x := res.Left; x != nil && x.Earlier {
		p.row("earlier", "this result was there already; nothing was bought")
	}
	p.row("held up", heldUp(res.Held))
	for _, r := range res.Replaced {
		p.row("replaced", fmt.Sprintf("%s by %s for the %s: %s", r.From, r.To, r.Role, host.Safe(r.Why)))
	}
	if x := res.Pushed; x != nil && x.What != "" {
		p.row("pushed", p.yellow(host.Safe(x.What))+"  "+host.Safe(x.Why))
	} else if x != nil && x.Commit != "" {
		p.row("pushed", fmt.Sprintf("%.12s to %s, by your own git", x.Commit, host.Safe(x.To)))
	}
	p.row("tasks", counted(res.Counts))
	p.row("spent", spendText(res.Spend.Calls, res.Spend.CostUSD, res.Spend.UnknownCalls))
	p.row("ended", res.Ended())
	why(p, res.Why)
	p.next(res.Next)
}

// heldUp names the tasks that can't start, each with the failed one that holds it.
func heldUp(held map[string]string) string {
	var all []string
	for id, by := range held {
		all = append(all, id+" by "+by)
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// counted says how many tasks have each status.
func counted(counts map[string]int) string {
	var parts []string
	for _, s := range []string{"completed", "in_progress", "pending", "failed", "skipped"} {
		if n := counts[s]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, strings.ReplaceAll(s, "_", " ")))
		}
	}
	return strings.Join(parts, ", ")
}

func newPipelineStatusCmd(a *app) *cobra.Command {
	o := &pipelineOptions{app: a}
	return &cobra.Command{
		Use: "status", Short: "Where the pipeline stands, and what comes next", Long: "Starts nothing. The exit code is 1 while something waits for you.", Example: "relay pipeline status\nrelay pipeline status --json | jq .open",
		Args: noArgs, RunE: inRepo(a, o, runPipelineStatus),
	}
}

func runPipelineStatus(ctx context.Context, repo *host.Repo, o *pipelineOptions) error {
	res, err := pipelines.Status(ctx, repo)
	if err != nil {
		return err
	}
	return o.app.end(res.ExitCode, res, func(p *printer) {
		if res.Running {
			p.row("running", "yes"+pid(res.PID))
		}
		for _, n := range res.Needs {
			switch {
			case n.Of == "pipeline":
				p.row("pipeline", p.yellow(host.Safe(n.Text)))
			case n.Kind == host.NeedProblem:
				p.row("task", host.Safe(n.ID)+"  "+p.yellow(host.Safe(n.Text)))
			case !n.Until.IsZero():
				p.row("waits", host.Safe(n.ID)+"  "+p.bold(countdown(time.Until(n.Until))+" left")+"  "+host.Safe(n.Text))
			}
		}
		p.row("tasks", counted(res.Counts))
		for _, t := range res.Open {
			at := t.At()
			if t.Waiting != nil {
				at = "waits for you: " + host.Safe(t.Waiting.Text)
			}
			p.row("begun", t.TaskID+"  "+at)
		}
		p.row("ready", strings.Join(res.Ready, ", "))
		p.row("held up", heldUp(res.Held))
		problem(p, res.Problem)
		nextAfterProblem(p, res.Problem, res.Next)
	})
}
