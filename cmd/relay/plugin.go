package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/paxiom/relay/host"
	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/plugins"
)

func newPluginCmd(a *app) *cobra.Command {
	cmd := parent("plugin", "Install, pin and grant plugins", "relay plugin list\nrelay plugin install ./relay-plugin-foo", groupSetup,
		newPluginListCmd(a), newPluginInfoCmd(a), newPluginInstallCmd(a), newPluginGrantCmd(a),
		newPluginRevokeCmd(a), newPluginOutdatedCmd(a), newPluginUpgradeCmd(a), newPluginRemoveCmd(a),
		newPluginVerifyCmd(a), newPluginTestCmd(a), newPluginDevCmd(a), newPluginSearchCmd(a), newPluginPackCmd(a), newPluginNewCmd(a))
	cmd.Long = "While you write one: with any command, --dev NAME=FILE uses your own build of it, and\n" +
		"--reattach NAME the process that waits with --debug; --ci refuses both (plugin-authors/dev-loop.md)."
	return cmd
}

type pluginListOptions struct {
	app  *app
	name string
}

func newPluginListCmd(a *app) *cobra.Command {
	o := &pluginListOptions{app: a}
	return &cobra.Command{
		Use:     "list [NAME]",
		Short:   "Providers and builders that can be used",
		Long:    "Lists plugins from their pins; starts none of them.",
		Example: "relay plugin list\nrelay plugin list claude   # what it starts, reads and where it connects to",
		Args:    oneArg(&o.name, "plugin name"),
		RunE:    inRepo(a, o, runPluginList),

		ValidArgsFunction: pluginNames(a),
	}
}

func runPluginList(ctx context.Context, repo *host.Repo, o *pluginListOptions) error {
	l, err := plugins.List(ctx, repo)
	if err != nil {
		return err
	}
	if o.name != "" {
		return showPlugin(o, l)
	}
	return o.app.done(l, nil, func(p *printer) {
		var rows [][]string
		for _, e := range l.Plugins {
			state := string(e.State)
			if state != "ok" {
				state = p.red(state)
			} else if e.Unpinned != "" {
				state = p.yellow("unpinned")
			}
			kinds := ""
			for i, k := range e.Kinds {
				if i > 0 {
					kinds += ","
				}
				kinds += string(k)
			}
			note := e.Summary
			if e.Reason != "" {
				note = e.Reason
			} else if e.Withdrawn != "" {
				note = e.Withdrawn
			} else if e.Pin != nil && e.Pin.Verified != nil && len(e.Pin.Verified.Broken) > 0 {
				note = e.Pin.Verified.String() + ": `relay plugin verify " + e.Name + "`"
			}
			rows = append(rows, []string{host.Safe(e.Name), host.Safe(e.Version), kinds, state, host.Safe(note)})
		}
		p.table(rows)
		if pr := l.Problem; pr != nil {
			p.fault(&diag.Error{Code: pr.Code, What: pr.What, Why: pr.Why, Fix: pr.Fix})
		} else if len(rows) == 0 {
			p.linef("No plugins.")
		}
	})
}

func showPlugin(o *pluginListOptions, l *plugins.ListResult) error {
	for _, e := range l.Plugins {
		if e.Name != o.name {
			continue
		}
		l.Plugins = l.Plugins[:0]
		l.Plugins = append(l.Plugins, e)
		return o.app.done(l, nil, func(p *printer) { pluginRows(p, &plugins.Result{Plugin: e}) })
	}
	return usageError{what: "there is no plugin " + o.name, fix: "`relay plugin list`"}
}

func completePlugins(ctx context.Context, a *app, args []string) []string {
	if len(args) > 0 {
		return nil
	}
	repo, err := a.open()
	if err != nil {
		return nil
	}
	l, err := plugins.List(ctx, repo)
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range l.Plugins {
		names = append(names, e.Name+"\t"+e.Summary)
	}
	return names
}
