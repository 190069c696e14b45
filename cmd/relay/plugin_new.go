package main

import (
	"cmp"
	"context"
	"os"

	"github.com/spf13/cobra"

	"github.com/paxiom/relay/host"
	"github.com/paxiom/relay/host/plugins"
)

type pluginNewOptions struct {
	app  *app
	host plugins.NewOptions
}

func newPluginNewCmd(a *app) *cobra.Command {
	o := &pluginNewOptions{app: a}
	cmd := &cobra.Command{
		Use:   "new NAME [DIR]",
		Short: "Write the repository of a new plugin, with its tests",
		Long: "Writes a plugin that works, the cases that it is tried with, its tests and a README into DIR, by\n" +
			"default ./relay-plugin-NAME. A provider asks a model; a builder changes a workspace. In Rust and\n" +
			"TypeScript the builder is a driver, which relay's own builder external starts.",
		Example: "relay plugin new foo --kind provider && relay plugin test relay-plugin-foo\n" +
			"relay plugin new foo --kind provider --lang python\n" +
			"relay plugin new bar --kind builder --lang rust && make -C relay-plugin-bar test",
		RunE: runE(o, runPluginNew),
	}
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) == 2 {
			o.host.Dir, args = args[1], args[:1]
		}
		return neededArg(&o.host.Name, "name for the plugin", "`relay plugin new my-plugin --kind provider`")(cmd, args)
	}
	f := cmd.Flags()
	f.StringVar(&o.host.Kind, "kind", "", "what `KIND` it is: provider or builder")
	f.StringVar(&o.host.Lang, "lang", "go", "the `LANGUAGE`: go or python; a builder also rust or typescript")
	f.StringVar(&o.host.Module, "module", "", "the Go module's `PATH`, such as github.com/you/relay-plugin-foo")
	f.StringVar(&o.host.Checkout, "sdk", "", "take the SDK from relay's sources in `FOLDER` (also RELAY_SDK)")
	_ = cmd.RegisterFlagCompletionFunc("kind", cobra.FixedCompletions([]string{"provider", "builder"}, cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("lang", cobra.FixedCompletions([]string{"go", "python", "rust", "typescript"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func runPluginNew(ctx context.Context, o *pluginNewOptions) error {
	if o.host.Kind == "" {
		return usageError{what: "relay plugin new needs a kind", why: "a provider asks a model, a builder changes a workspace", fix: "`relay plugin new " + o.host.Name + " --kind provider`"}
	}
	if o.host.Version = version().Version; o.host.Checkout == "" {
		o.host.Checkout = o.app.getenv("RELAY_SDK")
	}
	o.host.Dir = cmp.Or(o.host.Dir, "relay-plugin-"+o.host.Name)
	o.host.Dir = o.app.path(o.host.Dir)
	o.host.Program, _ = os.Executable()
	res, err := plugins.New(ctx, o.host)
	return o.app.done(res, err, func(p *printer) {
		p.linef("%s %s", p.green("written:"), host.Safe(res.Dir))
		for _, f := range res.Files {
			p.linef("  %s", host.Safe(f))
		}
		p.next(res.Next)
	})
}
