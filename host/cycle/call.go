package cycle

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/paxiom/relay/host/internal/catalog"
	"github.com/paxiom/relay/host/internal/format"
	"github.com/paxiom/relay/host/internal/ledger"
	"github.com/paxiom/relay/host/internal/modelcall"
	"github.com/paxiom/relay/host/internal/pluginenv"
	"github.com/paxiom/relay/host/internal/pluginhost"
	"github.com/paxiom/relay/host/internal/progress"
	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/sdk/pluginpb"
)

// CallFacts is one paid call in state.json.
type CallFacts struct {
	ID         string   `json:"id"`
	Iteration  int      `json:"iteration"`
	Role       string   `json:"role"` // audit_a, refinement, revision, …
	Provider   string   `json:"provider"`
	Model      string   `json:"model,omitempty"`
	Conforming *bool    `json:"conforming,omitempty"` // whether the answer had its form; null when it was never looked at
	InTokens   *int64   `json:"input_tokens"`
	OutTokens  *int64   `json:"output_tokens"`
	CostUSD    *float64 `json:"cost_usd"`
	MS         int64    `json:"ms"`
}

// ask is one question to a model.
type ask struct {
	role     string // in the cycle
	of       string // the approval that it belongs to; "" before there is one
	provider string // as the service names it
	model    string
	fallback []string // who is asked while they meet limits
	system   string
	user     string
	try      int // 1, or 2 with the format reminder
}

// answer is what a model answered, and what that took.
type answer struct {
	text  string
	stop  string
	facts *CallFacts
	other bool // another one than the service names stood in
}

// openCaller gives the cycle what makes all its calls. Answers are kept there,
// so that one that has arrived is never bought again.
func (c *Cycle) openCaller() *modelcall.Caller {
	reserve := modelcall.Reserved(c.reserved)
	return &modelcall.Caller{Workflow: Kind, RunID: c.rec.UUID, Plugins: c.pluginEnv, Now: c.env.now,
		Start:   func(_ context.Context, name string) (*pluginenv.Plugin, error) { return c.startPlugin(name) },
		Answers: c.answers(),
		Reserve: func(k ledger.Call) (modelcall.Hold, error) {
			h, err := reserve(k)
			if err == nil {
				c.log(fmt.Sprintf("call %s %s %s %s asked", k.ID, k.Role, k.Provider, k.Model))
			}
			return h, err
		},
		Show: c.show, Note: c.note, Spent: c.spent,
		Switched: func(all []report.Switch) {
			for _, s := range all {
				c.log(fmt.Sprintf("switch %s: %s met %s, %s is used instead", s.From.Role, pluginenv.Choice{Name: s.From.Provider, Model: s.From.Model}, s.From.Reason, pluginenv.Choice{Name: s.ToProvider, Model: s.ToModel}))
			}
		},
		Answered: func(req *pluginpb.CompleteRequest, _ *pluginpb.CompleteDone, f *pluginhost.Failure) {
			if f != nil {
				c.log(fmt.Sprintf("call %s failed: %s", req.GetCallId(), f.Summary))
			}
		}}
}

func (c *Cycle) answers() modelcall.Answers { return modelcall.Answers{Dir: c.path(callsDir)} }

// show passes on what happens in its calls; what the operator should know is logged.
func (c *Cycle) show(e progress.Event) {
	if e.Kind == progress.Notice {
		c.log("notice " + e.Text)
	}
	c.observe(e)
}

// spent hears of each call that is settled.
func (c *Cycle) spent(line ledger.Line) {
	c.mu.Lock()
	c.used.Add(modelcall.Used(line))
	c.mu.Unlock()
	c.observe(progress.Event{Kind: progress.Spent, Call: line.CallID})
	c.log(fmt.Sprintf("call %s %s %s, tokens in %s out %s, cost %s", line.CallID, line.Provider, line.Outcome, number(line.InputTokens), number(line.OutputTokens), format.Dollars(line.CostUSD)))
}

// alert says how near the caps are.
func (c *Cycle) alert() {
	_, alerts, err := c.reserved.Standings()
	if err != nil {
		return
	}
	for _, text := range alerts {
		c.log("alert " + text)
		c.observe(progress.Event{Kind: progress.Notice, Text: "budget: " + text})
	}
}

// callID is the same whenever the same is asked for. What is asked for after the first
// gate depends on the plan, so it is asked for anew with every approval.
func (c *Cycle) callID(a ask) string {
	role := a.role
	if a.of != "" {
		role += "-" + a.of[:8]
	}
	return fmt.Sprintf("%s-%d-%s-%d", c.rec.UUID, c.rec.Iteration, role, a.try)
}

// call gives the answer to a question: the one that is kept, or a new one.
func (c *Cycle) call(ctx context.Context, a ask) (*answer, error) {
	rules := c.rec.ConfigSnapshot.Cycle
	ans, f, err := c.caller.Ask(ctx, c.lineup(a), modelcall.Question{ID: c.callID(a), Role: a.role, System: a.system, User: a.user,
		MaxUSD: rules.MaxCallUSD, Limit: time.Duration(rules.TimeoutSeconds) * time.Second, LimitKey: "cycle.timeout_seconds", Paid: true})
	if f != nil {
		err = f.Diagnostic()
	}
	if err != nil {
		return nil, err
	}
	c.alert()
	return c.answerOf(ans, a), nil
}

// covered refuses what the caps leave no first call for, whomever of these it goes to.
// command is what goes over the cap.
func (c *Cycle) covered(command string, providers ...string) (err error) {
	c.reserved.Again = command
	for _, name := range providers {
		if err = c.reserved.Covers(ledger.Call{RunID: c.rec.UUID, Provider: catalog.Canonical(name), MaxUSD: c.rec.ConfigSnapshot.Cycle.MaxCallUSD}); err == nil {
			return nil
		}
	}
	return err
}

// auditorsCovered is covered for a round of audits.
func (c *Cycle) auditorsCovered(command string) error {
	var all []string
	for _, a := range c.rec.ConfigSnapshot.Auditors() {
		all = append(all, a.Provider)
	}
	return c.covered(command, all...)
}

func (c *Cycle) lineup(a ask) *pluginenv.Lineup {
	return c.pluginEnv().Lineup(a.role, a.provider, a.model, a.fallback)
}

func (c *Cycle) answerOf(ans *modelcall.Answer, a ask) *answer {
	f := &CallFacts{ID: ans.ID, Iteration: c.rec.Iteration, Role: a.role, Provider: ans.Provider, Model: ans.Model, MS: ans.MS}
	if catalog.Canonical(a.provider) == ans.Provider {
		f.Provider = a.provider // as the service names it
	}
	if ans.Line != nil {
		f.InTokens, f.OutTokens, f.CostUSD = ans.Line.InputTokens, ans.Line.OutputTokens, ans.Line.CostUSD
	}
	text := strings.TrimRight(ans.Text, "\n") + "\n"
	if a.role != "revision" { // whose files are what they are; the others are for people to read
		text = report.SafeLines(text)
	}
	return &answer{text: text, stop: ans.Stop, facts: f, other: ans.Fallback}
}

// count adds a call to the record. A call counts once, whatever number of times its
// facts come along.
func (c *Cycle) count(calls ...*CallFacts) {
	for _, f := range calls {
		if f == nil {
			continue
		}
		known := false
		for i := range c.rec.Calls {
			if c.rec.Calls[i].ID == f.ID {
				known = true
				c.rec.Calls[i].Conforming = f.Conforming
			}
		}
		if known {
			continue
		}
		c.rec.Calls = append(c.rec.Calls, *f)
		if f.InTokens != nil {
			c.rec.Tokens[f.Provider+"_in"] += *f.InTokens
		}
		if f.OutTokens != nil {
			c.rec.Tokens[f.Provider+"_out"] += *f.OutTokens
		}
	}
}

// AddUp takes over what the ledger knows of the cycle's calls, those without an answer
// among them.
func (r *Record) AddUp(ws *workspace.Workspace) error {
	all, err := ledger.AllTotals(ws)
	if err != nil {
		return err
	}
	sum := all.Of(ledger.ByCycle, r.UUID)
	r.CallsMade, r.CostUSD, r.UnknownCalls = sum.Calls, sum.CostUSD, sum.UnknownCalls
	return nil
}

// startPlugin gives the plugin of a provider, one for all its calls in this process.
func (c *Cycle) startPlugin(provider string) (*pluginenv.Plugin, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p := c.plugins[provider]; p != nil {
		return p, nil
	}
	p, err := c.pluginEnv().Provider(provider, c.git)
	if err != nil {
		return nil, err
	}
	c.plugins[provider] = p
	return p, nil
}

func (c *Cycle) pluginEnv() pluginenv.Env { return c.at().PluginEnv(c.rec.UUID, c.path("plugins")) }

func (c *Cycle) closePlugins(ctx context.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for name, p := range c.plugins {
		p.Close(ctx)
		delete(c.plugins, name)
	}
}

func number(n *int64) string {
	if n == nil {
		return "?"
	}
	return fmt.Sprint(*n)
}
