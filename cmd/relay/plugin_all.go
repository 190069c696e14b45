package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/paxiom/relay/host"
	"github.com/paxiom/relay/host/plugins"
)

func newPluginOutdatedCmd(a *app) *cobra.Command {
	o := &pluginOptions{app: a}
	return &cobra.Command{
		Use:   "outdated",
		Short: "Pinned plugins that have a newer version",
		Long: "Asks where each pinned plugin comes from. A version that its publisher has withdrawn or\n" +
			"warns of is named, and remembered for when the plugin starts.",
		Example: "relay plugin outdated\nrelay plugin upgrade --all",
		Args:    noArgs,
		RunE:    inRepo(a, o, runPluginOutdated),
	}
}

func runPluginOutdated(ctx context.Context, repo *host.Repo, o *pluginOptions) error {
	res, err := plugins.Outdated(ctx, repo)
	return o.app.done(res, err, func(p *printer) {
		var rows [][]string
		for _, e := range res.Plugins {
			note := e.Problem
			switch {
			case e.Advisory != "":
				note = "its publisher warns of it: " + e.Advisory
			case e.Withdrawn != "":
				note = "withdrawn by its publisher: " + e.Withdrawn
			case e.Newest == "" && note == "":
				note = "newest"
			}
			rows = append(rows, []string{host.Safe(e.Name), host.Safe(e.Pinned), host.Safe(e.Newest), host.Safe(note)})
		}
		p.table(rows)
		if len(rows) == 0 {
			p.linef("relay.lock.json pins no plugin.")
		}
		p.next(res.Next)
	})
}

// pluginsDone shows the pinned plugins; those that wait for their grants wait for a person.
func (a *app) pluginsDone(l *plugins.ListResult, err error, none string) error {
	if err != nil {
		return err
	}
	code, next := host.ExitDone, ""
	for _, e := range l.Plugins {
		if r := (plugins.Result{Plugin: e}); r.Waiting() {
			code, next = host.ExitWaiting, r.Next()
		}
	}
	return a.end(code, l, func(p *printer) {
		var rows [][]string
		for _, e := range l.Plugins {
			rows = append(rows, []string{host.Safe(e.Name), host.Safe(e.Version), string(e.State), host.Safe(e.Reason)})
		}
		p.table(rows)
		if len(rows) == 0 {
			p.linef("%s.", none)
		}
		p.next(next)
	})
}
