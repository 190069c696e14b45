package host

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/paxiom/relay/host/fault"
	"github.com/paxiom/relay/host/internal/catalog"
	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/host/internal/crew"
	"github.com/paxiom/relay/host/internal/ledger"
	"github.com/paxiom/relay/host/internal/lock"
	"github.com/paxiom/relay/host/internal/pluginhost"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/judge"
)

// member is a plugin that a configuration names, and what for.
type member struct {
	role  string // "orchestrator", "builder"; "" for one that only has settings
	name  string
	kind  catalog.Kind
	model string
}

func (m member) id() string {
	if m.role == "" {
		return "plugin"
	}
	return m.role
}

// tickTeam are the plugins of a tick.
func tickTeam(cfg *config.Config) []member {
	return []member{
		{"orchestrator", cfg.Orchestrator.Provider, catalog.Provider, cfg.Models.OrchestratorModel},
		{"builder", cfg.Builder.DefaultMode, catalog.Builder, cfg.Models.BuilderModel},
	}
}

// members are the plugins that a configuration names: those of a tick, and those that
// it has settings for.
func members(cfg *config.Config, cat *catalog.Catalog) []member {
	team := tickTeam(cfg)
	for _, name := range slices.Sorted(maps.Keys(cfg.Plugins)) {
		for _, kind := range []catalog.Kind{catalog.Provider, catalog.Builder} {
			known := slices.ContainsFunc(team, func(m member) bool {
				return m.kind == kind && catalog.Canonical(m.name) == catalog.Canonical(name)
			})
			if _, err := cat.Find(name, kind); err == nil && !known {
				team = append(team, member{name: name, kind: kind})
			}
		}
	}
	return team
}

// checkup asks plugins how they are: each is started in a box that can write nothing,
// with its own configuration and keys.
type checkup struct {
	crew    crew.Env
	git     *judge.Git
	network bool // whether servers are tried
	live    bool // whether models are asked
	book    *ledger.Ledger
	mu      sync.Mutex // of book
}

func (r *Repo) checkup(ctx context.Context, l *config.Loaded, cat *catalog.Catalog) (*checkup, error) {
	git, err := judge.OpenGit(ctx, l.Root)
	if err != nil {
		return nil, err
	}
	return &checkup{git: git, crew: crew.Env{Catalog: cat, Config: l.Config, Root: l.Root, StateDir: r.stateDir(), Home: r.home(), Version: r.opts.Version}}, nil
}

// ready says why the plugins of a workflow certainly can't work: a program that is
// missing, no key, no login. It asks no network and costs nothing; nil is no promise.
// It is asked by what reports whether a tick could start, by a cycle before its first audit
// (cycleTeam), and by a pipeline before its first task (pipelineTeam).
func (r *Repo) ready(ctx context.Context, l *config.Loaded, cat *catalog.Catalog, team []member) error {
	c, err := r.checkup(ctx, l, cat)
	if err != nil {
		return nil // the workflow has better words for it
	}
	for _, res := range c.all(ctx, team) {
		if !res.OK && !res.Skip {
			return &fault.Fault{Code: res.Code, What: res.What, Why: res.Why, Fix: res.Fix, Says: res.PluginSays}
		}
	}
	return nil
}

// distinct leaves of members that are the same plugin the first.
func distinct(team []member) []member {
	seen := map[string]bool{}
	return slices.DeleteFunc(team, func(m member) bool {
		key := string(m.kind) + catalog.Canonical(m.name)
		was := seen[key]
		seen[key] = true
		return was
	})
}

// all looks at the members side by side, and answers in their order.
func (c *checkup) all(ctx context.Context, team []member) []CheckResult {
	out := make([]CheckResult, len(team))
	var wg sync.WaitGroup
	for i, m := range team {
		wg.Go(func() { out[i] = c.look(ctx, m) })
	}
	wg.Wait()
	return out
}

func (c *checkup) look(ctx context.Context, m member) CheckResult {
	p, err := c.crew.Reader(m.name, m.kind, c.git)
	if err != nil {
		return *checkOf(m.id(), fault.Internal(err))
	}
	defer p.Close(ctx)
	res := CheckResult{ID: m.id(), OK: true, What: strings.TrimSpace(p.Entry.Name + " " + p.Entry.Version)}
	open, err := p.Lazy.Get(ctx)
	if err != nil {
		return res.failed(err)
	}
	h, f := open.Health(ctx, false)
	if f != nil {
		return res.failed(f)
	}
	if h.GetDetail() != "" {
		res.What += ": " + h.GetDetail()
	}
	res.Warnings = h.GetWarnings()
	if c.network {
		deep, cancel := context.WithTimeout(ctx, deepTimeout)
		defer cancel()
		if _, f := open.Health(deep, true); f != nil {
			res = res.failed(f)
		}
	}
	if c.live && res.OK && m.kind == catalog.Provider {
		c.ask(ctx, m, p, open, &res)
	}
	return res
}

// deepTimeout bounds the look at a server.
const deepTimeout = 20 * time.Second

// failed is a plugin that says, or shows, that something is wrong. Only what no
// repetition can mend is certain; the rest (a network, a server) is a warning.
func (res CheckResult) failed(err error) CheckResult {
	var f *pluginhost.Failure
	if !errors.As(err, &f) {
		return *checkOf(res.ID, fault.Internal(err))
	}
	if pluginhost.Decide(f).Action == pluginhost.Block {
		bad := checkOf(res.ID, f.Fault())
		bad.Warnings = res.Warnings
		return *bad
	}
	text := f.Summary
	if f.Detail != "" {
		text += ": " + f.Detail
	}
	if f.Says != "" {
		text += "; " + f.Says
	}
	res.Warnings = append(res.Warnings, text)
	return res
}

// openBook takes the workspace's lock, since a paid call is counted there.
func (c *checkup) openBook(ws *workspace.Workspace, stateDir string) (done func(), err error) {
	if err := ws.Ensure(); err != nil {
		return nil, err
	}
	held, _, err := lock.Acquire(ws.Lock(), "relay doctor --live")
	if err != nil {
		return nil, err
	}
	if c.book, _, err = ledger.Open(ws, c.crew.Config.Budgets, stateDir); err != nil {
		return nil, errors.Join(err, held.Release())
	}
	return func() { _ = errors.Join(c.book.Flush(), held.Release()) }, nil // Open settles what could not be written
}
