package health

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/catalog"
	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/host/internal/ledger"
	"github.com/paxiom/relay/host/internal/lock"
	"github.com/paxiom/relay/host/internal/pluginenv"
	"github.com/paxiom/relay/host/internal/pluginhost"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/git"
)

// Member is a plugin that a configuration names, and what for.
type Member struct {
	Role  string // "orchestrator", "builder"; "" for one that only has settings
	Name  string
	Kind  catalog.Kind
	Model string
}

// ID is its line in doctor.
func (m Member) ID() string {
	if m.Role == "" {
		return "plugin"
	}
	return m.Role
}

// TickTeam are the plugins of a tick.
func TickTeam(cfg *config.Config) []Member {
	return []Member{
		{"orchestrator", cfg.Orchestrator.Provider, catalog.Provider, cfg.Models.OrchestratorModel},
		{"builder", cfg.Builder.DefaultMode, catalog.Builder, cfg.Models.BuilderModel},
	}
}

// Named are the plugins that a configuration names: those of a tick, and those that
// it has settings for.
func Named(cfg *config.Config, cat *catalog.Catalog) []Member {
	team := TickTeam(cfg)
	for _, name := range slices.Sorted(maps.Keys(cfg.Plugins)) {
		for _, kind := range []catalog.Kind{catalog.Provider, catalog.Builder} {
			known := slices.ContainsFunc(team, func(m Member) bool {
				return m.Kind == kind && catalog.Canonical(m.Name) == catalog.Canonical(name)
			})
			if _, err := cat.Find(name, kind); err == nil && !known {
				team = append(team, Member{Name: name, Kind: kind})
			}
		}
	}
	return team
}

// Checkup asks plugins how they are: each is started in a box that can write nothing,
// with its own configuration and keys.
type Checkup struct {
	PluginEnv  pluginenv.Env
	Git        *git.Repo
	AskServers bool // whether servers are tried
	AskModels  bool // whether models are asked
	book       *ledger.Ledger
	mu         sync.Mutex // of book
}

// distinct leaves of members that are the same plugin the first.
func distinct(team []Member) []Member {
	seen := map[string]bool{}
	return slices.DeleteFunc(team, func(m Member) bool {
		key := string(m.Kind) + catalog.Canonical(m.Name)
		was := seen[key]
		seen[key] = true
		return was
	})
}

// All looks at the members side by side, and answers in their order.
func (c *Checkup) All(ctx context.Context, team []Member) []Check {
	out := make([]Check, len(team))
	var wg sync.WaitGroup
	for i, m := range team {
		wg.Go(func() { out[i] = c.look(ctx, m) })
	}
	wg.Wait()
	return out
}

func (c *Checkup) look(ctx context.Context, m Member) Check {
	p, err := c.PluginEnv.Reader(m.Name, m.Kind, c.Git)
	if err != nil {
		return *Failed(m.ID(), diag.Internal(err))
	}
	defer p.Close(ctx)
	res := Check{ID: m.ID(), OK: true, What: strings.TrimSpace(p.Entry.Name + " " + p.Entry.Version)}
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
	if c.AskServers {
		deep, cancel := context.WithTimeout(ctx, deepTimeout)
		defer cancel()
		if _, f := open.Health(deep, true); f != nil {
			res = res.failed(f)
		}
	}
	if c.AskModels && res.OK && m.Kind == catalog.Provider {
		c.ask(ctx, m, p, open, &res)
	}
	return res
}

// deepTimeout bounds the look at a server.
const deepTimeout = 20 * time.Second

// failed is a plugin that says, or shows, that something is wrong. Only what no
// repetition can mend is certain; the rest (a network, a server) is a warning.
func (res Check) failed(err error) Check {
	var f *pluginhost.Failure
	if !errors.As(err, &f) {
		return *Failed(res.ID, diag.Internal(err))
	}
	if pluginhost.Decide(f).Action == pluginhost.Block {
		bad := Failed(res.ID, f.Diagnostic())
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

// OpenBook takes the workspace's lock, since a paid call is counted there.
func (c *Checkup) OpenBook(ws *workspace.Workspace, stateDir string) (done func(), err error) {
	if err := ws.Ensure(); err != nil {
		return nil, err
	}
	held, _, err := lock.Acquire(ws.Lock(), "relay doctor --live")
	if err != nil {
		return nil, err
	}
	if c.book, _, err = ledger.Open(ws, c.PluginEnv.Config.Budgets, stateDir); err != nil {
		return nil, errors.Join(err, held.Release())
	}
	return func() { _ = errors.Join(c.book.Flush(), held.Release()) }, nil // Open settles what could not be written
}

// Check is one line of doctor or of preflight.
type Check struct {
	ID   string     `json:"id"`   // for example "git", "lock", "box"
	OK   bool       `json:"ok"`   //
	Skip bool       `json:"skip"` // not looked at, since an earlier check failed
	Code judge.Code `json:"code,omitempty"`
	What string     `json:"what"` // one line: what was found
	Why  string     `json:"why,omitempty"`
	Fix  string     `json:"next,omitempty"`
	// PluginSays is what a plugin suggests; relay does not vouch for it.
	PluginSays string `json:"plugin_says,omitempty"`
	// Warnings are for a person to know though nothing stands in the way.
	Warnings []string `json:"warnings,omitempty"`
	// Gaps are what a means of containment does not stop.
	Gaps []string `json:"gaps,omitempty"`
}

func Failed(id string, f *diag.Error) *Check {
	return &Check{ID: id, Code: f.Code, What: f.What, Why: f.Why, Fix: f.Fix, PluginSays: f.Says}
}

// CycleTeam are the plugins of a service's cycles.
func CycleTeam(s *config.Service, cat *catalog.Catalog) []Member {
	var team []Member
	add := func(role, name, model string, kind catalog.Kind) {
		team = append(team, Member{role, name, kind, model})
	}
	for _, a := range s.Auditors() {
		add(a.Name, a.Provider, a.Model, catalog.Provider)
	}
	if m := s.Models.Refinement; m.Enabled {
		add("refinement", m.Provider, m.Model, catalog.Provider)
	}
	for _, name := range s.Revisers() {
		kind := catalog.Provider
		if _, err := cat.Find(name, kind); err != nil {
			if _, err := cat.Find(name, catalog.Builder); err == nil {
				kind = catalog.Builder
			}
		}
		add("revision", name, "", kind)
	}
	return distinct(team)
}

// PipelineTeam are the plugins that a pipeline can't do without: a role with a fallback
// can, and the checks of criteria while no task has any.
func PipelineTeam(c *config.Pipeline, criteria bool) []Member {
	var team []Member
	add := func(role, name, model string, kind catalog.Kind, fallback []string) {
		if len(fallback) == 0 {
			team = append(team, Member{role, name, kind, model})
		}
	}
	add("plan", c.Plan.Provider, c.Plan.Model, catalog.Provider, c.Plan.Fallback)
	add("code", c.Code.Builder, c.Code.Model, catalog.Builder, c.Code.Fallback)
	add("review", c.Review.Provider, c.Review.Model, catalog.Provider, c.Review.Fallback)
	add("cleanup", c.Cleanup.Builder, c.Cleanup.Model, catalog.Builder, c.Cleanup.Fallback)
	if criteria {
		add("criteria", c.Criteria.Provider, c.Criteria.Model, catalog.Provider, c.Criteria.Fallback)
	}
	return distinct(team)
}
