package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/paxiom/relay/cmd/relay/internal/screen"
	"github.com/paxiom/relay/host"
	"github.com/paxiom/relay/host/health"
)

type statusOptions struct {
	app       *app
	short     bool // relay without arguments
	preflight bool
}

func newStatusCmd(a *app) *cobra.Command {
	o := &statusOptions{app: a}
	cmd := &cobra.Command{
		Use:     "status",
		Short:   "Where things stand, and the next command",
		Long:    "Shows the last run, open questions, budgets and the lock. Starts nothing and spends nothing.",
		Example: "relay status\nrelay status --preflight   # would a tick start now?",
		GroupID: groupStart,
		Args:    noArgs,
		RunE:    inRepo(a, o, runStatus),
	}
	cmd.Flags().BoolVar(&o.preflight, "preflight", false, "check everything that a tick checks before it starts")
	return cmd
}

func runStatus(ctx context.Context, repo *host.Repo, o *statusOptions) error {
	s, err := repo.Status(ctx, o.preflight)
	if err != nil {
		if o.short && !o.app.json && repo.Root() == "" {
			introduce(o.app.printer(o.app.out, o.app.outTTY))
		}
		return err
	}
	return o.app.end(s.ExitCode, s, func(p *printer) {
		if o.short {
			shortStatus(p, s)
			return
		}
		fullStatus(p, s)
	})
}

// shortStatus is what relay says when it is called with nothing.
func shortStatus(p *printer, s *host.StatusResult) {
	if s.Config == "" && s.LastRun == nil {
		introduce(p)
	}
	problem(p, s.Problem)
	lastRun(p, s)
	if s.Loop != nil && (s.Loop.Running || s.Loop.CutOff) {
		loopRow(p, s.Loop)
	}
	cyclesInFlight(p, s)
	pipelineRows(p, s)
	question(p, s)
	if s.LastRun == nil && s.Problem == nil && s.Pipeline == nil && s.LastCycle == nil && len(s.Needs)+len(s.Cycles) == 0 {
		p.advise("", "relay is set up here; nothing has run yet. `relay doctor` tries what a run needs.")
	}
	nextAfterProblem(p, s.Problem, s.Next)
}

// introduce says what relay is, to somebody who calls it where it was never set up.
func introduce(p *printer) {
	p.prose("relay lets a model change a git repository one judged step at a time: it proposes a small task, a\nbuilder carries that out in a box, and only what passes your rules and checks is committed.")
	p.linef("")
	p.table([][]string{
		{"  " + p.bold("relay demo"), "see that in a sample repository; no account needed"},
		{"  " + p.bold("relay init"), "once in your repository: writes one short configuration"},
		{"  " + p.bold("relay doctor"), "tries what a run needs, and names what is missing"},
		{"  " + p.bold("relay run --goal \"...\""), "one step, from task to commit"},
	})
	p.linef("\nNothing is set up here yet:")
}

// nextAfterProblem prints the next command, unless the problem's fix just said it.
func nextAfterProblem(p *printer, c *health.Check, next string) {
	if c == nil || c.Fix != next {
		p.next(next)
	}
}

func fullStatus(p *printer, s *host.StatusResult) {
	p.row("repository", host.Safe(s.Root))
	if s.Branch != "" {
		p.row("branch", host.Safe(s.Branch))
	}
	p.row("config", host.Safe(s.Config))
	p.row("milestone", host.Safe(s.MilestoneID))
	lastRun(p, s)
	if s.Lock != "" && s.Lock != "free" {
		p.row("lock", s.Lock+pid(s.LockPID))
	}
	loopRow(p, s.Loop)
	p.row("unfinished", s.Unfinished)
	for i, b := range s.Budgets {
		p.row(first(i, "budgets"), budget(p, b))
	}
	for _, a := range s.Alerts {
		p.row("alert", p.yellow(a))
	}
	if s.Blocked != nil && s.Problem == nil {
		p.row("blocked", p.outcome(string(s.Blocked.Code))+"  "+host.Safe(s.Blocked.What))
	}
	cyclesInFlight(p, s)
	if s.Today != nil {
		p.linef("%s", p.dim("cost today"))
		costTable(p, s.Today)
	}
	pipelineRows(p, s)
	question(p, s)
	problem(p, s.Problem)
	checkLines(p, s.Preflight)
	if s.Ready != nil {
		if *s.Ready {
			p.linef("%s a tick can start", p.green("ready:"))
		} else {
			p.linef("%s a tick would be blocked", p.red("not ready:"))
		}
	}
	nextAfterProblem(p, s.Problem, s.Next)
}

// cyclesInFlight lists audit cycles like the seed's status does.
func cyclesInFlight(p *printer, s *host.StatusResult) {
	if len(s.Cycles) == 0 {
		if c := s.LastCycle; c != nil {
			p.row("last cycle", fmt.Sprintf("%s  %s  %s", host.Safe(c.Service), c.Short, c.State))
		}
		return
	}
	waiting := 0
	for _, c := range s.Cycles {
		if c.Waits {
			waiting++
		}
	}
	p.linef("%s", p.dim("cycles in flight"))
	cycleTable(p, s.Cycles)
	if waiting > 0 {
		p.linef("%s", p.yellow(plural(waiting, "cycle needs", "cycles need")+" your attention: relay queue"))
	}
}

func pid(n int) string {
	if n == 0 {
		return ""
	}
	return " by process " + strconv.Itoa(n)
}

func lastRun(p *printer, s *host.StatusResult) {
	if r := s.LastRun; r != nil {
		p.row("last run", runLine(p, *r))
	}
}

// loopRow is where a loop stands.
func loopRow(p *printer, l *host.LoopSeen) {
	if l == nil {
		return
	}
	text := l.ID
	switch {
	case l.Wait != nil && (l.Running || l.CutOff):
		waitRow(p, l)
		return
	case l.Running:
		text += fmt.Sprintf("  %s, mode %s, tick %d, since %s%s", p.bold("runs"), l.Mode, l.Tick, l.BeganAt.Local().Format("2006-01-02 15:04"), pid(l.PID))
	case l.CutOff:
		text += "  " + p.yellow(l.Broke())
	default:
		text += "  ended"
		if l.Tick > 0 {
			text += " after " + plural(l.Tick, "tick", "ticks")
		}
		text += ": " + l.Reason.Words()
	}
	p.row("loop", text)
	why(p, l.Why)
	if l.Running {
		why(p, l.Held)
	}
}

// pipelineRows are where the run over the task list stands, and what its tasks wait for.
func pipelineRows(p *printer, s *host.StatusResult) {
	if s.Pipeline != nil && s.Pipeline.Running {
		p.row("pipeline", s.Pipeline.RunID+"  "+p.bold("runs")+", since "+s.Pipeline.StartedAt.Local().Format(time.DateTime)+pid(s.Pipeline.PID))
	}
	for _, n := range s.Needs {
		switch n.Of {
		case "pipeline":
			p.row("pipeline", n.ID+"  "+p.yellow(shorten(n.Text, 200)))
		case "task":
			label := "task waits"
			if n.Kind == host.NeedProblem {
				label = "task"
			}
			p.row(label, host.Safe(n.ID)+"  "+shorten(n.Text, 120))
		}
	}
	for _, n := range s.Waits {
		if n.Of == "task" {
			p.row("task waits", host.Safe(n.ID)+"  "+p.bold(countdown(time.Until(n.Until))+" left")+"  "+shorten(n.Text, 120))
		}
	}
}

// runLine is one run on one line: id, outcome, intent.
func runLine(p *printer, r host.RunLine) string {
	code := cmp.Or(string(r.Code), "unfinished")
	outcome := p.outcome(code)
	if code == "SUCCESS" && r.ExitCode == host.ExitWaiting {
		outcome = p.yellow("asks") // it finished nothing
	}
	line := r.RunID + "  " + outcome
	if r.Intent != "" {
		line += "  " + shorten(r.Intent, 60)
	}
	return line
}

func question(p *printer, s *host.StatusResult) {
	if s.Question == "" {
		return
	}
	p.row("question", p.bold(host.Safe(s.Question)))
	for i, c := range s.Choices {
		p.row("", fmt.Sprintf("%d. %s", i+1, host.Safe(c)))
	}
}

func problem(p *printer, c *health.Check) {
	if c != nil {
		p.hang(p.red("problem:")+" ", host.Safe(c.What))
		p.whyAndFix("  ", c.Why, c.Fix)
		p.says("  ", c.PluginSays)
	}
}

// checkLines prints one line for each check, and why and fix under those that failed.
func checkLines(p *printer, all []health.Check) {
	for i, c := range all {
		mark := p.green("ok  ")
		switch {
		case c.Skip:
			mark = p.dim("skip")
		case !c.OK:
			mark = p.red("FAIL")
		}
		what := c.What
		if c.Skip && what == "" {
			what = "not tried, since an earlier check failed"
		}
		p.hang(mark+" "+pad(c.ID, 12)+" ", host.Safe(what))
		if !c.OK || c.Skip {
			if n := sameTrouble(all[:i], c); n >= 0 {
				p.linef("     same fix as %s above", all[n].ID)
			} else {
				p.whyAndFix("     ", c.Why, c.Fix)
				p.says("     ", c.PluginSays)
			}
		}
		for _, w := range c.Warnings {
			p.advise("     "+p.yellow("warning:")+" ", host.Safe(w))
		}
		if c.ID == "box" { // of the means that is used; --json has those of all
			for _, g := range c.Gaps {
				p.hang("     "+p.dim("not covered:")+" ", p.dim(host.Safe(g)))
			}
		}
	}
}

// sameTrouble finds the check before c that failed for the same reason; -1 is none.
func sameTrouble(before []health.Check, c health.Check) int {
	return slices.IndexFunc(before, func(o health.Check) bool {
		return !o.OK && c.Fix != "" && o.Why == c.Why && o.Fix == c.Fix
	})
}

// budget is one counter as a bar with numbers: nothing is said by the bar alone.
func budget(p *printer, b host.BudgetLine) string {
	unknown := ""
	if b.Unknown > 0 {
		unknown = ", with an estimate for " + plural(b.Unknown, "call", "calls") + " of unknown cost"
	}
	if b.Max <= 0 {
		return fmt.Sprintf("%s %s, no cap%s", pad(b.Name, 20), screen.Amount(b.Used), unknown)
	}
	return fmt.Sprintf("%s %s %s of %s%s", pad(b.Name, 20), p.dim(screen.Bar(b.Used, b.Max, 10)), screen.Amount(b.Used), screen.Amount(b.Max), unknown)
}

// shorten makes a text of somebody else one line of at most n columns, cut between two
// characters as people see them, in which nothing controls the terminal.
func shorten(s string, n int) string {
	return screen.Cut(host.Safe(strings.Join(strings.Fields(s), " ")), n)
}
