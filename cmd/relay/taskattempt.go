package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/paxiom/relay/host"
	"github.com/paxiom/relay/host/pipelines"
)

// record prints all that is known of one attempt at a task.
func trail(p *printer, t *host.TaskAttempt) {
	end := p.outcome(string(t.Code))
	switch {
	case t.Waiting != nil:
		end = p.yellow("waits for you")
	case t.Code == "" && t.Lost != "":
		end = "restarted: " + host.Safe(t.Lost)
	case t.Code == "":
		end = t.At()
	}
	p.row("attempt", fmt.Sprintf("%s  %s  %s", t.Attempt, t.StartedAt.Local().Format(time.DateTime), end))
	if t.Code != "" && t.Code != "SUCCESS" {
		p.row("", host.Safe(t.Summary+": "+t.Why))
	}
	for _, s := range t.Steps {
		p.row("step", strings.TrimRight(fmt.Sprintf("%s  %s  %s", pad(s.Name, 12), duration(time.Duration(s.MS)*time.Millisecond), host.Safe(s.Text)), " "))
	}
	for _, f := range t.Findings {
		outcome := "open"
		if f.Outcome != "" {
			outcome = f.Outcome + ": " + f.Why
		}
		p.row("finding", host.Safe(fmt.Sprintf("%s %s %s:%d %s", f.ID, f.Severity, f.File, f.Line, f.Claim)))
		p.row("", host.Safe(outcome))
	}
	for _, c := range t.Criteria {
		by := c.Provider
		if c.ByOperator {
			by = "you"
		}
		p.row("criterion", host.Safe(fmt.Sprintf("%d. %s: %s, by %s", c.Criterion, c.Text, c.Verdict.Verdict, by)))
		for _, e := range c.Evidence {
			p.row("", host.Safe(e.String()))
		}
		if c.Doubt != "" {
			p.row("", host.Safe("but "+c.Doubt))
		}
	}
	if t.Evidence != "" {
		p.row("evidence", host.Safe(t.Evidence))
	}
	if t.Judged != nil {
		p.row("change", fmt.Sprintf("%s, +%d/-%d, %d new", plural(t.Judged.Files, "file", "files"), t.Judged.Added, t.Judged.Deleted, t.Judged.New))
	}
	policyRows(p, t.Policy)
	showRules(p, host.RulesOf(t))
	for _, d := range t.Decisions {
		p.row("you", host.Safe(map[bool]string{true: "yes ", false: ""}[d.Yes]+d.Text))
	}
	for _, c := range t.Commits {
		p.row("commit", fmt.Sprintf("%.12s", c))
	}
	if t.Salvage != "" {
		p.row("kept", t.Salvage)
	}
	for _, n := range t.Notes {
		p.row("note", host.Safe(n))
	}
	usd, unknown := 0.0, 0
	for _, c := range t.Calls {
		if c.CostUSD == nil {
			unknown++
		} else {
			usd += *c.CostUSD
		}
	}
	p.row("spent", spendText(len(t.Calls), &usd, unknown))
	if t.Waiting != nil {
		p.row("asked", host.Safe(t.Waiting.Text))
	}
}

type taskAnswerOptions struct {
	taskOptions
	args []string
}

func newTaskAnswerCmd(a *app) *cobra.Command {
	o := &taskAnswerOptions{taskOptions: taskOptions{app: a}}
	return &cobra.Command{
		Use: "answer TASK ANSWER", Short: "Answer what a task waits for",
		Long:    "A planner's question is answered with words; whether criteria that nobody could prove are met, with\nyes or no. The next `relay pipeline run` continues it.",
		Example: "relay task answer login yes\nrelay task answer users \"keep the old table\"",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 2 {
				return usageError{what: "relay task answer needs a task and an answer", why: fmt.Sprintf("%d words were given", len(args)), fix: "`relay task answer TASK yes`"}
			}
			o.id, o.args = args[0], args[1:]
			return nil
		},
		RunE: inRepo(a, o, runTaskAnswer), ValidArgsFunction: completeTasks(a, false),
	}
}

func runTaskAnswer(ctx context.Context, repo *host.Repo, o *taskAnswerOptions) error {
	t, err := pipelines.AnswerTask(ctx, repo, o.id, "", strings.Join(o.args, " "))
	if err == nil && t.Unsigned != "" {
		o.app.printer(o.app.err, o.app.errTTY).hang("unsigned: ", host.Safe(t.Unsigned))
	}
	return o.app.task(t, err)
}
