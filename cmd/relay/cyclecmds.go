package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/paxiom/relay/host"
	"github.com/paxiom/relay/host/cycles"
)

// cycleEnd ends a command that moved a cycle on.
func (a *app) cycleEnd(res *cycles.Result, err error) error {
	if res != nil && res.Bell && a.errTTY && a.capable() {
		_, _ = fmt.Fprint(a.err, "\a")
	}
	if err != nil {
		return err
	}
	return a.end(res.ExitCode, res, func(p *printer) { cycleVerdict(p, res) })
}

// cycleVerdict is the last word on a cycle: where it stands, and what to type.
func cycleVerdict(p *printer, res *cycles.Result) {
	c := res.Cycle
	p.row("cycle", c.UUID)
	p.row("service", host.Safe(c.ServiceID)+fmt.Sprintf(", iteration %d of %d", c.Iteration, c.ConfigSnapshot.Cycle.MaxIterations))
	p.row("branch", host.Safe(c.Branch))
	cycleState(p, c)
	cycleMatter(p, c)
	violations(p, c)
	p.row("files", host.Safe(res.Dir))
	for i, n := range res.Next {
		if i == 0 {
			p.next(n)
			continue
		}
		p.linef("      %s", p.command(host.Safe(n)))
	}
}

func cycleState(p *printer, c *host.Cycle) {
	text := p.bold(string(c.State))
	if d := (*c).Detail(); d != "" {
		text += "  " + shorten(d, 100)
	}
	p.row("state", text)
	if c.Problem != nil {
		p.row("problem", p.red(host.Safe(c.Problem.What)))
		why(p, c.Problem.Why)
	}
}

// cycleMatter is what the operator should look at in the present state.
func cycleMatter(p *printer, c *host.Cycle) {
	for _, w := range c.Warnings {
		p.row("warning", p.yellow(host.Safe(w)))
	}
	if c.Input != nil {
		for _, w := range c.Input.Warnings {
			p.row("warning", p.yellow(host.Safe(w)))
		}
	}
	for _, a := range c.Audits {
		text := fmt.Sprintf("%s by %s, %s", a.Role, host.Safe(a.Provider), plural(a.Items, "entry", "entries"))
		switch {
		case a.File == "":
			text = p.yellow(fmt.Sprintf("%s by %s is missing: %s", a.Role, host.Safe(a.Provider), host.Safe(a.Why)))
		case !a.Conforming:
			text = p.yellow(fmt.Sprintf("%s by %s kept to no form: read %s", a.Role, host.Safe(a.Provider), host.Safe(a.File)))
		}
		p.row("audit", text)
	}
	if r := c.Refined; r != nil {
		for _, a := range r.Added {
			p.row("added", p.yellow("by the refinement, no auditor raised it: "+host.Safe(a)))
		}
		for _, l := range r.Lost {
			p.row("lost", p.yellow("in the refinement: "+host.Safe(l)))
		}
	}
	if len(c.Findings) > 0 {
		p.row("findings", fmt.Sprintf("%d new, %d open, %d came back, %d fixed", c.Findings["new"], c.Findings["open"], c.Findings["returned"], c.Findings["fixed"]))
	}
	if r := c.Revision; r != nil {
		revision(p, c)
	}
	if c.Earlier() {
		p.row("landed", fmt.Sprintf("by iteration %d, as %.12s; %s", c.LastLanded.Iteration, c.LastLanded.Commit, host.Safe(c.LastLanded.Tests.Text())))
	}
	p.row("spent", spendText(max(c.CallsMade, len(c.Calls)), c.CostUSD, c.UnknownCalls))
}

// violations are the first rules that a revision broke; relay show has all of them.
func violations(p *printer, c *host.Cycle) {
	if c.Revision == nil {
		return
	}
	for i, v := range c.Revision.Violations {
		if i == maxShown {
			p.row("", "and "+plain(len(c.Revision.Violations)-i)+" more: relay show "+c.UUID[:8])
			break
		}
		p.row("broken", host.Safe(v))
	}
}

func revision(p *printer, c *host.Cycle) {
	r := c.Revision
	text := fmt.Sprintf("%s, +%d/-%d lines by %s", plural(r.Files, "file", "files"), r.Added, r.Deleted, host.Safe(r.By))
	if r.Landed {
		text += fmt.Sprintf(", committed as %.12s", r.Commit)
	}
	p.row("revision", text)
	p.row("judge", p.outcome(string(r.Code))+"  "+host.Safe(r.Why))
	switch v := r.Verification; {
	case v != nil && v.Said != "":
		p.row("evidence", host.Safe(v.Said))
	case r.Landed && c.Tests == nil:
		p.row("evidence", host.NotVerified)
	}
	if r.Salvage != "" {
		p.row("kept", host.Safe(r.Salvage))
	}
	for _, n := range r.Notes {
		p.row("note", host.Safe(n))
	}
	if r.Conflicts != "" {
		for i, line := range strings.Split(r.Conflicts, "\n") {
			p.linef("%s %s", p.dim(pad(first(i, "conflicts"), 10)), p.yellow(host.Safe(line)))
		}
	}
	if t := c.Tests; t != nil {
		text := p.green(t.Text())
		if !t.Passed {
			text = p.red(host.Safe(t.Text()))
		}
		p.row("tests", text+"  "+p.dim(duration(time.Duration(t.MS)*time.Millisecond)))
	}
	for _, x := range r.Coverage {
		text := p.yellow("touched nothing")
		if len(x.Files) > 0 {
			text = host.Safe(strings.Join(x.Files, ", "))
		}
		p.row("item", shorten(x.Name+" "+x.Line, 60)+": "+text)
		if len(x.Wrong) > 0 {
			p.row("", p.yellow("claimed and not changed: "+host.Safe(strings.Join(x.Wrong, ", "))))
		}
	}
	for _, d := range r.Decisions {
		p.row("decided", host.Safe(d.String()))
	}
	if len(r.Beyond) > 0 {
		p.row("unplanned", p.yellow("changed, and no entry of the plan asks for it: "+host.Safe(strings.Join(r.Beyond, ", "))))
	}
}

type continueOptions struct {
	app *app
	id  string
	yes bool
}

func newContinueCmd(a *app) *cobra.Command {
	o := &continueOptions{app: a}
	cmd := &cobra.Command{
		Use:   "continue CYCLE",
		Short: "Gate 1: approve the plan and have it carried out",
		Long: "Approves the plan of a cycle as it is now, for exactly these audits and this commit of the branch,\n" +
			"and has it carried out, judged, committed and tested. On a terminal it says what will run and asks;\n" +
			"without one, a plan with undecided entries needs --yes.",
		Example: "relay audit review bf3c91\nrelay audit continue bf3c91",
		Args:    needArg(&o.id, "cycle", "relay queue"),
		RunE:    inRepo(a, o, runContinue),

		ValidArgsFunction: completeCycles(a),
	}
	cmd.Flags().BoolVarP(&o.yes, "yes", "y", false, "don't ask: calling the command is the decision")
	return cmd
}

func runContinue(ctx context.Context, repo *host.Repo, o *continueOptions) error {
	var live *progress
	defer func() {
		if live != nil {
			live.close()
		}
	}()
	res, err := cycles.Continue(ctx, repo, o.id, observer(&live, o.app, repo), func(v *host.CyclePreview) error {
		if live != nil { // it would draw over the question
			live.close()
			live = nil
		}
		return confirm(o, v)
	})
	if live != nil {
		live.close()
	}
	return o.app.cycleEnd(res, err)
}

// observer begins the live line with the first event, so that a question before it has
// the terminal for itself.
func observer(live **progress, a *app, repo *host.Repo) host.Observer {
	return host.ObserverFunc(func(e host.Event) {
		if *live == nil {
			*live = newProgress(a, repo)
		}
		(*live).Observe(e)
	})
}

// confirm shows what will run, and asks where somebody can be asked.
func confirm(o *continueOptions, v *host.CyclePreview) error {
	p := o.app.printer(o.app.err, o.app.errTTY)
	if o.app.quiet {
		p = newPrinter(discard{}, false)
	}
	p.row("plan", plural(v.Items, "entry", "entries"))
	undecided := v.Marks["AMBIGUOUS"] + v.Marks["CONFLICT"]
	if n := undecided; n > 0 {
		p.row("undecided", p.yellow(plural(n, "entry is", "entries are")+" marked as ambiguous or in conflict"))
	}
	if !v.Reviewed {
		p.row("note", p.yellow("you have not opened this plan with relay audit review"))
	}
	model := cmp.Or(v.Model, "its default model")
	p.row("revises", host.Safe(v.Reviser)+" with "+host.Safe(model))
	if v.MaxUSD > 0 {
		p.row("costs", "at most $"+money(v.MaxUSD))
	}
	if len(v.Tests) > 0 {
		p.row("tests", host.Safe(strings.Join(v.Tests, " ")))
	}
	switch {
	case o.yes:
		return nil
	case !o.app.interactive() && undecided > 0:
		id := host.Safe(o.id)
		return usageError{what: "the plan has undecided entries", why: plural(undecided, "entry is", "entries are") + " marked as ambiguous or in conflict, and without a terminal nobody can be asked",
			fix: "`relay audit review " + id + "` to decide, or `relay audit continue " + id + " --yes` to leave them to the reviser"}
	case !o.app.interactive():
		return nil
	}
	return o.app.agreed(p, "Carry out this plan?",
		usageError{what: "the plan is not approved", why: "you did not say yes", fix: "`relay audit review " + host.Safe(o.id) + "`"})
}

type discard struct{}

func (discard) Write(b []byte) (int, error) { return len(b), nil }

// needArg takes exactly one argument, into *to.
func needArg(to *string, name, list string) cobra.PositionalArgs {
	one := oneArg(to, name)
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return usageError{what: cmd.CommandPath() + " needs " + withArticle(name), fix: "`" + list + "` shows them"}
		}
		return one(cmd, args)
	}
}
