package modelcall

import (
	"context"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/paxiom/relay/host/internal/journal"
	"github.com/paxiom/relay/host/internal/ledger"
	"github.com/paxiom/relay/host/internal/pluginenv"
	"github.com/paxiom/relay/host/internal/pluginhost"
	"github.com/paxiom/relay/host/internal/progress"
	"github.com/paxiom/relay/sdk/pluginpb"
)

// Question is one question to the providers of a role.
type Question struct {
	ID           string // the same whenever it is asked, and for no other question of the workspace
	Role         string
	System, User string
	Schema       []byte // of the answer, for providers that can be held to one
	MaxTurns     int
	MaxUSD       float64
	Idle, Limit  time.Duration // longest silence, and time for the whole call; 0: none
	LimitKey     string        // the configuration's name of Limit
	// FallbackModel is the one that the first choice may take by itself.
	FallbackModel string
	// Paid lets a call be repeated that failed and cost something, where the one table
	// allows it.
	Paid bool
}

// Ask gives the answer to a question: the one that is kept, or that of the first of the
// lineup that gives one.
func (d *Caller) Ask(ctx context.Context, l *pluginenv.Lineup, q Question) (*Answer, *pluginhost.Failure, error) {
	a, err := d.open(q)
	if err != nil || a.Answered {
		return a, nil, err
	}
	f, err := d.Through(ctx, l, func(ctx context.Context, c pluginenv.Choice) (*pluginhost.Failure, error) {
		return d.consult(ctx, q, c, a)
	}, nil)
	if f == nil && err == nil {
		return a, nil, nil
	}
	return nil, f, firstError(err, d.failed(ctx, a, f, err))
}

func firstError(err, more error) error {
	if err != nil {
		return err
	}
	return more
}

// consult asks one provider: within its time, a short limit is waited for and asked again.
func (d *Caller) consult(ctx context.Context, q Question, c pluginenv.Choice, a *Answer) (f *pluginhost.Failure, err error) {
	p, err := d.Start(ctx, c.Name)
	if err != nil {
		return nil, err
	}
	ctx, cancel := Timeout(ctx, q.Limit, q.LimitKey)
	defer cancel()
	if end, ok := ctx.Deadline(); ok {
		d.Show(progress.Event{Kind: progress.Limit, Plugin: p.Entry.Name, Text: "call", Until: end})
	}
	f = pluginhost.Retry(ctx, d.patience(c, q.Paid), func(ctx context.Context, _ int) (f *pluginhost.Failure) {
		f, err = d.complete(ctx, p, q, c, a)
		if err != nil {
			return nil
		}
		return f
	})
	return f, err
}

// complete makes one request to a provider.
func (d *Caller) complete(ctx context.Context, p *pluginenv.Plugin, q Question, c pluginenv.Choice, a *Answer) (*pluginhost.Failure, error) {
	open, err := p.Lazy.Get(ctx)
	if err != nil {
		return nil, NotOpened(p, err)
	}
	req := q.request(c)
	if open.Info().GetCapabilities().GetOutputSchema() {
		req.OutputSchemaJson = q.Schema
	}
	began := d.now()
	return d.pay(ctx, p, call{question: q.ID, role: q.Role, model: c.Model, maxUSD: q.MaxUSD, rpc: "Complete", next: d.nextOf(a, c),
		json: len(req.OutputSchemaJson) > 0,
		send: func(id string) (outcome, *pluginhost.Failure) {
			req.CallId = id
			journal.Reached(d.Workflow + ".asked")
			done, f := open.Complete(ctx, req, func(e *pluginpb.CompleteEvent) { d.onAnswer(p, id, e) })
			journal.Reached(d.Workflow + ".answered")
			if d.Answered != nil {
				d.Answered(req, done, f)
			}
			switch {
			case f == nil:
				a.take(done)
				a.Masked = open.Masked(done)
			case f.Cause == pluginhost.Cancelled && ctx.Err() != nil:
				f.Detail = context.Cause(ctx).Error()
			}
			return done, f
		},
		keep: func(h Hold, u ledger.Usage) error { return d.keep(a, c, h, u, began) }})
}

func (q Question) request(c pluginenv.Choice) *pluginpb.CompleteRequest {
	req := &pluginpb.CompleteRequest{Role: q.Role, Model: c.Model, System: q.System,
		Parts:    []*pluginpb.Part{{Part: &pluginpb.Part_Text{Text: q.User}}},
		MaxTurns: int32(q.MaxTurns), MaxCostMicrousd: int64(q.MaxUSD * 1e6)}
	if q.Idle > 0 {
		req.IdleTimeout = durationpb.New(q.Idle)
	}
	if c.First {
		req.FallbackModel = q.FallbackModel
	}
	return req
}

// take keeps what was answered.
func (a *Answer) take(done *pluginpb.CompleteDone) {
	a.Answered, a.Failed, a.Stop = true, "", done.GetStopReason()
	a.Text = string(done.GetOutputJson())
	if a.Text == "" {
		a.Text = strings.TrimSpace(done.GetText())
	}
}

// onAnswer shows what the model is doing. Its text decides nothing.
func (d *Caller) onAnswer(p *pluginenv.Plugin, call string, e *pluginpb.CompleteEvent) {
	switch ev := e.Event.(type) {
	case *pluginpb.CompleteEvent_Notice:
		d.Show(progress.Event{Kind: progress.Plugin, Plugin: p.Entry.Name, Text: ev.Notice.GetText()})
	case *pluginpb.CompleteEvent_TextDelta:
		d.Show(progress.Event{Kind: progress.Plugin, Plugin: p.Entry.Name, Text: "answering"})
	case *pluginpb.CompleteEvent_Usage:
		d.using(p, call, ev.Usage)
	}
}

// using shows what a call has used until now. The ledger counts it when the call ends.
func (d *Caller) using(p *pluginenv.Plugin, call string, u *pluginpb.Usage) {
	soon := progress.Usage{InputTokens: u.InputTokens, OutputTokens: u.OutputTokens,
		CacheReadTokens: u.CacheReadTokens, CacheWriteTokens: u.CacheWriteTokens, ReasoningTokens: u.ReasoningTokens}
	if u.CostMicrousd != nil {
		usd := float64(*u.CostMicrousd) / 1e6
		soon.CostUSD = &usd
	}
	d.Show(progress.Event{Kind: progress.Spent, Plugin: p.Entry.Name, Call: call, Soon: soon})
}
