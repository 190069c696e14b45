package health

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/paxiom/relay/host/internal/history"
	"github.com/paxiom/relay/host/internal/ledger"
	"github.com/paxiom/relay/host/internal/pluginenv"
	"github.com/paxiom/relay/host/internal/pluginhost"
	"github.com/paxiom/relay/sdk/pluginpb"
)

const (
	// liveTokens leaves a model that thinks first some room for its one word.
	liveTokens  = 1024
	liveTimeout = 2 * time.Minute
	livePrompt  = "Answer with the one word: ready"
)

// ask asks a provider's model one tiny question, counted like any other call, and says
// what it cost.
func (c *Checkup) ask(ctx context.Context, m Member, p *pluginenv.Plugin, open *pluginhost.Plugin, res *Check) {
	ctx, cancel := context.WithTimeout(ctx, liveTimeout)
	defer cancel()
	id := history.NewRunID(time.Now())
	req := &pluginpb.CompleteRequest{CallId: id + "-doctor-" + p.Entry.Name, Role: "doctor", Model: m.Model, MaxTurns: 1, MaxOutputTokens: liveTokens,
		MaxCostMicrousd: int64(c.PluginEnv.Config.Orchestrator.MaxBudgetUSD * 1e6), IdleTimeout: durationpb.New(liveTimeout / 2),
		Parts: []*pluginpb.Part{{Part: &pluginpb.Part_Text{Text: livePrompt}}}}
	call := ledger.Call{ID: req.CallId, RunID: id, Role: req.Role, Provider: p.Entry.Name, Model: m.Model, MaxUSD: c.PluginEnv.Config.Orchestrator.MaxBudgetUSD}
	c.mu.Lock()
	paid, err := c.book.Reserve(call)
	c.mu.Unlock()
	if err != nil {
		res.Warnings = append(res.Warnings, "no live call was made: "+err.Error())
		return
	}
	begun := time.Now()
	done, f := open.Complete(ctx, req, nil)
	used := p.Used(done.GetModel(), done.GetUsage(), "ok")
	if f != nil {
		used = p.Used("", pluginenv.Bought(f), "failed")
	}
	c.mu.Lock()
	err = paid.Settle(used)
	c.mu.Unlock()
	if f != nil {
		*res = res.failed(f)
	} else {
		model := cmp.Or(done.GetModel(), m.Model)
		res.What += fmt.Sprintf("; %s answered in %.1f s, %s", model, time.Since(begun).Seconds(), c.price(model, used))
	}
	if err != nil {
		res.Warnings = append(res.Warnings, "the call could not be counted: "+err.Error())
	}
}

// price says in words what a call cost, or what is known instead.
func (c *Checkup) price(model string, u ledger.Usage) string {
	usd, basis, asOf := c.book.Cost(model, u)
	switch {
	case usd != nil && basis == ledger.BasisTable:
		return fmt.Sprintf("$%.4f by the prices of %s", *usd, asOf)
	case usd != nil:
		return fmt.Sprintf("$%.4f", *usd)
	case u.InputTokens != nil && u.OutputTokens != nil:
		return fmt.Sprintf("%d tokens in and %d out; what they cost is not known", *u.InputTokens, *u.OutputTokens)
	}
	return "what it cost is not known"
}
