package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/paxiom/relay/host"
)

type showOptions struct {
	app  *app
	run  string
	diff bool
}

func newShowCmd(a *app) *cobra.Command {
	o := &showOptions{app: a}
	cmd := &cobra.Command{
		Use:               "show [RUN|CYCLE|TASK]",
		Short:             "One run or cycle in full: what changed, why it ended as it did",
		Long:              "Shows a run's task, verdict, checks and files; or an audit cycle's findings, revision, tests\nand what came of each item; and rule by rule why it ended as it did. Without an argument, the last\nrun. A task's id is its last attempt, or while that is under way the task itself.",
		Example:           "relay show\nrelay show 20261120-1923      # a run id or the beginning of one\nrelay show --diff             # with what was changed, or would have been\nrelay show bf3c91 --diff      # an audit cycle, with its revision\nrelay show --json | jq .report",
		GroupID:           groupLook,
		Args:              oneArg(&o.run, "run, cycle or task"),
		RunE:              inRepo(a, o, runShow),
		ValidArgsFunction: completeWork(a),
	}
	cmd.Flags().BoolVar(&o.diff, "diff", false, "with the change, file by file with the rules it broke, in your pager on a terminal")
	return cmd
}

func runShow(ctx context.Context, repo *host.Repo, o *showOptions) error {
	if id := repo.FindCycle(o.run); id != "" {
		return showCycle(ctx, o, repo, id)
	}
	if id := repo.FindTask(o.run); id != "" {
		return runTaskShow(ctx, repo, &taskOptions{app: o.app, id: id})
	}
	s, err := repo.Show(ctx, o.run)
	if err != nil {
		return err
	}
	if o.diff {
		if err := repo.ReadDiff(s); err != nil {
			return err
		}
	}
	return o.app.done(s, nil, func(p *printer) {
		showRun(p, s)
		if o.diff && len(s.Diff) > 0 {
			showDiff(ctx, o.app, p, s.Diff)
		}
	})
}

func showRun(p *printer, s *host.ShowResult) {
	p.row("run", s.Run.RunID+"  "+s.Run.StartedAt.Local().Format(time.DateTime))
	if r := s.Report; r != nil {
		showReport(p, r)
	} else {
		p.row("intent", host.Safe(s.Run.Intent))
		p.row("verdict", p.outcome(string(s.Run.Code)))
	}
	if s.LandedOn != "" {
		p.row("landed", "on "+host.Safe(s.LandedOn)+", which is not your branch")
	}
	showOutput(p, s.Output)
	showTests(p, s)
	showRules(p, s.Rules)
	if e := s.Explain; e != nil && e.Code != "SUCCESS" {
		p.linef("")
		p.row("meaning", e.Title+": "+e.Cause)
		p.row("relay did", e.Did)
		p.advise(p.dim(pad("you can", 10))+" ", host.Safe(s.Way))
	}
	if len(s.Files) > 0 {
		p.linef("")
		for i, f := range s.Files {
			p.row(first(i, "files"), host.Safe(f.Path)+"  "+p.dim(size(f.Bytes)))
		}
	}
	for _, n := range s.Next {
		if n != s.Way {
			p.next(n)
		}
	}
}

// showOutput shows why a check failed, in its own words.
func showOutput(p *printer, lines []string) {
	if len(lines) == 0 {
		return
	}
	p.linef("\n%s", p.dim("the last lines of the check that failed:"))
	for _, l := range lines {
		p.linef("  | %s", p.text(host.SafeLine(l)))
	}
}

// showTests names the tests that decided, and has what was done to their files.
func showTests(p *printer, s *host.ShowResult) {
	if s.Report != nil && s.Run.Code == "STOP_TESTS_MISSING" {
		p.linef("\n%s", p.dim("tests that ran before, and now:"))
		for _, v := range s.Report.Verification.Runs {
			if v.Tests == nil {
				continue
			}
			for _, name := range v.Tests.Missing {
				p.hang("  "+p.red("✗")+" ", host.Safe(name))
			}
		}
	}
	if len(s.Tests) > 0 {
		p.linef("\n%s", p.dim("what the change does to tests:"))
		diffText(p, s.Tests)
	}
}

// policyRows say what the operator let land, and whose yes the rules could count.
func policyRows(p *printer, of *host.Policy) {
	for _, h := range of.Allowed() {
		p.row("policy", host.Safe(h.String()+"; you said yes"))
	}
	if of != nil {
		for _, y := range of.Approvals {
			p.row("approved", host.Safe(y.String()))
		}
	}
}

func showReport(p *printer, r *host.Report) {
	if r.Task.TaskID != "" {
		p.row("task", host.Safe(r.Task.TaskID)+" ("+host.Safe(r.Task.TaskKind)+", milestone "+host.Safe(r.Task.MilestoneID)+")")
	}
	p.row("intent", host.Safe(r.Task.Intent))
	p.row("verdict", p.outcome(string(r.Code))+"  "+host.Safe(r.Summary))
	why(p, r.Why)
	quote(p, r.PluginSays)
	if r.BlastRadius.FilesTouched > 0 {
		p.row("change", blastRadius(r))
	}
	paths := r.Scope.Shown()
	for i, path := range paths {
		if i == 2*maxShown {
			p.row("", "and "+plain(len(paths)-i)+" more: relay show --json")
			break
		}
		p.row("", host.Safe(path))
	}
	for _, v := range r.Verification.Runs {
		p.row("check", verification(p, v))
	}
	if r.Verification.Said != "" {
		p.row("evidence", host.Safe(r.Verification.Said))
	}
	policyRows(p, r.Policy)
	if r.Verification.NewTests != nil {
		for _, line := range r.Verification.NewTests.Lines() {
			p.row("new tests", host.Safe(line))
		}
	}
	for _, w := range []*host.Worker{r.Orchestrator, r.Builder} {
		if w != nil {
			p.row(workerLabel(w == r.Builder), workerLine(w))
		}
	}
	if r.Box != nil && (r.Builder != nil || len(r.Box.Network) > 0) { // otherwise nothing was in it
		p.row("box", host.Safe(r.Box.String()))
		for _, n := range r.Box.Network {
			p.row("", "network of the "+host.Safe(n.Role)+": "+host.Safe(n.Mode))
			for _, c := range n.Refused {
				p.row("", fmt.Sprintf("refused to the %s: %s, %d times: %s", host.Safe(n.Role), host.Safe(c.Target), c.Count, host.Safe(c.Why)))
			}
		}
	}
	if r.Commit != "" {
		p.row("commit", r.Commit)
	}
	if r.Salvage != "" {
		p.row("kept", host.Safe(r.Salvage))
	}
	if r.Question != nil {
		p.row("question", host.Safe(r.Question.Prompt))
	}
	for _, n := range r.Notes {
		p.row("note", host.Safe(n))
	}
	p.row("took", duration(time.Duration(r.DurationMS)*time.Millisecond))
}

func workerLabel(builder bool) string {
	if builder {
		return "builder"
	}
	return "planner"
}

func workerLine(w *host.Worker) string {
	s := host.Safe(w.Plugin)
	if w.Model != "" {
		s += " with " + host.Safe(w.Model)
	}
	s += ", " + plural(w.Calls, "call", "calls")
	if w.InputTokens != nil && w.OutputTokens != nil {
		s += ", " + plain(int(*w.InputTokens)) + " tokens in, " + plain(int(*w.OutputTokens)) + " out"
	}
	if w.CostUSD != nil {
		s += ", $" + money(*w.CostUSD)
	}
	if w.FailureReason != "" {
		s += "; failed: " + failure(w)
	}
	if w.Summary != "" {
		s += "; says: " + shorten(w.Summary, 200)
	}
	return s
}

// failure is why a worker failed: the protocol's word for it, as people write it, and
// the plugin's own.
func failure(w *host.Worker) string {
	reason := strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(w.FailureReason, "REASON_"), "_", " "))
	return host.Safe(reason) + ": " + shorten(w.FailureDetail, 120)
}
