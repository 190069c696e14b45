package main

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/paxiom/relay/host"
	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/plugins"
)

// pluginOptions are those of the commands that pin or grant.
type pluginOptions struct {
	app       *app
	arg       string
	from      string
	key       string
	grant     string
	platforms []string
	frozen    bool
	as        string
	all       bool
	cmd       *cobra.Command
}

const (
	grantHelp    = "grant exactly these `RIGHTS`, such as env:NAME,host:NAME; or none"
	platformHelp = "only this `PLATFORM` (linux_amd64; several with commas) and this machine's"
)

func newPluginInstallCmd(a *app) *cobra.Command {
	o := &pluginOptions{app: a}
	cmd := &cobra.Command{
		Use:   "install [SOURCE]",
		Short: "Fetch a plugin, pin it, and grant it what it may use",
		Long: "Takes a plugin from a folder, file, archive, URL, GitHub release, container registry or Go module,\n" +
			"writes its hashes for all platforms into relay.lock.json, asks it in a box without network what it\n" +
			"needs, and asks you to grant that. With the name of a pinned plugin, puts back exactly that file;\n" +
			"with nothing, each pinned file that is missing. Then relay.lock.json stays as it is.\n" +
			"Rights are env:NAME, program:NAME, host:NAME, read:PATH and write:PATH, with commas between.",
		Example: "relay plugin install ./relay-plugin-foo\nrelay plugin install foo-1.2.0.tar.gz --grant env:FOO_KEY,host:api.foo.example\n" +
			"relay plugin install https://plugins.example.org/foo --key minisign:RW...\n" +
			"relay plugin install gh:someone/relay-plugin-foo@v1.2.0\n" +
			"relay plugin install oci://ghcr.io/someone/relay-plugin-foo:1.2.0\n" +
			"relay plugin install go:example.org/foo/cmd/relay-plugin-foo@v1.2.0\n" +
			"relay plugin install              # all that relay.lock.json pins, after a clone",
		Args: oneArg(&o.arg, "source"),
		RunE: inRepo(a, o, runPluginInstall),
	}
	o.cmd = cmd
	cmd.Flags().StringVar(&o.grant, "grant", "", grantHelp)
	cmd.Flags().StringVar(&o.key, "key", "", "the publisher's public `KEY` (minisign, ed25519:…, sigstore:… or its file)")
	cmd.Flags().StringSliceVar(&o.platforms, "platform", nil, platformHelp)
	cmd.Flags().StringVar(&o.as, "as", "", "pin it under this `NAME`, beside another version of it")
	cmd.Flags().BoolVar(&o.frozen, "frozen", false, "pin nothing: refuse what relay.lock.json does not have")
	return cmd
}

// namedPluginCmd completes a command that takes the name of a plugin.
func namedPluginCmd(a *app, run func(context.Context, *host.Repo, *pluginOptions) error, cmd *cobra.Command) (*cobra.Command, *pluginOptions) {
	o := &pluginOptions{app: a, cmd: cmd}
	cmd.Args = neededArg(&o.arg, "plugin name", "`relay plugin list` shows the names")
	cmd.RunE = inRepo(a, o, run)
	cmd.ValidArgsFunction = pluginNames(a)
	return cmd, o
}

func newPluginUpgradeCmd(a *app) *cobra.Command {
	cmd, o := namedPluginCmd(a, runPluginUpgrade, &cobra.Command{
		Use:   "upgrade [NAME]",
		Short: "Pin a newer version of a plugin, or of all",
		Long: "Takes the plugin again from where it came from and pins what is there. What was granted stays;\n" +
			"a version that asks for more stops until you grant that too, and the one before stays in force.",
		Example: "relay plugin upgrade foo\nrelay plugin upgrade foo --from ./foo-1.3.0.tar.gz\nrelay plugin upgrade --all",
	})
	cmd.Args = oneArg(&o.arg, "plugin name")
	cmd.Flags().BoolVar(&o.all, "all", false, "upgrade every plugin that has a newer version")
	cmd.Flags().StringVar(&o.from, "from", "", "take it from this `SOURCE` instead")
	cmd.Flags().StringVar(&o.grant, "grant", "", grantHelp)
	cmd.Flags().StringVar(&o.key, "key", "", "the publisher's new public `KEY`")
	cmd.Flags().StringSliceVar(&o.platforms, "platform", nil, platformHelp)
	return cmd
}

func newPluginGrantCmd(a *app) *cobra.Command {
	cmd, o := namedPluginCmd(a, runPluginGrant, &cobra.Command{
		Use:   "grant NAME",
		Short: "Agree to what a plugin may use",
		Long: "A plugin of relay.lock.json is not started on this machine before you have seen and agreed to\n" +
			"what the lock file grants it, and again when its lines there change.",
		Example: "relay plugin grant foo\nrelay plugin grant foo --grant host:api.foo.example",
	})
	cmd.Flags().StringVar(&o.grant, "grant", "", grantHelp)
	return cmd
}

func newPluginRevokeCmd(a *app) *cobra.Command {
	cmd, _ := namedPluginCmd(a, runPluginRevoke, &cobra.Command{
		Use:     "revoke NAME",
		Short:   "Take back everything that a plugin was granted",
		Long:    "The plugin stays pinned and installed, but is no longer started.",
		Example: "relay plugin revoke foo",
	})
	return cmd
}

func newPluginRemoveCmd(a *app) *cobra.Command {
	cmd, _ := namedPluginCmd(a, runPluginRemove, &cobra.Command{
		Use:     "remove NAME",
		Short:   "Take a plugin out of relay.lock.json",
		Long:    "Its file goes too, unless another repository of this machine pins it.",
		Example: "relay plugin remove foo",
	})
	return cmd
}

func newPluginInfoCmd(a *app) *cobra.Command {
	cmd, _ := namedPluginCmd(a, runPluginInfo, &cobra.Command{
		Use:     "info NAME",
		Short:   "What a plugin is, asks for and was granted",
		Long:    "Only reads the pin; starts nothing.",
		Example: "relay plugin info foo",
	})
	return cmd
}

// install is the options as the core has them.
func (o *pluginOptions) install() plugins.InstallOptions {
	i := plugins.InstallOptions{From: o.arg, As: o.as, Key: o.key, Granted: o.cmd.Flags().Changed("grant")}
	for _, at := range o.platforms { // as Go and docker write them, too
		i.Platforms = append(i.Platforms, strings.ReplaceAll(at, "/", "_"))
	}
	for word := range strings.SplitSeq(o.grant, ",") {
		if word = strings.TrimSpace(word); word != "" {
			i.Grant = append(i.Grant, word)
		}
	}
	if i.Granted && len(i.Grant) == 0 {
		i.Grant = []string{"none"}
	}
	if o.app.interactive() {
		i.Ask = func(offer *plugins.Offer) (bool, error) { return askGrant(o.app, offer) }
	}
	return i
}

func runPluginInstall(ctx context.Context, repo *host.Repo, o *pluginOptions) error {
	if o.arg == "" {
		if o.cmd.Flags().Changed("grant") || o.key != "" || o.as != "" || len(o.platforms) > 0 {
			return usageError{what: "--grant, --key, --as and --platform are of one plugin", fix: "`relay plugin install SOURCE`, with where it comes from"}
		}
		l, err := plugins.RestoreAll(ctx, repo)
		return o.app.pluginsDone(l, err, "relay.lock.json pins no plugin")
	}
	if o.frozen && (o.key != "" || o.as != "") {
		return usageError{what: "--key and --as are for pinning", why: "--frozen takes only what is pinned", fix: "`relay plugin install --frozen " + diag.Word(o.arg) + "`"}
	}
	if o.frozen && !plugins.Pinned(repo, o.arg) {
		return usageError{what: "relay.lock.json pins no plugin " + host.Safe(o.arg), why: "--frozen takes only what is pinned", fix: "`relay plugin list` shows the names"}
	}
	if strings.HasPrefix(o.arg, "go:") {
		where := "all platforms; the first time that takes minutes"
		if len(o.platforms) > 0 {
			where = host.Safe(strings.Join(o.platforms, ", "))
		}
		o.app.printer(o.app.err, o.app.errTTY).linef("building %s for %s", host.Safe(o.arg), where)
	} else if o.app.errTTY && !o.frozen {
		o.app.printer(o.app.err, true).linef("trying the protocol's rules on %s; a plugin that doesn't end when told to takes a minute", host.Safe(o.arg))
	}
	res, err := plugins.Install(ctx, repo, o.install())
	return o.app.pluginDone(res, err, "pinned")
}

func runPluginUpgrade(ctx context.Context, repo *host.Repo, o *pluginOptions) error {
	i := o.install()
	i.From = o.from
	if o.all {
		if o.arg != "" || o.from != "" || o.key != "" || i.Granted {
			return usageError{what: "--all takes every plugin from where it came, with what it was granted", fix: "`relay plugin upgrade --all`"}
		}
		l, err := plugins.UpgradeAll(ctx, repo, i)
		return o.app.pluginsDone(l, err, "relay.lock.json pins no plugin")
	}
	if o.arg == "" {
		return usageError{what: "relay plugin upgrade needs a plugin name, or --all", fix: "`relay plugin outdated` shows which have a newer version"}
	}
	res, err := plugins.Upgrade(ctx, repo, o.arg, i)
	return o.app.pluginDone(res, err, "pinned")
}

func runPluginGrant(ctx context.Context, repo *host.Repo, o *pluginOptions) error {
	res, err := plugins.Grant(ctx, repo, o.arg, o.install())
	return o.app.pluginDone(res, err, "granted")
}

func runPluginRevoke(ctx context.Context, repo *host.Repo, o *pluginOptions) error {
	res, err := plugins.Revoke(ctx, repo, o.arg)
	return o.app.done(res, err, func(p *printer) { p.linef("%s is granted nothing any more, and is not started", host.Safe(o.arg)) })
}

func runPluginRemove(ctx context.Context, repo *host.Repo, o *pluginOptions) error {
	res, err := plugins.Remove(ctx, repo, o.arg)
	return o.app.done(res, err, func(p *printer) { p.linef("%s is not pinned any more", host.Safe(o.arg)) })
}

func runPluginInfo(ctx context.Context, repo *host.Repo, o *pluginOptions) error {
	res, err := plugins.Info(ctx, repo, o.arg)
	return o.app.done(res, err, func(p *printer) { pluginRows(p, res) })
}

// pluginDone shows a plugin after it was pinned or granted; one that waits for its grants
// waits for a person.
func (a *app) pluginDone(res *plugins.Result, err error, did string) error {
	if err != nil {
		return err
	}
	code := host.ExitDone
	if res.Waiting() {
		code = host.ExitWaiting
	}
	return a.end(code, res, func(p *printer) {
		p.linef("%s %s %s", p.green(did+":"), host.Safe(res.Plugin.Name), host.Safe(res.Plugin.Version))
		pluginRows(p, res)
		p.next(res.Next())
	})
}

func pluginRows(p *printer, res *plugins.Result) {
	e := res.Plugin
	p.row("name", host.Safe(e.Name)+" "+host.Safe(e.Version))
	if e.Pin != nil {
		p.row("plugin", host.Safe(e.Pin.Plugin))
	}
	p.row("does", host.Safe(e.Summary))
	p.row("aliases", joined(e.Aliases))
	p.row("state", string(e.State))
	if e.Unpinned != "" {
		p.row("unpinned", p.yellow(host.Safe(e.Unpinned)))
	}
	p.row("reason", host.Safe(e.Reason))
	p.row("withdrawn", p.yellow(host.Safe(e.Withdrawn)))
	p.row("source", host.Safe(e.Source))
	p.row("file", host.Safe(e.Path))
	p.row("sha256", e.SHA256)
	if e.Pin == nil { // it came with relay, and is as trusted
		p.row("starts", joined(e.Programs))
		p.row("connects", joined(e.Hosts))
		for _, v := range e.Env {
			p.row("reads", host.Safe(v.Name)+"  "+host.Safe(v.Purpose))
		}
		return
	}
	p.row("from", host.Safe(e.Pin.From))
	p.row("key", host.Safe(e.Pin.Key))
	p.row("module", host.Safe(strings.TrimSpace(e.Pin.Module+"  "+e.Pin.Toolchain)))
	if v := e.Pin.Verified; v != nil {
		p.rules(e.Name, v.String(), len(v.Broken) > 0)
	}
	granted := map[string]bool{}
	for _, w := range res.Granted {
		granted[w] = true
	}
	for i, w := range res.Asks {
		state := p.yellow("not granted")
		if granted[w] {
			state = p.green("granted")
		}
		p.linef("%s %s  it %s: %s", p.dim(pad("right", 10)), host.Safe(w), host.Safe(res.AsksFor[i]), state)
	}
	for _, w := range res.Granted {
		if w == "host:*" {
			p.linef("%s %s  all of the network: %s", p.dim(pad("right", 10)), w, p.red("granted"))
		}
	}
	if len(res.Asks) == 0 {
		p.row("right", "it asks for nothing beyond its own folders")
	}
	p.row("digest", res.Digest)
}

// rules says how a plugin kept the rules of the protocol when it was pinned.
func (p *printer) rules(name, kept string, broken bool) {
	if kept = host.Safe(kept); broken {
		kept = p.yellow(kept) + "; `relay plugin verify " + host.Safe(name) + "` says why"
	}
	p.row("rules", kept)
}

// askGrant shows what a plugin asks for and takes a yes or a no.
func askGrant(a *app, o *plugins.Offer) (bool, error) {
	p := a.printer(a.err, a.errTTY)
	p.linef("%s %s  %s", p.bold(host.Safe(o.Name)), host.Safe(o.Version), p.dim(host.Safe(o.Summary)))
	p.row("source", host.Safe(o.Source))
	p.row("from", host.Safe(o.From))
	p.row("sha256", host.Safe(strings.TrimPrefix(o.SHA256, "sha256:")))
	switch {
	case o.Module != "":
		p.row("source is", host.Safe(o.Module)+" as the module checksum database has it")
	case o.Key == "":
		p.row("signed", p.yellow("by nobody"))
	case o.NewKey:
		p.row("signed", p.yellow("by a key that came with it and was not known before: ")+host.Safe(o.Key))
	default:
		p.row("signed", "by "+host.Safe(o.Key))
	}
	if v := o.Rules; v != nil {
		p.rules(o.Name, v.String(), len(v.Broken) > 0)
	}
	for _, c := range o.Changes {
		p.linef("%s %s", p.dim(pad("changed", 10)), host.Safe(c))
	}
	if len(o.Asks) == 0 {
		p.linef("It asks for nothing beyond its own folders.")
	} else {
		p.linef("It asks for:")
	}
	for i, w := range o.Asks {
		line := "  it " + host.Safe(o.AsksFor[i])
		if why := o.Purposes[w]; why != "" {
			line += p.dim("  it says: " + host.Safe(why))
		}
		p.linef("%s", line)
	}
	no := errors.New("no")
	err := a.agreed(p, "Grant it that in this repository?", no)
	if errors.Is(err, no) {
		return false, nil
	}
	return err == nil, err
}

// pluginNames completes the names of plugins.
func pluginNames(a *app) func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return completePlugins(cmd.Context(), a, args), cobra.ShellCompDirectiveNoFileComp
	}
}
