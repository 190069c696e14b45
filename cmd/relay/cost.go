package main

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/paxiom/relay/host"
)

type costOptions struct {
	app   *app
	of    string
	by    string
	since string
}

func newCostCmd(a *app) *cobra.Command {
	o := &costOptions{app: a}
	cmd := &cobra.Command{
		Use:   "cost [RUN|CYCLE|TASK]",
		Short: "What the model calls have cost",
		Long: "Adds up the calls of this repository, from .git/relay/usage.jsonl. A call of unknown cost\n" +
			"is counted separately, at the most it was allowed to cost; it never counts as free.",
		Example: "relay cost\nrelay cost --by run --since 12h\nrelay cost --by model --json\nrelay cost bf3c91                  # one audit cycle, by role\nrelay cost login                   # one task of the pipeline, all attempts",
		GroupID: groupLook,
		Args:    oneArg(&o.of, "run, cycle or task"),
		RunE:    inRepo(a, o, runCost),

		ValidArgsFunction: completeWork(a),
	}
	f := cmd.Flags()
	f.StringVar(&o.by, "by", "", "add up by `WHAT`: day, run, provider, model, role, milestone or cycle")
	f.StringVar(&o.since, "since", "", "only calls of the last `DUR`: 12h, 7d")
	_ = cmd.RegisterFlagCompletionFunc("by", cobra.FixedCompletions([]string{"run", "day", "provider", "model", "role", "milestone", "cycle"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func runCost(ctx context.Context, repo *host.Repo, o *costOptions) error {
	var since time.Duration
	if o.since != "" {
		var err error
		if since, err = parseSince("relay cost", o.since); err != nil {
			return err
		}
	}
	res, err := repo.Cost(ctx, host.CostOptions{By: o.by, Since: since, Of: o.of})
	return o.app.done(res, err, func(p *printer) { costTable(p, res) })
}

func costTable(p *printer, res *host.CostResult) {
	if res.Total.Calls == 0 {
		p.linef("No calls.")
		return
	}
	rows := [][]string{{res.By, "calls", "cost", "tokens in", "out", "cache"}}
	for _, l := range append(res.Lines, res.Total) {
		name := host.Safe(l.Name)
		switch {
		case name == "":
			name = "(none)"
		case strings.ContainsAny(name, " `"): // a plugin's or a model's words, at the beginning of a line
			name = strconv.Quote(name)
		}
		rows = append(rows, []string{name, plain(l.Calls), costText(l), tokens(l.InputTokens), tokens(l.OutputTokens), tokens(l.CacheTokens)})
	}
	p.table(rows)
	if res.Total.UnknownCalls > 0 {
		p.linef("\n%s", p.dim("Totals exclude calls of unknown cost; their limits are in parentheses."))
	}
}

// costText returns the known sum, and the limits of calls of unknown cost beside it.
func costText(l host.CostLine) string {
	text := ""
	if l.CostUSD != nil {
		text = "$" + money(*l.CostUSD)
	}
	if l.UnknownCalls == 0 {
		return text
	}
	if text != "" {
		text += " + "
	}
	text += plain(l.UnknownCalls) + " unknown"
	if l.UnknownMaxUSD > 0 {
		text += " (allowed $" + money(l.UnknownMaxUSD) + ")"
	}
	return text
}

func tokens(n *int64) string {
	if n == nil {
		return "?"
	}
	return strconv.FormatInt(*n, 10)
}
