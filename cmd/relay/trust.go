package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/paxiom/relay/host"
)

type trustOptions struct {
	app    *app
	id     string
	yes    bool
	show   bool
	revoke bool
	digest string
}

func newTrustCmd(a *app, runF func(context.Context, *trustOptions) error) *cobra.Command {
	o := &trustOptions{app: a}
	cmd := &cobra.Command{
		Use:   "trust [SERVICE]",
		Short: "Agree to the commands that a repository's configuration names",
		Long: "A repository can't make relay run commands until you have seen and agreed to them, once for\n" +
			"each version of its configuration, and of each service that cycles work on. In CI set RELAY_TRUST\n" +
			"to the digest instead (to several, with commas between).",
		Example: "relay trust             # show, then ask\nrelay trust A-202       # the same for a service\nrelay trust --show --json | jq -r .digest\nrelay trust --revoke",
		GroupID: groupSetup,
		Args:    oneArg(&o.id, "service"),
		RunE:    runE(o, runF, runTrust),

		ValidArgsFunction: completeServices(a),
	}
	cmd.Flags().BoolVarP(&o.yes, "yes", "y", false, "agree without being asked")
	cmd.Flags().BoolVar(&o.show, "show", false, "only show what needs your agreement")
	cmd.Flags().BoolVar(&o.revoke, "revoke", false, "take an agreement back")
	cmd.Flags().StringVar(&o.digest, "digest", "", "agree only if the configuration has this `DIGEST`")
	return cmd
}

func runTrust(ctx context.Context, o *trustOptions) error {
	if agree := o.yes || o.digest != ""; o.show && o.revoke || agree && (o.show || o.revoke) {
		return usageError{what: "--show, --revoke and an agreement exclude each other", fix: "`relay trust --help`"}
	}
	repo, err := o.app.open()
	if err != nil {
		return err
	}
	if o.revoke {
		t, err := repo.Trust(ctx, host.TrustOptions{Service: o.id, Revoke: true})
		if err != nil {
			return err
		}
		return o.app.done(t, func(p *printer) {
			if t.Revoked {
				p.linef("This repository is not trusted any more.")
				return
			}
			p.linef("This repository was not trusted.")
		})
	}
	t, err := repo.Trust(ctx, host.TrustOptions{Service: o.id, Show: true})
	if err != nil {
		return err
	}
	other := o.digest != "" && o.digest != t.Digest // of something else than what is trusted
	if o.show || t.Trusted && !other || t.Digest == "" {
		return o.app.done(t, func(p *printer) { trustItems(p, t) })
	}
	if !o.yes && o.digest == "" {
		if err := askTrust(o, t); err != nil {
			return err
		}
	}
	want := o.digest
	if want == "" {
		want = t.Digest // what was shown is what is agreed to
	}
	if t, err = repo.Trust(ctx, host.TrustOptions{Service: o.id, Digest: want}); err != nil {
		return err
	}
	return o.app.done(t, func(p *printer) {
		p.linef("%s %s", p.green("trusted:"), t.Digest)
		p.next("`relay doctor`")
	})
}

func trustItems(p *printer, t *host.TrustResult) {
	if t.Digest == "" {
		p.linef("This repository's configuration asks for nothing that needs trust.")
		return
	}
	for _, item := range t.Items {
		place := item.File
		if item.Line > 0 {
			place += fmt.Sprintf(":%d", item.Line)
		}
		p.linef("%s  %s", p.bold(host.Safe(item.Key)), p.dim(host.Safe(place)))
		p.linef("  %s", host.Safe(item.Value))
		p.linef("  %s", p.dim(host.Safe(item.Why)))
	}
	p.row("digest", t.Digest)
	state := p.yellow("not trusted")
	if t.Trusted {
		state = p.green("trusted")
	}
	p.row("state", state)
}

func askTrust(o *trustOptions, t *host.TrustResult) error {
	a, of := o.app, ""
	if o.id != "" {
		of = " " + host.Safe(o.id)
	}
	if !a.interactive() {
		return usageError{what: "nobody can be asked here", why: "agreeing needs a terminal, or the digest that you have looked at",
			fix: "`relay trust --show" + of + "`, then `relay trust" + of + " --digest " + t.Digest + "`"}
	}
	p := a.printer(a.err, a.errTTY)
	trustItems(p, t)
	return a.agreed(p, "Let this repository run these commands?",
		usageError{what: "not trusted", why: "you did not agree", fix: "`relay trust" + of + "` asks again"})
}
