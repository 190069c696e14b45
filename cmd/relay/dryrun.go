package main

import (
	"context"
	"strings"

	"github.com/paxiom/relay/host"
)

// setting is a flag that sets one key of the configuration, as --set does.
type setting struct {
	app       *app
	key, name string
}

func (s setting) String() string { return "" }
func (s setting) Type() string   { return s.name }

func (s setting) Set(value string) error {
	s.app.set = append(s.app.set, s.key+"="+value)
	return nil
}

// dryRun prints what a run with these options would do.
func dryRun(ctx context.Context, a *app, repo *host.Repo, o host.RunOptions) error {
	d, err := repo.DryRun(ctx, o)
	if err != nil {
		return err
	}
	return a.end(d.ExitCode, d, func(p *printer) {
		if d.Ceiling == nil { // the preflight says why nothing more is known
			checkLines(p, d.Preflight)
			p.next(d.Next)
			return
		}
		if t := d.Task; t != nil {
			p.row("task", host.Safe(t.TaskID)+"  "+host.Safe(t.Intent))
			p.row("may touch", joined(t.Scope.AllowedGlobs))
		} else {
			p.row("task", "asked of the planner "+worker(d.Planner))
		}
		p.row("builder", worker(d.Builder))
		p.row("ceiling", joined(d.Ceiling.AllowedGlobs)+"; "+ceilingSize(d.Ceiling))
		for i, c := range d.Checks {
			p.row(first(i, "checks"), host.Safe(c.ID)+"  "+p.dim(host.Safe(strings.Join(c.Argv, " "))))
		}
		switch {
		case len(d.Checks) == 0 && d.Task != nil:
			p.row("checks", p.yellow("none: the change would be judged, not verified"))
		case d.Task == nil:
			also := "those that the task names"
			if len(d.Checks) > 0 {
				also = "and " + also
			}
			p.row(first(len(d.Checks), "checks"), p.dim(also))
		}
		p.row("at most", atMost(d.AtMost))
		problem(p, d.Problem)
		nextAfterProblem(p, d.Problem, d.Next)
	})
}

func worker(w host.DryRunWorker) string {
	if w.Plugin == "" {
		return "none"
	}
	if w.Model == "" {
		return host.Safe(w.Plugin)
	}
	return host.Safe(w.Plugin) + " with " + host.Safe(w.Model)
}

func ceilingSize(c *host.DryRunCeiling) string {
	text := plural(c.MaxFilesTouched, "file", "files") + ", " + plural(c.MaxLinesChanged, "line", "lines") + ", "
	if !c.NewFiles {
		text += "no "
	}
	text += "new files, "
	if !c.Lockfiles {
		text += "no "
	}
	return text + "lockfiles"
}

func atMost(c host.DryRunCost) string {
	text := plural(c.PlannerCalls, "planning call", "planning calls") + ", " + plural(c.BuilderCalls, "build", "builds") + ", " + plural(c.Checks, "check", "checks")
	if !c.Known {
		return text + "; nothing limits what a call may cost"
	}
	return text + ", $" + money(c.CostUSD)
}
