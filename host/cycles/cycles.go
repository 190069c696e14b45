package cycles

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/paxiom/relay/host"
	"github.com/paxiom/relay/host/cycle"
	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/health"
	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/host/internal/presence"
	"github.com/paxiom/relay/judge"
)

// Result is a cycle after a command.
type Result struct {
	host.Doc
	Cycle    *host.Cycle `json:"cycle"`
	Dir      string      `json:"dir"` // with its files
	Next     diag.Steps  `json:"next"`
	Bell     bool        `json:"-"` // the terminal's bell is wanted
	ExitCode int         `json:"exit_code"`
}

// StartOptions are the options of relay audit start.
type StartOptions struct {
	Service  string
	Base     string   // commit or branch; "" is HEAD
	Model    []string // ROLE=MODEL, or MODEL for the first audit
	With     []string // KEY=VALUE of the service, for this cycle
	Force    bool
	Observer host.Observer
	Began    func(*host.Cycle) // when the cycle has its id, branch and work tree; may be nil
}

// Start begins a cycle and runs it to the first gate.
func Start(ctx context.Context, r *host.Repo, o StartOptions) (*Result, error) {
	env, repo, err := r.CycleEnv(o.Observer)
	if err != nil {
		return nil, err
	}
	with, err := modelOverrides(o.Model)
	if err != nil {
		return nil, err
	}
	s, err := config.LoadService(r.ServiceOptions(repo.Root), o.Service, append(with, o.With...))
	if err != nil {
		return nil, err
	}
	if err := r.TrustStore().CheckService(repo.Root, s, r.Getenv); err != nil {
		return nil, err
	}
	if f := tooLow(repo.Loaded, s); f != nil {
		return nil, f
	}
	if err := r.Ready(ctx, repo.Loaded, env.Catalog, health.CycleTeam(s.Service, env.Catalog)); err != nil {
		return nil, err
	}
	present := presence.Record(repo.WS, "relay audit start", env.Observer)
	defer present.End()
	env.Observer = present
	rec, err := cycle.Start(ctx, env, cycle.StartOptions{Service: s, Base: o.Base, Force: o.Force, Command: o.command()}, o.Began)
	return result(r, repo, rec, err)
}

// command is what is typed for these options.
func (o StartOptions) command() string {
	c := "relay audit start " + diag.Word(o.Service)
	if o.Base != "" {
		c += " --base " + diag.Word(o.Base)
	}
	for _, m := range o.Model {
		c += " --model " + diag.Word(m)
	}
	for _, w := range o.With {
		c += " --with " + diag.Word(w)
	}
	if o.Force {
		c += " --force"
	}
	return c
}

// tooLow names a cap under which no call of a service's cycle could be made; nil when each
// has room for one.
func tooLow(l *config.Loaded, s *config.LoadedService) *diag.Error {
	rules, id := s.Service.Cycle, s.Service.Service.ID
	caps := []struct {
		key string
		usd float64
	}{{"cycle.max_cost_usd of the service", rules.MaxCostUSD}, {host.PerCycle, l.Config.Budgets.PerCycle.MaxCostUSD}, {"budgets.per_day.max_cost_usd", l.Config.Budgets.PerDay.MaxCostUSD}}
	if l.Origin(host.PerCycle).Layer == config.LayerFlag {
		caps = caps[1:]
	}
	for _, c := range caps {
		switch {
		case c.usd == 0:
		case rules.MaxCallUSD == 0:
			return diag.New(judge.BlockedMissingConfig, c.key+" could not be kept", "cycle.max_call_usd of the service is 0, so nothing limits what one call may cost", "`relay audit start "+id+" --with cycle.max_call_usd=1`")
		case c.usd < rules.MaxCallUSD:
			return diag.New(judge.BlockedMissingConfig, fmt.Sprintf("%s is %g dollars, and one call may cost %g", c.key, c.usd, rules.MaxCallUSD), "no call could be made",
				fmt.Sprintf("`relay audit start %s --with cycle.max_call_usd=%g`, or raise the cap", id, c.usd))
		}
	}
	return nil
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
			return nil, diag.New("", "--model can't be "+host.Safe(m), "the roles are audit_a, audit_b and refinement; other models are set with --with", "`relay audit start --help`")
		}
		out = append(out, keys[role]+"="+name)
	}
	return out, nil
}

// Continue approves the plan that waits, and runs the cycle to the second gate.
// before is shown what will run; its error leaves the gate closed.
func Continue(ctx context.Context, r *host.Repo, id string, obs host.Observer, before func(*host.CyclePreview) error) (*Result, error) {
	return on(r, id, obs, func(env *cycle.Env, uuid string) (*cycle.Record, error) {
		return cycle.Continue(ctx, env, uuid, before)
	})
}

// Despite is what the operator accepts a revision in spite of.
type Despite = cycle.Despite

// Accept accepts the revision that waits.
func Accept(ctx context.Context, r *host.Repo, id string, despite Despite, obs host.Observer) (*Result, error) {
	return on(r, id, obs, func(env *cycle.Env, uuid string) (*cycle.Record, error) {
		return cycle.Decide(ctx, env, uuid, cycle.DecideAccept, despite)
	})
}

// Iterate asks for another round of audits.
func Iterate(ctx context.Context, r *host.Repo, id string, obs host.Observer) (*Result, error) {
	return on(r, id, obs, func(env *cycle.Env, uuid string) (*cycle.Record, error) {
		return cycle.Decide(ctx, env, uuid, cycle.DecideIterate, cycle.Despite{})
	})
}

// Resume continues a cycle that was cut off or has a problem.
func Resume(ctx context.Context, r *host.Repo, id string, without []string, obs host.Observer) (*Result, error) {
	return on(r, id, obs, func(env *cycle.Env, uuid string) (*cycle.Record, error) { return cycle.Resume(ctx, env, uuid, without) })
}

// Abort ends a cycle for good.
func Abort(ctx context.Context, r *host.Repo, id, reason string) (*Result, error) {
	return on(r, id, nil, func(env *cycle.Env, uuid string) (*cycle.Record, error) { return cycle.Abort(ctx, env, uuid, reason) })
}

// on does something with the cycle that an id, or the beginning of one, names.
func on(r *host.Repo, id string, obs host.Observer, do func(*cycle.Env, string) (*cycle.Record, error)) (*Result, error) {
	env, repo, err := r.CycleEnv(obs)
	if err != nil {
		return nil, err
	}
	uuid, err := cycle.Find(repo.WS, id)
	if err != nil {
		return nil, err
	}
	present := presence.Record(repo.WS, "relay cycle", env.Observer)
	defer present.End()
	env.Observer = present
	rec, err := do(env, uuid)
	return result(r, repo, rec, err)
}

// result is there beside the error of a cycle that needs the operator.
func result(r *host.Repo, repo *host.Opened, rec *cycle.Record, err error) (*Result, error) {
	if rec == nil {
		return nil, err
	}
	return &Result{Doc: host.DocOf("relay.cycle", 1), Cycle: rec, Dir: filepath.Join(cycle.Dir(repo.WS), rec.UUID), Next: rec.Next(),
		Bell: repo.Loaded.Config.Notify.Bell && rec.Waits(), ExitCode: host.CycleExit(rec)}, err
}
