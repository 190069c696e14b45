package host

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/paxiom/relay/host/fault"
	"github.com/paxiom/relay/host/internal/catalog"
	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/host/internal/crew"
	"github.com/paxiom/relay/host/internal/policy"
	"github.com/paxiom/relay/host/internal/telemetry"
	"github.com/paxiom/relay/host/internal/trust"
	"github.com/paxiom/relay/host/internal/words"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/box"
	"github.com/paxiom/relay/judge/isolation"
)

// DoctorOptions are one call of relay doctor.
type DoctorOptions struct {
	Live bool // ask each provider's model one tiny question, which costs
}

// Doctor tries what a tick needs: git, configuration, trust, box, and each plugin that
// the configuration names, with its program, its key and its server.
// It goes on after a failure, since one visit should find everything.
func (r *Repo) Doctor(ctx context.Context, opts DoctorOptions) (*DoctorResult, error) {
	d := &DoctorResult{Doc: Doc{"relay.doctor", 1}, OK: true}
	repository := d.git(ctx, r.dir, r.opts.Env)
	o, err := r.open()
	switch {
	case err != nil && !repository:
		d.Checks = append(d.Checks, CheckResult{ID: "config", Skip: true, What: "is looked for at the top of a repository"})
	case err != nil:
		d.fail("config", blockedConfig(err))
	default:
		d.config(o)
		d.trust(r, o)
		d.checks(r, o)
	}
	d.box(ctx, r.stateDir(), o)
	d.plugins(ctx, r, o, opts)
	if o != nil {
		d.collector(ctx, r.traced(o.loaded.Config))
	}
	return d, nil
}

func (d *DoctorResult) pass(id, what string) {
	d.Checks = append(d.Checks, CheckResult{ID: id, OK: true, What: what})
}

func (d *DoctorResult) fail(id string, f *fault.Fault) {
	d.OK = false
	d.Checks = append(d.Checks, *checkOf(id, f))
}

// git reports whether there is a repository; one without a commit is one. With a commit it
// looks at the policy, too.
func (d *DoctorResult) git(ctx context.Context, dir string, environ []string) bool {
	git, err := judge.OpenGit(ctx, dir)
	if err != nil {
		d.fail("git", fault.Git(err))
		return false
	}
	commit, branch, err := git.Head(ctx)
	if err != nil {
		d.fail("git", fault.Git(err))
		return true
	}
	if branch == "" {
		branch = "a detached HEAD"
	}
	d.pass("git", fmt.Sprintf("%s at %.12s", branch, commit))
	switch rules, err := policy.Open(ctx, git, commit, environ); {
	case err != nil:
		d.fail("policy", fault.Internal(err))
	case rules.Report() != nil:
		d.pass("policy", words.Count(rules.Report().Rules, "rule"))
	}
	return true
}

func (d *DoctorResult) config(o *opened) {
	if o.loaded.File == "" {
		d.fail("config", fault.New(judge.BlockedMissingConfig, "there is no configuration", "no relay.config.* and no relais.config.json at the repository's root", "`relay init`"))
		return
	}
	d.Checks = append(d.Checks, CheckResult{ID: "config", OK: true, What: o.loaded.File, Warnings: o.loaded.Notices})
}

// checks looks for the program of each check: a run that asks for one without it can't
// succeed, whatever is built.
func (d *DoctorResult) checks(r *Repo, o *opened) {
	v := &o.loaded.Config.Verification
	var missing, whys []string
	for _, t := range v.Templates {
		if _, name, why := crew.MissingProgram(v, []string{t.ID}, r.opts.Env, o.root); name != "" {
			missing = append(missing, fmt.Sprintf("%s of %s", name, t.ID))
			if why != "" {
				whys = append(whys, why)
			}
		}
	}
	switch {
	case len(missing) > 0:
		d.fail("checks", fault.New(judge.BlockedMissingConfig, "programs of checks are not in PATH: "+strings.Join(missing, ", "), strings.Join(whys, "; "), "install them, or name a file of the repository by its path, such as ./check; `relay config show verification` lists the checks"))
	case len(v.Templates) > 0:
		d.pass("checks", fmt.Sprintf("the programs of %d are there", len(v.Templates)))
	}
}

func (d *DoctorResult) trust(r *Repo, o *opened) {
	if digest, _ := trust.Needed(o.loaded); digest == "" {
		d.pass("trust", "the configuration starts no program of its own")
		return
	}
	if err := r.trust().Check(o.loaded, r.getenv); err != nil {
		d.fail("trust", fault.Internal(err))
		return
	}
	d.pass("trust", "the configuration is the one that you trusted")
}

// box really mounts, copies, writes and removes by every means, in a folder of relay's
// own.
func (d *DoctorResult) box(ctx context.Context, stateDir string, o *opened) {
	wish := isolation.Wish{StateDir: stateDir}
	if o != nil {
		wish.Means, wish.Required = o.loaded.Config.Box.Means, o.loaded.Config.Box.Required
	}
	s, err := isolation.Probe(ctx, stateDir)
	if err != nil {
		d.fail("box", fault.Wrap(err, judge.BlockedBox, "the box can't be tried", "`ls -ld "+stateDir+"` shows whether relay may write there"))
		return
	}
	for _, t := range s.Trials {
		c := CheckResult{ID: "box." + t.Means, OK: true, What: "works", Gaps: t.Gaps}
		if !t.OK { // which is no failure where a weaker one does
			c.Skip, c.What, c.Why, c.Fix = true, "is not possible here", t.Why, t.Fix
		}
		d.Checks = append(d.Checks, c)
	}
	means, err := isolation.Pick(s, wish)
	if err != nil {
		f, _ := fault.As(crew.BoxFault(err))
		f.What = "no box is strong enough here for a builder"
		d.fail("box", f)
		return
	}
	what := means
	if wish.Required != "" {
		what += ", required: " + wish.Required
	}
	d.Checks = append(d.Checks, CheckResult{ID: "box", OK: true, What: what, Gaps: box.GapsOf(means)})
}

// collector tries the one that spans are sent to, where that is turned on. No run fails for
// one that is away, and neither does this.
func (d *DoctorResult) collector(ctx context.Context, o telemetry.Options) {
	if !o.On() {
		return
	}
	c := CheckResult{ID: "telemetry", OK: true, What: "the collector at " + o.Address() + " takes spans"}
	if err := o.Probe(ctx); err != nil {
		c.What = "the collector at " + o.Address() + " takes no spans; runs go on without"
		c.Warnings = []string{err.Error(), "`relay config show telemetry --origin` says who named it"}
	}
	d.Checks = append(d.Checks, c)
}

// plugins looks at each plugin that the configuration names, the plugin itself being
// asked, and lists what else is wrong with others. Nothing of a configuration that is
// not trusted is started.
func (d *DoctorResult) plugins(ctx context.Context, r *Repo, o *opened, opts DoctorOptions) {
	root := ""
	if o != nil {
		root = o.root
	}
	cat, err := r.catalog(root)
	if err != nil {
		d.fail("plugins", fault.Internal(err))
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
			d.Checks = append(d.Checks, CheckResult{ID: "plugin", OK: true, Skip: true,
				What: fmt.Sprintf("%s is %s", e.Name, e.State), Why: e.Reason, Fix: "`relay plugin list`"})
		}
	}
}

func (d *DoctorResult) members(ctx context.Context, r *Repo, o *opened, cat *catalog.Catalog, opts DoctorOptions) {
	team := members(o.loaded.Config, cat)
	if r.trust().Check(o.loaded, r.getenv) != nil {
		for _, m := range team {
			d.Checks = append(d.Checks, CheckResult{ID: m.id(), Skip: true, What: m.name + " is not started before the configuration is trusted"})
		}
		return
	}
	c, err := r.checkup(ctx, o.loaded, cat)
	if err != nil {
		d.fail("plugins", blockedConfig(err))
		return
	}
	team = d.services(r, o, cat, team)
	if _, _, err := r.taskList(); err == nil { // what a pipeline can't begin without
		team = joined(team, r.pipelineTeam(&o.loaded.Config.Pipeline), "pipeline.")
	}
	d.fences(c, team)
	c.network, c.live = true, opts.Live
	if opts.Live {
		done, err := c.openBook(o.ws, r.stateDir())
		if err != nil {
			d.fail("live", fault.Internal(err))
			c.live = false
		} else {
			defer done()
		}
	}
	for _, res := range c.all(ctx, team) {
		d.OK = d.OK && (res.OK || res.Skip)
		d.Checks = append(d.Checks, res)
	}
}

// fences says what each plugin reaches, and what no box shows.
func (d *DoctorResult) fences(c *checkup, team []member) {
	for _, m := range team {
		if m.role == "" {
			continue
		}
		network, hosts, err := c.crew.Reach(m.name, m.kind)
		if err != nil {
			continue // which is said of the plugin itself
		}
		what := m.name + " reaches " + strings.Join(hosts, ", ")
		switch {
		case network == "full":
			what = m.name + " reaches all of the network"
		case len(hosts) == 0:
			what = m.name + " reaches nothing"
		}
		d.Checks = append(d.Checks, CheckResult{ID: "network." + m.role, OK: true, What: what + " (" + network + ")"})
	}
	places := crew.Credentials(c.crew.Config, c.crew.Home)
	d.Checks = append(d.Checks, CheckResult{ID: "credentials", OK: true, What: fmt.Sprintf("%d places with credentials are hidden in every box", len(places))})
}

// services adds the plugins that the cycles of the services need and nobody else has
// named, and says what is wrong with services. Nothing of one that is not trusted is
// started.
func (d *DoctorResult) services(r *Repo, o *opened, cat *catalog.Catalog, team []member) []member {
	ids, err := config.Services(o.root)
	if err != nil {
		d.fail("services", fault.Internal(err))
	}
	for _, id := range ids {
		s, err := config.LoadService(r.serviceOptions(o.root), id, nil)
		if err != nil {
			d.fail("service."+id, fault.Internal(err))
			continue
		}
		if err := r.trust().CheckService(o.root, s, r.getenv); err != nil {
			f := fault.Internal(err)
			d.Checks = append(d.Checks, CheckResult{ID: "service." + id, Skip: true, What: "its plugins are not started before it is trusted", Fix: f.Fix})
			continue
		}
		team = joined(team, cycleTeam(s.Service, cat), id+".")
	}
	return team
}

// joined adds the members that nobody has named before, as those of a workflow.
func joined(team, more []member, of string) []member {
	for _, m := range more {
		known := slices.ContainsFunc(team, func(o member) bool {
			return o.kind == m.kind && catalog.Canonical(o.name) == catalog.Canonical(m.name) && (o.model == m.model || m.model == "")
		})
		if !known {
			m.role = of + m.role
			team = append(team, m)
		}
	}
	return team
}
