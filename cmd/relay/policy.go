package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/paxiom/relay/host"
	"github.com/paxiom/relay/host/setup"
)

func newPolicyCmd(a *app) *cobra.Command {
	return parent("policy", "Rules that forbid a change, or ask you about it", "relay policy test", groupSetup, newPolicyTestCmd(a))
}

type policyOptions struct{ app *app }

func newPolicyTestCmd(a *app) *cobra.Command {
	o := &policyOptions{app: a}
	return &cobra.Command{
		Use: "test", Short: "Compile the rules and try them on their examples",
		Long: "test reads your own rules and the repository's as they are in the work tree, policy/*.cel, and\n" +
			"tries each rule on the examples below it. A run holds changes to your rules and to those that\n" +
			"its base commit has. The exit code is 2 when an example is not as it should be.",
		Example: "relay policy test\nrelay policy test --json | jq -r '.rules[].at'",
		Args:    noArgs, RunE: inRepo(a, o, runPolicyTest),
	}
}

func runPolicyTest(ctx context.Context, repo *host.Repo, o *policyOptions) error {
	res, err := setup.TestPolicy(ctx, repo)
	if err != nil {
		return err
	}
	code := host.ExitDone
	if res.Failed > 0 {
		code = host.ExitStopped
	}
	return o.app.end(code, res, func(p *printer) {
		rows := [][]string{{"rule", "effect", "examples", "where"}}
		for _, r := range res.Rules {
			rows = append(rows, []string{host.Safe(r.Name), string(r.Effect), plain(r.Examples), host.Safe(r.At)})
		}
		if len(res.Rules) > 0 {
			p.table(rows)
		}
		for _, name := range res.Ignored {
			p.hang("not a file of rules: ", host.Safe(name))
		}
		for _, r := range res.Rules {
			for _, why := range r.Failed {
				p.hang(p.red("✗")+" ", host.Safe(r.Name+": "+why))
			}
		}
		switch n := len(res.Rules); {
		case n == 0:
			p.linef("No rules: they go into policy/*.cel of the repository, or of your own configuration.")
		case res.Failed == 0:
			p.linef("%s", fmt.Sprintf("%s, every example is as it should be; digest %s", plural(n, "rule", "rules"), res.SHA256))
		}
	})
}
