package host

import (
	"context"
	"fmt"
	"strings"

	"github.com/paxiom/relay/host/fault"
	"github.com/paxiom/relay/host/internal/catalog"
	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/host/internal/detect"
	"github.com/paxiom/relay/host/internal/trust"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/box"
)

// Doctor tries what a tick needs: git, configuration, trust, box, plugins, programs.
// It goes on after a failure, since one visit should find everything.
func (r *Repo) Doctor(ctx context.Context) (*DoctorResult, error) {
	d := &DoctorResult{Doc: Doc{"relay.doctor", 1}, OK: true}
	d.git(ctx, r.dir)
	o, err := r.open()
	if err != nil {
		d.fail("config", blockedConfig(err))
	} else {
		d.config(o)
		d.trust(r.trust(), o)
	}
	d.box(ctx, r.stateDir(), o)
	d.plugins(r, o)
	return d, nil
}

func (d *DoctorResult) pass(id, what string) {
	d.Checks = append(d.Checks, CheckResult{ID: id, OK: true, What: what})
}

func (d *DoctorResult) fail(id string, f *fault.Fault) {
	d.OK = false
	d.Checks = append(d.Checks, *checkOf(id, f))
}

func (d *DoctorResult) git(ctx context.Context, dir string) {
	git, err := judge.OpenGit(ctx, dir)
	if err != nil {
		d.fail("git", fault.Wrap(err, judge.BlockedMissingConfig, "git can't work here", "`git status` shows git's own words"))
		return
	}
	commit, branch, err := git.Head(ctx)
	if err != nil {
		d.fail("git", fault.Wrap(err, judge.BlockedMissingConfig, "this repository has no commit to start from", "`git commit` something first"))
		return
	}
	if branch == "" {
		branch = "a detached HEAD"
	}
	d.pass("git", fmt.Sprintf("%s at %.12s", branch, commit))
}

func (d *DoctorResult) config(o *opened) {
	if o.loaded.File == "" {
		d.fail("config", fault.New(judge.BlockedMissingConfig, "there is no configuration", "no relay.config.* and no relais.config.json at the repository's root", "`relay init`"))
		return
	}
	d.pass("config", o.loaded.File)
}

func (d *DoctorResult) trust(store *trust.Store, o *opened) {
	digest, items := trust.Needed(o.loaded)
	if digest == "" {
		d.pass("trust", "the configuration starts no program of its own")
		return
	}
	ok, err := store.IsTrusted(o.root, digest)
	switch {
	case err != nil:
		d.fail("trust", fault.Wrap(err, judge.BlockedUntrustedConfig, "what you trust can't be read", "`relay trust`"))
	case !ok:
		d.fail("trust", fault.New(judge.BlockedUntrustedConfig, "this configuration is not trusted yet",
			fmt.Sprintf("it names %d things that run or widen rights", len(items)), "`relay trust` shows them and asks"))
	default:
		d.pass("trust", "the configuration is the one that you trusted")
	}
}

// box really mounts, writes and removes, in a folder of relay's own.
func (d *DoctorResult) box(ctx context.Context, stateDir string, o *opened) {
	required := ""
	if o != nil {
		required = o.loaded.Config.Box.Required
	}
	s, err := box.Probe(ctx, stateDir)
	if err != nil {
		d.fail("box", fault.Wrap(err, judge.BlockedBox, "the box can't be tried", "`ls -ld "+stateDir+"` shows whether relay may write there"))
		return
	}
	if !s.OK() {
		f := fault.New(judge.BlockedBox, "this machine allows no box", "", "")
		for _, t := range s.Trials {
			f.Why, f.Fix = t.Why, t.Fix
		}
		d.fail("box", f)
		return
	}
	what := s.Means
	if required != "" {
		what += ", required: " + required
	}
	d.pass("box", what)
}

// plugins checks the two that the configuration names and lists what else is wrong.
func (d *DoctorResult) plugins(r *Repo, o *opened) {
	root, c := "", config.Default()
	if o != nil {
		root, c = o.root, o.loaded.Config
	}
	cat, err := r.catalog(root)
	if err != nil {
		d.fail("plugins", fault.Internal(err))
		return
	}
	d.plugin(r, cat, "orchestrator", c.Orchestrator.Provider, catalog.Provider)
	d.plugin(r, cat, "builder", c.Builder.DefaultMode, catalog.Builder)
	for _, e := range cat.List() {
		if e.State != catalog.OK {
			d.Checks = append(d.Checks, CheckResult{ID: "plugin", OK: true, Skip: true,
				What: fmt.Sprintf("%s is %s", e.Name, e.State), Why: e.Reason, Fix: "`relay plugin list`"})
		}
	}
}

func (d *DoctorResult) plugin(r *Repo, cat *catalog.Catalog, role, name string, kind catalog.Kind) {
	e, err := cat.Find(name, kind)
	if err != nil {
		d.fail(role, fault.Internal(err))
		return
	}
	missing := missingPrograms(e.Programs, r.getenv("PATH"))
	if len(missing) > 0 {
		d.fail(role, fault.New(judge.BlockedPlugin, fmt.Sprintf("the plugin %s needs %s", e.Name, strings.Join(missing, ", ")),
			"no such program is on PATH", "`relay plugin list` shows what else could be the "+role+"; or install it"))
		return
	}
	d.pass(role, strings.TrimSpace(fmt.Sprintf("%s %s %s", e.Name, e.Version, e.State)))
}

func missingPrograms(names []string, path string) []string {
	found := map[string]bool{}
	for _, p := range detect.Programs(names, path) {
		found[p.Name] = true
	}
	var missing []string
	for _, n := range names {
		if !found[n] {
			missing = append(missing, n)
		}
	}
	return missing
}
