package setup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/paxiom/relay/host"
	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/health"
	"github.com/paxiom/relay/host/internal/attest"
	"github.com/paxiom/relay/host/internal/catalog"
	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/host/internal/format"
	"github.com/paxiom/relay/host/internal/pluginenv"
	"github.com/paxiom/relay/host/internal/policy"
	"github.com/paxiom/relay/host/internal/telemetry"
	"github.com/paxiom/relay/host/internal/trust"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/box"
	"github.com/paxiom/relay/judge/git"
	"github.com/paxiom/relay/judge/isolation"
)

// DoctorOptions are one call of relay doctor.
type DoctorOptions struct {
	Live bool // ask each provider's model one tiny question, which costs
}

// Doctor tries what a tick needs: git, configuration, trust, box, and each plugin that
// the configuration names, with its program, its key and its server.
// It continues after a failure, since one visit should find everything.
func Doctor(ctx context.Context, r *host.Repo, opts DoctorOptions) (*DoctorResult, error) {
	d := &DoctorResult{Doc: host.DocOf("relay.doctor", 1), OK: true}
	repository := d.git(ctx, r.Dir, r.Options.Env)
	o, err := r.Open()
	switch {
	case err != nil && !repository:
		d.Checks = append(d.Checks, health.Check{ID: "config", Skip: true, What: "needs a repository"})
	case err != nil:
		d.fail("config", host.BlockedConfig(err))
	default:
		d.config(o)
		d.place(o)
		d.evidence(ctx, r, o)
		d.trust(r, o)
		d.checks(ctx, r, o)
	}
	if err := r.Outside(""); err != nil { // no place for a box either
		d.fail("box", diag.Internal(err))
	} else {
		d.box(ctx, r.StateDir(), o)
	}
	d.plugins(ctx, r, o, opts)
	if o != nil {
		d.collector(ctx, r.Traced(o.Loaded.Config))
	}
	return d, nil
}

func (d *DoctorResult) pass(id, what string) {
	d.Checks = append(d.Checks, health.Check{ID: id, OK: true, What: what})
}

func (d *DoctorResult) fail(id string, f *diag.Error) {
	d.OK = false
	d.Checks = append(d.Checks, *health.Failed(id, f))
}

// git reports whether there is a repository; one without a commit is one. With a commit it
// looks at the policy, too.
func (d *DoctorResult) git(ctx context.Context, dir string, environ []string) bool {
	git, err := git.Open(ctx, dir)
	if err != nil {
		d.fail("git", diag.Git(err))
		return false
	}
	commit, branch, err := git.Head(ctx)
	if err != nil {
		d.fail("git", diag.Git(err))
		return true
	}
	branch = cmp.Or(branch, "a detached HEAD")
	d.pass("git", fmt.Sprintf("%s at %.12s", branch, commit))
	switch rules, err := policy.Open(ctx, git, commit, environ); {
	case err != nil:
		d.fail("policy", diag.Internal(err))
	case rules.Report() != nil:
		d.pass("policy", format.Count(rules.Report().Rules, "rule"))
	}
	return true
}

func (d *DoctorResult) config(o *host.Opened) {
	if o.Loaded.File == "" {
		d.fail("config", diag.New(judge.BlockedMissingConfig, "this repository has no configuration for relay", "no relay.config.* and no relais.config.json at the repository's root", "`relay init`"))
		return
	}
	d.Checks = append(d.Checks, health.Check{ID: "config", OK: true, What: o.Loaded.File, Warnings: o.Loaded.Notices})
}

// place tries to write where each run begins by writing.
func (d *DoctorResult) place(o *host.Opened) {
	dir := o.WS.Dir()
	if !o.WS.Used() {
		dir = filepath.Dir(dir)
	}
	probe := filepath.Join(dir, "doctor.tmp")
	err := workspace.WriteFile(probe, []byte("{}\n"))
	if err == nil {
		err = os.Remove(probe)
	}
	if err != nil {
		d.fail("state", diag.Internal(err))
	}
}

// evidence looks whether what lands can be attested.
func (d *DoctorResult) evidence(ctx context.Context, r *host.Repo, o *host.Opened) {
	git, err := git.Open(ctx, r.Dir)
	if err != nil {
		return // which is said
	}
	sign := attest.Options{Git: git, StateDir: r.StateDir(), Home: r.Home(), Environ: r.Options.Env, Sign: o.Loaded.Config.Evidence.Sign}
	err = sign.Unable(ctx)
	key, ok := errors.AsType[*attest.KeyError](err)
	exposed, open := errors.AsType[*attest.ExposedError](err)
	switch {
	case ok && open:
		d.fail("evidence", diag.New("", "what lands would not be signed", key.Error(), "`chmod 600 "+diag.Word(exposed.Path)+"`"))
	case ok && key.Path != "":
		at := diag.Word(key.Path)
		d.fail("evidence", diag.New("", "what lands would not be signed", key.Error(), "`mv "+at+" "+at+".bad`: relay makes another key, so tell the verifiers its new public key"))
	case ok:
		d.fail("evidence", diag.New("", "what lands would not be signed", key.Error(), "`git config --global gpg.format ssh` and an ed25519 key in user.signingkey, which `ssh-add` gives to the agent if it has a passphrase; or `relay config set evidence.sign relay`"))
	case err != nil:
		d.fail("evidence", diag.Internal(err))
	}
}

// checks looks for the program of each check: a run that asks for one without it can't
// succeed, whatever is built.
func (d *DoctorResult) checks(ctx context.Context, r *host.Repo, o *host.Opened) {
	v := &o.Loaded.Config.Verification
	var missing, whys, fixes []string
	comes := func(path string) bool {
		g, err := git.Open(ctx, r.Dir)
		if err != nil {
			return true // which is said
		}
		names, err := g.List(ctx, "HEAD", true, []string{path})
		return err != nil || len(names) > 0
	}
	for _, t := range v.Templates {
		if _, what, why, fix := pluginenv.MissingProgram(v, []string{t.ID}, r.Options.Env, o.Root, comes); what != "" {
			missing = append(missing, t.ID+": "+what)
			if why != "" {
				whys = append(whys, why)
			}
			if !slices.Contains(fixes, fix) {
				fixes = append(fixes, fix)
			}
		}
	}
	switch {
	case len(missing) > 0:
		d.fail("checks", diag.New(judge.BlockedMissingConfig, "checks can't run: "+strings.Join(missing, ", "), strings.Join(whys, "; "), strings.Join(fixes, ", or ")+"; `relay config show verification` lists the checks"))
	case len(v.Templates) > 0:
		d.pass("checks", fmt.Sprintf("the programs of %d are there", len(v.Templates)))
	}
}

func (d *DoctorResult) trust(r *host.Repo, o *host.Opened) {
	if digest, _ := trust.Needed(o.Loaded); digest == "" {
		d.pass("trust", "the configuration starts no program of its own")
		return
	}
	if err := r.TrustStore().Check(o.Loaded, r.Getenv); err != nil {
		d.fail("trust", diag.Internal(err))
		return
	}
	d.pass("trust", "the configuration is the one that you trusted")
}

// box really mounts, copies, writes and removes by every means, in a folder of relay's
// own.
func (d *DoctorResult) box(ctx context.Context, stateDir string, o *host.Opened) {
	wish := isolation.Wish{StateDir: stateDir}
	if o != nil {
		wish.Means, wish.Required = o.Loaded.Config.Box.Means, o.Loaded.Config.Box.Required
	}
	s, err := isolation.Probe(ctx, stateDir)
	if err != nil {
		d.fail("box", diag.Wrap(err, judge.BlockedBox, "the box can't be tried", "`ls -ld "+stateDir+"` shows whether relay may write there"))
		return
	}
	for _, t := range s.Trials {
		c := health.Check{ID: "box." + t.Means, OK: true, What: "works", Gaps: t.Gaps}
		if !t.OK { // which is no failure where a weaker one does
			c.Skip, c.What, c.Why, c.Fix = true, "is not possible here", t.Why, t.Fix
		}
		d.Checks = append(d.Checks, c)
	}
	means, err := isolation.Pick(s, wish)
	if err != nil {
		f, _ := diag.As(pluginenv.BoxFault(err))
		f.What = "no box is strong enough here for a builder"
		d.fail("box", f)
		return
	}
	what := means
	if wish.Required != "" {
		what += ", required: " + wish.Required
	}
	d.Checks = append(d.Checks, health.Check{ID: "box", OK: true, What: what, Gaps: box.GapsOf(means)})
}

// collector tries the one that spans are sent to, where that is turned on. No run fails for
// one that is away, and neither does this.
func (d *DoctorResult) collector(ctx context.Context, o telemetry.Options) {
	if !o.On() {
		return
	}
	c := health.Check{ID: "telemetry", OK: true, What: "the collector at " + o.Address() + " takes spans"}
	if err := o.Probe(ctx); err != nil {
		c.What = "the collector at " + o.Address() + " takes no spans; runs continue without it"
		c.Warnings = []string{err.Error(), "`relay config show telemetry --origin` says who named it"}
	}
	d.Checks = append(d.Checks, c)
}

// plugins looks at each plugin that the configuration names, the plugin itself being
// asked, and lists what else is wrong with others. Nothing of a configuration that is
// not trusted is started.
func (d *DoctorResult) plugins(ctx context.Context, r *host.Repo, o *host.Opened, opts DoctorOptions) {
	root := ""
	if o != nil {
		root = o.Root
	}
	cat, err := r.Catalog(root)
	if err != nil {
		d.fail("plugins", diag.Internal(err))
		return
	}
	if alone := cat.Alone("relay has no plugins"); alone != nil {
		d.fail("plugins", alone)
	}
	if o != nil {
		d.members(ctx, r, o, cat, opts)
	}
	for _, e := range cat.List() {
		if e.State != catalog.OK {
			d.Checks = append(d.Checks, health.Check{ID: "plugin", OK: true, Skip: true,
				What: fmt.Sprintf("%s: %s", e.Name, e.State), Why: e.Reason, Fix: "`relay plugin list`"})
		}
	}
}

func (d *DoctorResult) members(ctx context.Context, r *host.Repo, o *host.Opened, cat *catalog.Catalog, opts DoctorOptions) {
	team := health.Named(o.Loaded.Config, cat)
	if r.TrustStore().Check(o.Loaded, r.Getenv) != nil {
		for _, m := range team {
			d.Checks = append(d.Checks, health.Check{ID: m.ID(), Skip: true, What: m.Name + " is not started before the configuration is trusted"})
		}
		return
	}
	c, err := r.Checkup(ctx, o.Loaded, cat)
	if err != nil {
		d.fail("plugins", host.BlockedConfig(err))
		return
	}
	team = d.services(r, o, cat, team)
	if _, _, err := r.TaskList(); err == nil { // what a pipeline can't begin without
		team = joined(team, health.PipelineTeam(&o.Loaded.Config.Pipeline, r.TasksHaveCriteria()), "pipeline.")
	}
	d.fences(c, team)
	c.AskServers, c.AskModels = true, opts.Live
	if opts.Live {
		done, err := c.OpenBook(o.WS, r.StateDir())
		if err != nil {
			d.fail("live", diag.Internal(err))
			c.AskModels = false
		} else {
			defer done()
		}
	}
	for _, res := range c.All(ctx, team) {
		d.OK = d.OK && (res.OK || res.Skip)
		d.Checks = append(d.Checks, res)
	}
}

// fences says what each plugin reaches, and what no box shows.
func (d *DoctorResult) fences(c *health.Checkup, team []health.Member) {
	for _, m := range team {
		if m.Role == "" {
			continue
		}
		network, hosts, err := c.PluginEnv.Reach(m.Name, m.Kind)
		if err != nil {
			continue // which is said of the plugin itself
		}
		what := m.Name + " reaches " + strings.Join(hosts, ", ")
		switch {
		case network == "full":
			what = m.Name + " reaches all of the network"
		case len(hosts) == 0:
			what = m.Name + " reaches nothing"
		}
		d.Checks = append(d.Checks, health.Check{ID: "network." + m.Role, OK: true, What: what + " (" + network + ")"})
	}
	places := pluginenv.Credentials(c.PluginEnv.Config, c.PluginEnv.Home)
	d.Checks = append(d.Checks, health.Check{ID: "credentials", OK: true, What: fmt.Sprintf("%d places with credentials are hidden in every box", len(places))})
}

// services adds the plugins that the cycles of the services need and nobody else has
// named, and says what is wrong with services. Nothing of one that is not trusted is
// started.
func (d *DoctorResult) services(r *host.Repo, o *host.Opened, cat *catalog.Catalog, team []health.Member) []health.Member {
	ids, err := config.Services(o.Root)
	if err != nil {
		d.fail("services", diag.Internal(err))
	}
	for _, id := range ids {
		s, err := config.LoadService(r.ServiceOptions(o.Root), id, nil)
		if err != nil {
			d.fail("service."+id, diag.Internal(err))
			continue
		}
		if err := r.TrustStore().CheckService(o.Root, s, r.Getenv); err != nil {
			f := diag.Internal(err)
			d.Checks = append(d.Checks, health.Check{ID: "service." + id, Skip: true, What: "its plugins are not started before it is trusted", Fix: f.Fix})
			continue
		}
		team = joined(team, health.CycleTeam(s.Service, cat), id+".")
	}
	return team
}

// joined adds the members that nobody has named before, as those of a workflow.
func joined(team, more []health.Member, of string) []health.Member {
	for _, m := range more {
		known := slices.ContainsFunc(team, func(o health.Member) bool {
			return o.Kind == m.Kind && catalog.Canonical(o.Name) == catalog.Canonical(m.Name) && (o.Model == m.Model || m.Model == "")
		})
		if !known {
			m.Role = of + m.Role
			team = append(team, m)
		}
	}
	return team
}

// DoctorResult is what doctor found.
type DoctorResult struct {
	host.Doc
	OK     bool           `json:"ok"`
	Checks []health.Check `json:"checks"`
}
