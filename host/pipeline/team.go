package pipeline

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/catalog"
	"github.com/paxiom/relay/host/internal/modelcall"
	"github.com/paxiom/relay/host/internal/pluginenv"
	"github.com/paxiom/relay/host/internal/pluginhost"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/prompts"
	"github.com/paxiom/relay/sdk/pluginpb"
)

// The roles of a pipeline, as configuration and ledger name them.
const (
	rolePlan     = "plan"
	roleCode     = "code"
	roleReview   = "review"
	roleCleanup  = "cleanup"
	roleCriteria = "criteria"
)

// Replacement says who took over a role for the rest of a run, and why.
type Replacement struct {
	Role string    `json:"role"` // that was taken over
	From string    `json:"from"` // "codex/gpt-5.5"
	To   string    `json:"to"`   // who took over
	Why  string    `json:"why"`
	At   time.Time `json:"at"`
}

// choices are who can do the work of a role, as the configuration lists them.
func (p *Pipeline) choices(role string) []string {
	c := p.env.Config.Pipeline
	name, model, fallback := "", "", []string(nil)
	switch role {
	case rolePlan:
		name, model, fallback = c.Plan.Provider, c.Plan.Model, c.Plan.Fallback
	case roleReview:
		name, model, fallback = c.Review.Provider, c.Review.Model, c.Review.Fallback
	case roleCriteria:
		name, model, fallback = c.Criteria.Provider, c.Criteria.Model, c.Criteria.Fallback
	case roleCode:
		name, model, fallback = c.Code.Builder, c.Code.Model, c.Code.Fallback
	case roleCleanup:
		name, model, fallback = c.Cleanup.Builder, c.Cleanup.Model, c.Cleanup.Fallback
	}
	return append([]string{pluginenv.Choice{Name: catalog.Canonical(name), Model: model}.String()}, fallback...)
}

// lineup is who is asked in a role now: those who were replaced are not.
func (p *Pipeline) lineup(e pluginenv.Env, role string) *pluginenv.Lineup {
	p.mu.Lock()
	n := 0
	for _, r := range p.rec.Replaced {
		if r.Role == role {
			n++
		}
	}
	p.mu.Unlock()
	all := p.choices(role)
	if all = all[min(n, len(all)-1):]; p.env.Config.Pipeline.OnLimit == "wait" {
		all = all[:1]
	}
	name, model, _ := strings.Cut(all[0], "/")
	return e.Lineup(role, name, model, all[1:])
}

// replace gives a role to the next one for the rest of the run; false when there is none.
func (p *Pipeline) replace(role string, from pluginenv.Choice, why string) (bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := p.choices(role)
	i := slices.IndexFunc(all, func(s string) bool {
		name, model, _ := strings.Cut(s, "/")
		return catalog.Canonical(name) == from.Name && model == from.Model
	})
	if i < 0 || i == len(all)-1 {
		return false, nil
	}
	if slices.ContainsFunc(p.rec.Replaced, func(r Replacement) bool { return r.Role == role && r.From == all[i] }) {
		return true, nil // somebody else saw it fail, too
	}
	p.rec.Replaced = append(p.rec.Replaced, Replacement{Role: role, From: all[i], To: all[i+1], Why: why, At: p.now().UTC()})
	return true, p.writeRecord()
}

// by has the work of a role done by its plugin, and by the fallback for the rest of
// the run when that one is missing or fails for another reason than a limit.
func (a *taskRun) by(ctx context.Context, role string, work func(context.Context, *pluginenv.Lineup) (*pluginhost.Failure, error)) error {
	for {
		l := a.p.lineup(a.pluginEnv(), role)
		f, err := work(ctx, l)
		a.fire(context.WithoutCancel(ctx))
		switch {
		case f == nil && err == nil:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		}
		if why := failedItself(f, err); why != "" {
			ok, rerr := a.p.replace(role, l.Now(), why)
			if rerr != nil {
				return rerr
			}
			if ok {
				a.note(fmt.Sprintf("%s no longer does the %s in this run: %s", l.Now(), role, why))
				continue
			}
		}
		if err != nil {
			return err
		}
		return f.Diagnostic()
	}
}

// failedItself says why a plugin is to be replaced; "" when it is not to blame.
func failedItself(f *pluginhost.Failure, err error) string {
	if f != nil {
		return f.Summary
	}
	flt, ok := diag.As(err)
	if ok && (flt.Code == judge.BlockedPlugin || flt.Code == judge.BlockedAuth || flt.Code == judge.StopBuilderOutputInvalid) {
		return flt.What
	}
	return ""
}

// asking is one question of a step.
type asking struct {
	role, id string
	schema   []byte
	told     func(prompts.Call) (prompts.Data, error)
	read     func(text []byte) error // why an answer is none
}

// maxAsked is how often a question is asked whose answer has not its form.
const maxAsked = 2

// ask gets an answer that has its form.
func (a *taskRun) ask(ctx context.Context, q asking) (*modelcall.Answer, error) {
	var got *modelcall.Answer
	err := a.by(ctx, q.role, func(ctx context.Context, l *pluginenv.Lineup) (*pluginhost.Failure, error) {
		who, retry := strings.ReplaceAll(l.Now().Name, "/", "-"), ""
		for n := 1; ; n++ {
			system, user, err := a.words(q.role, retry, q.told)
			if err != nil {
				return nil, diag.Wrap(err, judge.BlockedMissingConfig, "the prompt of the "+q.role+" can't be made", "`ls -l "+diag.Word(a.p.env.WS.Prompts())+"` has texts of your own")
			}
			cfg := a.p.env.Config.Pipeline
			ans, f, err := a.calls().Ask(ctx, l, modelcall.Question{ID: fmt.Sprintf("%s-%s-%s-%d", a.record.Attempt, q.id, who, n), Role: q.role, System: system, User: user,
				Schema: q.schema, MaxUSD: cfg.MaxCallUSD, Limit: time.Duration(cfg.CallTimeoutSeconds) * time.Second, LimitKey: "pipeline.call_timeout_seconds", Paid: true})
			var why error
			switch {
			case err != nil:
				return nil, err
			case f != nil && f.Cause == pluginhost.Reported && f.Reason == pluginpb.Failure_REASON_BAD_OUTPUT:
				why = f
			case f != nil:
				return f, nil
			default:
				why = q.read([]byte(ans.Text))
			}
			if why == nil {
				got = ans
				return nil, nil
			}
			if n == maxAsked {
				return nil, diag.Wrap(why, judge.StopBuilderOutputInvalid, fmt.Sprintf("%s returned an invalid %s twice", l.Now(), q.role), "`relay task show "+a.record.TaskID+"`")
			}
			a.note(fmt.Sprintf("%s returned an invalid %s (%s) and is asked once more", l.Now(), q.role, why))
			retry = why.Error()
		}
	})
	return got, err
}
