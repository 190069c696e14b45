package main

import (
	"cmp"
	"context"

	"github.com/spf13/cobra"

	"github.com/paxiom/relay/host"
	"github.com/paxiom/relay/host/plugins"
)

type pluginPackOptions struct {
	app     *app
	files   []string
	out     string
	sign    string
	makeKey string
	cases   string
}

func newPluginPackCmd(a *app) *cobra.Command {
	o := &pluginPackOptions{app: a}
	cmd := &cobra.Command{
		Use:   "pack FILE...",
		Short: "Make a release of a plugin: sums, signature, archive, index",
		Long: "Takes the files relay-plugin-NAME_OS_ARCH of all platforms, asks this platform's for its version,\n" +
			"and writes a folder that any web server can serve, and an archive with the same. The password of a\n" +
			"key that has one is taken from RELAY_SIGN_PASSWORD.",
		Example: "relay plugin pack --make-key ~/.config/relay/sign.key\n" +
			"relay plugin pack bin/relay-plugin-foo_* --out mirror --sign ~/.config/relay/sign.key",
		RunE: inRepo(a, o, runPluginPack),
	}
	cmd.Args = func(_ *cobra.Command, args []string) error { o.files = args; return nil }
	cmd.Flags().StringVar(&o.out, "out", "dist", "the mirror's `FOLDER`")
	cmd.Flags().StringVar(&o.cases, "cases", "", "add this `FILE` of calls that may be made to try it")
	cmd.Flags().StringVar(&o.sign, "sign", "", "sign with the minisign secret key in this `FILE`")
	cmd.Flags().StringVar(&o.makeKey, "make-key", "", "write a new secret key to this `FILE` and print the public one")
	return cmd
}

func runPluginPack(ctx context.Context, repo *host.Repo, o *pluginPackOptions) error {
	if o.makeKey != "" {
		key, err := plugins.MakeSignKey(o.makeKey)
		return o.app.done(key, err, func(p *printer) { p.linef("%s", key.Key) })
	}
	if len(o.files) == 0 {
		return usageError{what: "there is nothing to pack", fix: "`relay plugin pack relay-plugin-NAME_OS_ARCH...`"}
	}
	res, err := plugins.Pack(ctx, repo, plugins.PackOptions{Files: o.files, Out: o.out, Cases: o.cases, SignKey: o.sign})
	return o.app.done(res, err, func(p *printer) {
		p.linef("%s %s %s", p.green("packed:"), host.Safe(res.Name), host.Safe(res.Version))
		p.row("folder", host.Safe(res.Folder))
		p.row("archive", host.Safe(res.Archive))
		if res.Key == "" {
			p.row("signed", p.yellow("by nobody; only a folder or an archive of this machine is installed unsigned"))
			return
		}
		p.row("signed", "by "+res.Key)
	})
}

type pluginSearchOptions struct {
	app    *app
	text   string
	mirror string
}

func newPluginSearchCmd(a *app) *cobra.Command {
	o := &pluginSearchOptions{app: a}
	cmd := &cobra.Command{
		Use:   "search [TEXT]",
		Short: "List the plugins of a mirror",
		Long:  "Reads the index of a mirror, whose address is given or is in RELAY_PLUGIN_MIRROR.",
		Example: "relay plugin search --mirror https://plugins.example.org\nrelay plugin install https://plugins.example.org/foo\n" +
			"relay plugin search --mirror git+https://git.example.org/plugins.git",
		Args: oneArg(&o.text, "text"),
		RunE: inRepo(a, o, runPluginSearch),
	}
	cmd.Flags().StringVar(&o.mirror, "mirror", "", "the `URL` of the mirror")
	return cmd
}

func runPluginSearch(ctx context.Context, repo *host.Repo, o *pluginSearchOptions) error {
	o.mirror = cmp.Or(o.mirror, o.app.getenv("RELAY_PLUGIN_MIRROR"))
	res, err := plugins.Search(ctx, repo, o.mirror, o.text)
	return o.app.done(res, err, func(p *printer) {
		var rows [][]string
		for _, l := range res.Plugins {
			rows = append(rows, []string{host.Safe(l.Name), host.Safe(l.Newest), host.Safe(l.Summary)})
		}
		p.table(rows)
		if len(rows) == 0 {
			p.linef("no plugin of this mirror fits")
			return
		}
		p.next("`relay plugin install " + res.Mirror + "/NAME`")
	})
}
