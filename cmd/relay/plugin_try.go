package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/paxiom/relay/host"
	"github.com/paxiom/relay/host/plugins"
	"github.com/paxiom/relay/sdk/plugintest"
)

type pluginTestOptions struct {
	app    *app
	host   plugins.TestOptions
	driver plugins.DriverOptions
}

func newPluginTestCmd(a *app) *cobra.Command {
	o := &pluginTestOptions{app: a}
	cmd := &cobra.Command{
		Use:   "test PATH",
		Short: "Try the rules of the protocol on a plugin that you write, or its contract on a driver",
		Long: "Builds the plugin in a folder (by its go.mod, otherwise by its Makefile), or takes a program that is\n" +
			"built, and tries every rule on it: as you and in no box, as `go test` would. conformance.json in the\n" +
			"folder says which calls may be made. Exits with 2 when a rule is broken.\n" +
			"With --driver: runs a driver of the builder external three times, in repositories made for it and in\n" +
			"boxes, and judges it by its contract. A driver that asks a paid model does so each time.",
		Example: "relay plugin test ./\nrelay plugin test bin/relay-plugin-foo --cases conformance.json --json\nrelay plugin test --driver ./my-driver",
		RunE:    runE(o, runPluginTest),
	}
	path := neededArg(&o.host.Path, "path", "`relay plugin test ./`, in the folder of the plugin's repository")
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if cmd.Flags().Changed("driver") {
			return noArgs(cmd, args)
		}
		return path(cmd, args)
	}
	cmd.Flags().StringVar(&o.driver.Command, "driver", "", "try this `COMMAND` as a driver of the builder external")
	cmd.Flags().StringArrayVar(&o.driver.Args, "arg", nil, "an `ARGUMENT` for the driver, as in builder.external.args")
	cmd.Flags().DurationVar(&o.driver.Limit, "timeout", 5*time.Minute, "the `TIME` that one run of the driver has")
	o.flags(cmd)
	return cmd
}

func runPluginTest(ctx context.Context, o *pluginTestOptions) error {
	if o.driver.Command != "" {
		return runDriverTest(ctx, o)
	}
	o.host.Path, o.host.Cases = o.app.path(o.host.Path), o.app.path(o.host.Cases)
	if o.app.errTTY && !o.app.quiet {
		o.host.Tell = func(what string) { fmt.Fprintf(o.app.err, "\r\x1b[K%s", host.Safe(what)) }
	}
	res, err := plugins.Test(ctx, o.host)
	if o.host.Tell != nil {
		fmt.Fprint(o.app.err, "\r\x1b[K")
	}
	if err != nil {
		return err
	}
	return o.app.verdicts(res)
}

func newPluginDevCmd(a *app) *cobra.Command {
	o := &pluginTestOptions{app: a}
	cmd := &cobra.Command{
		Use:   "dev DIR",
		Short: "Build and test a plugin each time you save",
		Long: "Watches the folder of a plugin that you write. At each change it builds the plugin, as relay plugin\n" +
			"test does, and tries one rule and the calls of conformance.json, or the rules that you name. Ctrl-C\n" +
			"ends it. --dev NAME=FILE tries a build in a whole tick instead.",
		Example: "relay plugin dev ./\nrelay plugin dev ./ --rule S2,\"case hello\"",
		Args:    neededArg(&o.host.Path, "folder", "`relay plugin dev ./`, in the folder of the plugin's repository"),
		RunE:    runE(o, runPluginDev),
	}
	o.flags(cmd)
	return cmd
}

// flags are those of a trial of the rules.
func (o *pluginTestOptions) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.host.Cases, "cases", "", "make the calls that this `FILE` lists")
	cmd.Flags().StringSliceVar(&o.host.Rules, "rule", nil, "try only this `RULE`, such as B1 (several with commas)")
}

func runPluginDev(ctx context.Context, o *pluginTestOptions) error {
	if o.app.json {
		return usageError{what: "relay plugin dev prints no document", why: "it runs until you end it", fix: "`relay plugin test " + host.Safe(o.host.Path) + " --json`"}
	}
	o.host.Path, o.host.Cases = o.app.path(o.host.Path), o.app.path(o.host.Cases)
	return plugins.Develop(ctx, o.host, func(res *plugins.Rules, err error) {
		p := o.app.printer(o.app.out, o.app.outTTY)
		if err != nil {
			p.fault(asFault(err))
		} else {
			p.verdicts(res)
		}
		p.linef("%s", p.dim(time.Now().Format(time.TimeOnly)+"  waits for the next change; Ctrl-C ends it"))
	})
}

func runDriverTest(ctx context.Context, o *pluginTestOptions) error {
	live := newProgress(o.app, nil)
	o.driver.Observer = live
	o.driver.Options = host.Options{Set: o.app.set, Version: version().Version, Clock: clock}
	if strings.ContainsRune(o.driver.Command, '/') {
		o.driver.Command = o.app.path(o.driver.Command)
	}
	res, err := plugins.TryDriver(ctx, o.driver)
	live.close()
	if err != nil {
		return err
	}
	return o.app.verdicts(res)
}

type pluginVerifyOptions struct {
	app    *app
	name   string
	cases  string
	binary string
}

func newPluginVerifyCmd(a *app) *cobra.Command {
	o := &pluginVerifyOptions{app: a}
	cmd := &cobra.Command{
		Use:   "verify [NAME]",
		Short: "Try the rules of the protocol on an installed plugin",
		Long: "Runs the rules that plugin authors test with (docs/plugin-authors) against the pinned file, in a\n" +
			"box without network. No paid call is made. The rules about calls are tried with those that the\n" +
			"release brings, or that the file of --cases lists.",
		Example:           "relay plugin verify foo\nrelay plugin verify foo --cases conformance.json",
		Args:              oneArg(&o.name, "plugin name"),
		RunE:              runE(o, runPluginVerify),
		ValidArgsFunction: pluginNames(a),
	}
	cmd.Flags().StringVar(&o.cases, "cases", "", "make the calls that this `FILE` lists")
	cmd.Flags().StringVar(&o.binary, "binary", "", "try this `FILE`, here and not in a box")
	cmd.Flags().MarkHidden("binary")
	return cmd
}

func runPluginVerify(ctx context.Context, o *pluginVerifyOptions) error {
	var res *plugins.Rules
	var err error
	switch {
	case o.binary != "":
		res, err = plugins.Try(ctx, o.binary)
	case o.name == "":
		return usageError{what: "relay plugin verify needs a plugin name", fix: "`relay plugin list` shows the names"}
	default:
		var repo *host.Repo
		if repo, err = o.app.open(); err == nil {
			res, err = plugins.Verify(ctx, repo, o.name, o.app.path(o.cases))
		}
	}
	if err != nil {
		return err
	}
	return o.app.verdicts(res)
}

// verdicts ends a trial with what came of each rule.
func (a *app) verdicts(res *plugins.Rules) error {
	code := host.ExitDone
	if res.Failed() > 0 {
		code = host.ExitStopped
	}
	return a.end(code, res, func(p *printer) { p.verdicts(res) })
}

// verdicts shows rule by rule how something kept to its rules, and where a rule that it
// broke is explained.
func (p *printer) verdicts(res *plugins.Rules) {
	said := map[string]string{} // the rule by which a cause was said
	var same []string           // the rules that were skipped for a cause already said
	for _, r := range res.Rules {
		if r.Verdict == plugintest.Skipped && said[r.Detail] != "" {
			same = append(same, host.Safe(r.ID))
			continue
		}
		verdict := pad(string(r.Verdict), 7)
		switch r.Verdict {
		case plugintest.Passed:
			verdict = p.green(verdict)
		case plugintest.Failed:
			verdict = p.red(verdict)
		}
		p.hang(pad(host.Safe(r.ID), 3)+"  "+verdict+"  ", host.Safe(r.Text))
		first := said[r.Detail]
		switch {
		case first != "":
			p.hang("     ", p.dim("same cause as "+host.Safe(first)))
		case r.Detail != "":
			said[r.Detail] = r.ID
			p.hang("     ", p.dim(host.Safe(r.Detail)))
		}
		if r.Verdict == plugintest.Failed && r.Guide != "" && first == "" {
			p.linef("     %s", r.Guide)
		}
	}
	if len(same) > 0 {
		p.hang("", p.dim("skipped for a cause above: "+strings.Join(same, ", ")))
	}
	for _, note := range res.Notes {
		p.hang(p.yellow("note:")+" ", host.Safe(note))
	}
	if len(res.Rules) > 0 && res.Rules[0].Guide != "" {
		page, _, _ := strings.Cut(res.Rules[0].Guide, "#")
		p.row("guide", page)
	}
	if res.Failed() == 0 {
		p.linef("%s keeps every rule that was tried", host.Safe(res.Plugin))
		return
	}
	p.linef("%s breaks %s", host.Safe(res.Plugin), plural(res.Failed(), "rule", "rules"))
}
