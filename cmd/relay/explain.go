package main

import (
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/paxiom/relay/host"
)

type explainOptions struct {
	app  *app
	code string
}

func newExplainCmd(a *app) *cobra.Command {
	o := &explainOptions{app: a}
	return &cobra.Command{
		Use:     "explain [CODE]",
		Short:   "What a verdict's code means, and what to type then",
		Long:    "explain says what leads to a code, what relay did about it and what to type. Without a\ncode it explains the one that the last run ended with.",
		Example: "relay explain\nrelay explain STOP_HEAD_MOVED\nrelay explain head_moved   # STOP_ and BLOCKED_ may be left out",
		GroupID: groupLook,
		Args:    oneArg(&o.code, "code"),
		RunE:    runE(o, runExplain),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
			var all []cobra.Completion
			for _, code := range host.Codes() {
				all = append(all, cobra.CompletionWithDesc(string(code), host.Explain(code).Title))
			}
			return all, cobra.ShellCompDirectiveNoFileComp
		},
	}
}

// explainDoc is what `relay explain --json` prints.
type explainDoc struct {
	host.Doc
	host.Explanation
}

func runExplain(ctx context.Context, o *explainOptions) error {
	e, err := o.find(ctx)
	if err != nil {
		return err
	}
	return o.app.done(explainDoc{host.Doc{Kind: "relay.explain", Version: 1}, *e}, nil, func(p *printer) {
		p.row("code", p.outcome(string(e.Code))+"  "+e.Title)
		p.row("cause", e.Cause)
		p.row("relay did", e.Did)
		p.advise(p.dim(pad("you can", 10))+" ", e.Command)
		p.row("exit code", strconv.Itoa(e.ExitCode))
	})
}

// find is the code that was meant: the last run's, or the one of that name, where the
// first word may be left out if that still names one code alone.
func (o *explainOptions) find(ctx context.Context) (*host.Explanation, error) {
	if o.code == "" {
		repo, err := o.app.open()
		if err != nil {
			return nil, err
		}
		last, err := repo.Show(ctx, "")
		if err != nil {
			return nil, err
		}
		return last.Explain, nil
	}
	var ends []host.Explanation
	var near []string
	name := strings.ToUpper(strings.ReplaceAll(o.code, "-", "_"))
	for _, code := range host.Codes() {
		if string(code) == name {
			return new(host.Explain(code)), nil
		}
		if strings.HasSuffix(string(code), "_"+name) {
			ends = append(ends, host.Explain(code))
		}
		if strings.Contains(string(code), name) {
			near = append(near, string(code))
		}
	}
	u := usageError{what: "no code is called " + strconv.QuoteToASCII(o.code), why: "the codes are those that `relay help exit-codes` lists", fix: "`relay help exit-codes`"}
	switch len(ends) {
	case 0:
		if len(near) > 0 {
			u.why, u.fix = "perhaps you mean: "+strings.Join(near, ", "), "`relay explain "+near[0]+"`"
		}
		return nil, u
	case 1:
		return &ends[0], nil
	}
	u.what = strconv.QuoteToASCII(o.code) + " ends the names of " + strconv.Itoa(len(ends)) + " codes"
	u.fix = "`relay explain " + string(ends[0].Code) + "`"
	return nil, u
}
