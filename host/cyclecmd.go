package host

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/paxiom/relay/host/cycle"
	"github.com/paxiom/relay/host/fault"
	"github.com/paxiom/relay/host/internal/catalog"
	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/host/internal/daylog"
	"github.com/paxiom/relay/host/internal/notify"
	"github.com/paxiom/relay/host/internal/pulse"
	"github.com/paxiom/relay/judge"
)

// Types of audit cycles that the commands show.
type (
	// Cycle is a cycle's state.json.
	Cycle = cycle.Record
	// CycleState is where a cycle stands.
	CycleState = cycle.State
	// CyclePreview is what an approval would set going.
	CyclePreview = cycle.Preview
	// CycleReview is what a review found.
	CycleReview = cycle.Review
)

// CycleResult is a cycle after a command.
type CycleResult struct {
	Doc
	Cycle    *Cycle      `json:"cycle"`
	Dir      string      `json:"dir"` // with its files
	Next     fault.Steps `json:"next"`
	Bell     bool        `json:"-"` // the terminal's bell is wanted
	ExitCode int         `json:"exit_code"`
}

// CycleStart are the options of relay audit start.
type CycleStart struct {
	Service  string
	Base     string   // commit or branch; "" is HEAD
	Model    []string // ROLE=MODEL, or MODEL for the first audit
	With     []string // KEY=VALUE of the service, for this cycle
	Force    bool
	Observer Observer
	Began    func(*Cycle) // when the cycle has its id, branch and work tree; may be nil
}

// StartCycle begins a cycle and runs it to the first gate.
func (r *Repo) StartCycle(ctx context.Context, o CycleStart) (*CycleResult, error) {
	env, repo, err := r.cycleEnv(o.Observer)
	if err != nil {
		return nil, err
	}
	with, err := modelOverrides(o.Model)
	if err != nil {
		return nil, err
	}
	s, err := config.LoadService(r.serviceOptions(repo.root), o.Service, append(with, o.With...))
	if err != nil {
		return nil, err
	}
	if err := r.trust().CheckService(repo.root, s, r.getenv); err != nil {
		return nil, err
	}
	if f := tooLow(repo.loaded, s); f != nil {
		return nil, f
	}
	if err := r.ready(ctx, repo.loaded, env.Catalog, cycleTeam(s.Service, env.Catalog)); err != nil {
		return nil, err
	}
	pulse := pulse.Record(repo.ws, "relay audit start", env.Observer)
	defer pulse.End()
	env.Observer = pulse
	rec, err := cycle.Start(ctx, env, cycle.StartOptions{Service: s, Base: o.Base, Force: o.Force}, o.Began)
	return r.cycleResult(repo, rec, err)
}

const perCycle = "budgets.per_cycle.max_cost_usd"

// tooLow names a cap under which no call of a service's cycle could be made; nil when each
// has room for one.
func tooLow(l *config.Loaded, s *config.LoadedService) *fault.Fault {
	rules, id := s.Service.Cycle, s.Service.Service.ID
	caps := []struct {
		key string
		usd float64
	}{{"cycle.max_cost_usd of the service", rules.MaxCostUSD}, {perCycle, l.Config.Budgets.PerCycle.MaxCostUSD}, {"budgets.per_day.max_cost_usd", l.Config.Budgets.PerDay.MaxCostUSD}}
	if l.Origin(perCycle).Layer == config.LayerFlag {
		caps = caps[1:]
	}
	for _, c := range caps {
		switch {
		case c.usd == 0:
		case rules.MaxCallUSD == 0:
			return fault.New(judge.BlockedMissingConfig, c.key+" could not be kept", "cycle.max_call_usd of the service is 0, so nothing limits what one call may cost", "`relay audit start "+id+" --with cycle.max_call_usd=1`")
		case c.usd < rules.MaxCallUSD:
			return fault.New(judge.BlockedMissingConfig, fmt.Sprintf("%s is %g dollars, and one call may cost %g", c.key, c.usd, rules.MaxCallUSD), "no call could be made",
				fmt.Sprintf("`relay audit start %s --with cycle.max_call_usd=%g`, or raise the cap", id, c.usd))
		}
	}
	return nil
}

// cycleTeam are the plugins of a service's cycles.
func cycleTeam(s *config.Service, cat *catalog.Catalog) []member {
	var team []member
	add := func(role, name, model string, kind catalog.Kind) {
		team = append(team, member{role, name, kind, model})
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

// modelOverrides makes service overrides of --model.
func modelOverrides(models []string) ([]string, error) {
	keys := map[string]string{"audit_a": "models.audit_a.model", "audit_b": "models.audit_b.model", "refinement": "models.refinement.model"}
	var out []string
	for _, m := range models {
		role, name, ok := strings.Cut(m, "=")
		if !ok {
			role, name = "audit_a", m
		}
		if keys[role] == "" {
			return nil, fault.New("", "--model can't be "+Safe(m), "the roles are audit_a, audit_b and refinement; other models are set with --with", "`relay audit start --help`")
		}
		out = append(out, keys[role]+"="+name)
	}
	return out, nil
}

// ContinueCycle approves the plan that waits, and runs the cycle to the second gate.
// before is shown what will run; its error leaves the gate closed.
func (r *Repo) ContinueCycle(ctx context.Context, id string, obs Observer, before func(*CyclePreview) error) (*CycleResult, error) {
	return r.onCycle(id, obs, func(env *cycle.Env, uuid string) (*cycle.Record, error) {
		return cycle.Continue(ctx, env, uuid, before)
	})
}

// CycleDespite is what the operator accepts a revision in spite of.
type CycleDespite = cycle.Despite

// AcceptCycle accepts the revision that waits.
func (r *Repo) AcceptCycle(ctx context.Context, id string, despite CycleDespite, obs Observer) (*CycleResult, error) {
	return r.onCycle(id, obs, func(env *cycle.Env, uuid string) (*cycle.Record, error) {
		return cycle.Decide(ctx, env, uuid, cycle.DecideAccept, despite)
	})
}

// IterateCycle asks for another round of audits.
func (r *Repo) IterateCycle(ctx context.Context, id string, obs Observer) (*CycleResult, error) {
	return r.onCycle(id, obs, func(env *cycle.Env, uuid string) (*cycle.Record, error) {
		return cycle.Decide(ctx, env, uuid, cycle.DecideIterate, cycle.Despite{})
	})
}

// ResumeCycle goes on with a cycle that was cut off or has a problem.
func (r *Repo) ResumeCycle(ctx context.Context, id string, without []string, obs Observer) (*CycleResult, error) {
	return r.onCycle(id, obs, func(env *cycle.Env, uuid string) (*cycle.Record, error) { return cycle.Resume(ctx, env, uuid, without) })
}

// AbortCycle ends a cycle for good.
func (r *Repo) AbortCycle(ctx context.Context, id, reason string) (*CycleResult, error) {
	return r.onCycle(id, nil, func(env *cycle.Env, uuid string) (*cycle.Record, error) { return cycle.Abort(ctx, env, uuid, reason) })
}

// onCycle does something with the cycle that an id, or the beginning of one, names.
func (r *Repo) onCycle(id string, obs Observer, do func(*cycle.Env, string) (*cycle.Record, error)) (*CycleResult, error) {
	env, repo, err := r.cycleEnv(obs)
	if err != nil {
		return nil, err
	}
	uuid, err := cycle.Find(repo.ws, id)
	if err != nil {
		return nil, err
	}
	pulse := pulse.Record(repo.ws, "relay cycle", env.Observer)
	defer pulse.End()
	env.Observer = pulse
	rec, err := do(env, uuid)
	return r.cycleResult(repo, rec, err)
}

// cycleEnv gathers what cycles need.
func (r *Repo) cycleEnv(obs Observer) (*cycle.Env, *opened, error) {
	repo, err := r.open()
	if err != nil {
		return nil, nil, err
	}
	if err := r.trust().Check(repo.loaded, r.getenv); err != nil {
		return nil, nil, err
	}
	cat, err := r.catalog(repo.root)
	if err != nil {
		return nil, nil, err
	}
	if err := repo.ws.Ensure(); err != nil {
		return nil, nil, err
	}
	if err := repo.ws.MkdirAll(repo.ws.Logs()); err != nil {
		return nil, nil, err
	}
	env := &cycle.Env{Root: repo.root, Config: repo.loaded.Config, WS: repo.ws, Catalog: cat, StateDir: r.stateDir(), DataDir: r.dataDir(), Home: r.home(),
		Environ: r.opts.Env, Version: r.opts.Version, Now: r.now, Clock: r.opts.Clock,
		Observer: r.watched("cycle", repo.loaded.Config, obs)}
	env.RaisedCap = repo.loaded.Origin(perCycle).Layer == config.LayerFlag
	env.Log = func(uuid, service, text string) { _ = daylog.Append(repo.ws.Logs(), r.now(), uuid, service, text) }
	env.Notify = func(n cycle.Notice) {
		n.Title, n.Text = Safe(n.Title), Safe(n.Text)
		r.tell(repo, repo.loaded.Config.Notify, n.UUID, n.Service, notify.Message{Title: n.Title, Text: n.Text, Data: n})
	}
	return env, repo, nil
}

// dataDir holds what is large and can be made again: the work trees of cycles.
func (r *Repo) dataDir() string {
	return r.xdg("XDG_DATA_HOME", ".local", "share")
}

// cycleResult is there beside the error of a cycle that needs the operator.
func (r *Repo) cycleResult(repo *opened, rec *cycle.Record, err error) (*CycleResult, error) {
	if rec == nil {
		return nil, err
	}
	return &CycleResult{Doc: Doc{"relay.cycle", 1}, Cycle: rec, Dir: filepath.Join(cycle.Dir(repo.ws), rec.UUID), Next: rec.Next(),
		Bell: repo.loaded.Config.Notify.Bell && rec.Waits(), ExitCode: cycleExit(rec)}, err
}

// cycleExit is 1 while a cycle waits on the operator.
func cycleExit(rec *cycle.Record) int {
	if rec.Waits() {
		return ExitWaiting
	}
	return ExitDone
}

// serviceOptions say where services are loaded from.
func (r *Repo) serviceOptions(root string) config.Options {
	return config.Options{Root: root, Env: r.opts.Env}
}

// noCycle is what a command says that names a run where a cycle is meant.
func noCycle(id string) error {
	return fault.New(judge.Code(""), "there is neither a run nor a cycle \""+Safe(id)+"\"", "no id of this repository begins so", "`relay history list` shows runs, `relay queue --all` cycles")
}
