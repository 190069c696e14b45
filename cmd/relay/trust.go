package main

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/paxiom/relay/host"
	"github.com/paxiom/relay/host/setup"
)

type trustOptions struct {
	app    *app
	id     string
	yes    bool
	show   bool
	revoke bool
	digest string
}

func newTrustCmd(a *app) *cobra.Command {
	o := &trustOptions{app: a}
	cmd := &cobra.Command{
		Use:   "trust [SERVICE]",
		Short: "Accept the commands and prompts that a repository brings",
		Long: "relay uses a repository's commands, prompts and schemas only after you have seen and accepted\n" +
			"them: once for each version of its configuration, and of each service that cycles work on. In\n" +
			"CI, set RELAY_TRUST to the digest (or to several, separated by commas).",
		Example: "relay trust             # show, then ask\nrelay trust A-202       # the same for a service\nrelay trust --show --json | jq -r .digest\nrelay trust --revoke",
		GroupID: groupSetup,
		Args:    oneArg(&o.id, "service"),
		RunE:    inRepo(a, o, runTrust),

		ValidArgsFunction: completeServices(a),
	}
	cmd.Flags().BoolVarP(&o.yes, "yes", "y", false, "agree without being asked")
	cmd.Flags().BoolVar(&o.show, "show", false, "only show what needs your agreement")
	cmd.Flags().BoolVar(&o.revoke, "revoke", false, "take an agreement back")
	cmd.Flags().StringVar(&o.digest, "digest", "", "agree only if the configuration has this `DIGEST`")
	return cmd
}

func runTrust(ctx context.Context, repo *host.Repo, o *trustOptions) error {
	if agree := o.yes || o.digest != ""; o.show && o.revoke || agree && (o.show || o.revoke) {
		return usageError{what: "--show, --revoke and an agreement exclude each other", fix: "`relay trust --help`"}
	}
	if o.revoke {
		t, err := setup.Trust(ctx, repo, setup.TrustOptions{Service: o.id, Revoke: true})
		return o.app.done(t, err, func(p *printer) {
			if t.Revoked {
				p.linef("This repository is not trusted any more.")
				return
			}
			p.linef("This repository was not trusted.")
		})
	}
	t, err := setup.Trust(ctx, repo, setup.TrustOptions{Service: o.id, Show: true})
	if err != nil {
		return err
	}
	other := o.digest != "" && o.digest != t.Digest // of something else than what is trusted
	if o.show || t.Trusted && !other || t.Digest == "" {
		return o.app.done(t, nil, func(p *printer) { trustItems(p, t) })
	}
	if !o.yes && o.digest == "" {
		if err := askTrust(o, t); err != nil {
			return err
		}
	}
	want := cmp.Or(o.digest, t.Digest) // what was shown is what is agreed to
	if t, err = setup.Trust(ctx, repo, setup.TrustOptions{Service: o.id, Digest: want}); err != nil {
		return err
	}
	return o.app.done(t, nil, func(p *printer) {
		p.linef("%s %s", p.green("trusted:"), t.Digest)
		p.next("`relay doctor`")
	})
}

func trustItems(p *printer, t *setup.TrustResult) {
	defer trustCeiling(p, t.Ceiling)
	if t.Digest == "" {
		p.linef("This repository's configuration asks for nothing that needs trust.")
		return
	}
	if t.Known && !t.Trusted && len(t.Changes) > 0 {
		trustChanges(p, t)
	} else {
		trustAll(p, t)
	}
	p.row("digest", t.Digest)
	state := p.yellow("not trusted")
	if t.Trusted {
		state = p.green("trusted")
	}
	p.row("state", state)
}

// trustChanges shows what is not as it was when this repository was trusted the last time.
func trustChanges(p *printer, t *setup.TrustResult) {
	p.linef("Since you last agreed:")
	fresh := 0
	for _, c := range t.Changes {
		p.linef("%s", p.bold(host.Safe(c.Key)))
		if c.Was != "" {
			p.linef("  - %s", host.Safe(c.Was))
		}
		if c.Now != "" {
			fresh++
			p.linef("  + %s", host.Safe(c.Now))
			p.linef("  %s", p.dim(host.Safe(c.Why)))
		}
	}
	if n := len(t.Items) - fresh; n > 0 {
		p.linef("What else you agreed to is unchanged (%d): relay config show --origin has it.", n)
	}
}

func trustAll(p *printer, t *setup.TrustResult) {
	for _, item := range t.Items {
		place := item.File
		if item.Line > 0 {
			place += fmt.Sprintf(":%d", item.Line)
		}
		p.linef("%s  %s", p.bold(host.Safe(item.Key)), p.dim(host.Safe(place)))
		p.linef("  %s", host.Safe(item.Value))
		p.linef("  %s", p.dim(host.Safe(item.Why)))
	}
}

// trustCeiling shows what the person has added to the ceiling.
func trustCeiling(p *printer, w host.Widening) {
	for _, g := range w.Globs {
		p.row("always", "the planner may have "+host.Safe(g))
	}
	for _, x := range []struct {
		is   bool
		what string
	}{{w.NewFiles, "new files"}, {w.Lockfiles, "changes of lockfiles"}, {w.Files > 0, plain(w.Files) + " files"}, {w.Lines > 0, plain(w.Lines) + " lines"}} {
		if x.is {
			p.row("always", "the planner may have "+x.what)
		}
	}
}

func askTrust(o *trustOptions, t *setup.TrustResult) error {
	a, of := o.app, ""
	if o.id != "" {
		of = " " + host.Safe(o.id)
	}
	if !a.interactive() {
		return usageError{what: "relay can't ask you without a terminal", why: "agreeing needs a terminal, or the digest that you have looked at",
			fix: "`relay trust --show" + of + "`, then `relay trust" + of + " --digest " + t.Digest + "`"}
	}
	p := a.printer(a.err, a.errTTY)
	trustItems(p, t)
	return a.agreed(p, "Let this repository run these commands?",
		usageError{what: "not trusted", why: "you did not agree", fix: "`relay trust" + of + "` asks again"})
}
