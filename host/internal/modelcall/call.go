package modelcall

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/paxiom/relay/host/internal/journal"
	"github.com/paxiom/relay/host/internal/ledger"
	"github.com/paxiom/relay/host/internal/pluginenv"
	"github.com/paxiom/relay/host/internal/pluginhost"
	"github.com/paxiom/relay/host/internal/progress"
	"github.com/paxiom/relay/sdk/pluginpb"
)

// call is one request on its way through the ledger.
type call struct {
	question string // the id of what is asked
	role     string
	model    string
	maxUSD   float64
	rpc      string
	free     bool // it asks no vendor, so it has no turn to wait for
	json     bool // the answer is held to a schema
	// send makes the request under this id and says how it came out.
	send func(id string) (outcome, *pluginhost.Failure)
	// keep stores what was bought, before the ledger hears of it; may be nil.
	keep func(h Hold, u ledger.Usage) error
	// next numbers the request; nil counts in memory.
	next func() (int, error)
}

// outcome is what a request came to, of a provider or of a builder; a nil one knows nothing.
type outcome interface {
	GetModel() string
	GetUsage() *pluginpb.Usage
	GetStopReason() string
}

// pay makes one request: admitted and reserved before it is sent, settled after. One that
// met a limit and bought nothing was no call, nor was one for which no vendor was asked: it
// counts against no budget.
func (d *Caller) pay(ctx context.Context, p *pluginenv.Plugin, c call) (*pluginhost.Failure, error) {
	if !c.free {
		f, err := d.Plugins().Admit(ctx, p.Entry.Name, c.role, c.rpc, func(wait time.Duration) {
			d.Show(progress.Event{Kind: progress.Plugin, Plugin: p.Entry.Name, Text: "waits " + wait.Round(time.Second).String() + " for its turn under calls_per_minute"})
		})
		if f != nil || err != nil {
			return f, err
		}
	}
	d.sayDoubts(p)
	n, err := d.number(c)
	if err != nil {
		return nil, err
	}
	id := fmt.Sprintf("%s-%d", c.question, n)
	hold, err := d.Reserve(ledger.Call{ID: id, RunID: d.RunID, Role: c.role, Provider: p.Entry.Name, Model: c.model, MaxUSD: c.maxUSD})
	if err != nil {
		return nil, err
	}
	began := d.now()
	done, f := c.send(id)
	took := d.now().Sub(began)
	if f != nil {
		p.Failed(f)
		if free(f) {
			d.tell(p, c, took, f, ledger.Line{}, "")
			return f, hold.Cancel()
		}
		use := p.Used("", pluginenv.Bought(f), "failed")
		d.tell(p, c, took, f, hold.Line(use), "")
		return f, d.settle(hold, use)
	}
	use := p.Used(done.GetModel(), done.GetUsage(), "ok")
	d.tell(p, c, took, nil, hold.Line(use), done.GetStopReason())
	if c.keep != nil {
		if err := c.keep(hold, use); err != nil {
			return nil, err
		}
		journal.Reached(d.Workflow + ".stored")
	}
	return nil, d.settle(hold, use)
}

// tell says that a call came back.
func (d *Caller) tell(p *pluginenv.Plugin, c call, took time.Duration, f *pluginhost.Failure, l ledger.Line, stop string) {
	one := &progress.Call{Role: c.role, Build: c.rpc == "Build", Asked: c.model, Model: l.Model, JSON: c.json, Stop: stop, Usage: Used(l)}
	if f != nil {
		one.Failed = f.Word()
	}
	d.Show(progress.Event{Kind: progress.Called, Plugin: p.Entry.Name, Elapsed: took, Made: one})
}

// Used is what a call used, as it is shown during a run.
func Used(l ledger.Line) progress.Usage {
	return progress.Usage{InputTokens: l.InputTokens, OutputTokens: l.OutputTokens, CacheReadTokens: l.CacheReadTokens,
		CacheWriteTokens: l.CacheWriteTokens, ReasoningTokens: l.ReasoningTokens, CostUSD: l.CostUSD}
}

// sayDoubts notes, once, that a plugin takes part that nothing pins, or that its publisher has
// withdrawn.
func (d *Caller) sayDoubts(p *pluginenv.Plugin) {
	text := ""
	switch e := p.Entry; {
	case e.Unpinned != "":
		text = fmt.Sprintf("unpinned: plugin %s took part, which nothing pins (%s)", e.Name, e.Unpinned)
	case e.Withdrawn != "":
		text = fmt.Sprintf("plugin %s %s was %s", e.Name, e.Version, e.Withdrawn)
	default:
		return
	}
	d.mu.Lock()
	told := d.doubted[p.Entry.Name]
	if d.doubted == nil {
		d.doubted = map[string]bool{}
	}
	d.doubted[p.Entry.Name] = true
	d.mu.Unlock()
	if !told {
		d.Note(text)
	}
}

func (d *Caller) settle(h Hold, u ledger.Usage) error {
	if d.Spent != nil {
		d.Spent(h.Line(u))
	}
	return h.Settle(u)
}

// number counts the requests of a question, so that each has an id of its own.
func (d *Caller) number(c call) (int, error) {
	if c.next != nil {
		return c.next()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.sent == nil {
		d.sent = map[string]int{}
	}
	d.sent[c.question]++
	return d.sent[c.question], nil
}

// free: the vendor refused before it did anything, or was not asked at all.
func free(f *pluginhost.Failure) bool {
	d := pluginhost.Decide(f)
	return (d.Passes || d.Unasked) && f.Effect == pluginpb.Failure_EFFECT_NONE && f.Usage.GetCostMicrousd() == 0
}

var errPaid = errors.New("only what costs nothing is repeated without asking the budget")

// patience repeats what the one table of failures allows, and says so. paid lets calls be
// repeated that cost something.
func (d *Caller) patience(c pluginenv.Choice, paid bool) pluginhost.RetryOptions {
	return pluginhost.RetryOptions{
		Allow: func(f *pluginhost.Failure, _ pluginhost.Decision) error {
			if paid || free(f) {
				return nil
			}
			return errPaid
		},
		Notice: func(f *pluginhost.Failure, _ pluginhost.Decision, wait time.Duration) {
			d.Show(progress.Event{Kind: progress.Notice, Text: fmt.Sprintf("%s: %s; it is asked again in %s", c, f.Summary, wait.Round(100*time.Millisecond))})
		},
	}
}

// Timeout bounds a call; key is the configuration's name of the bound.
func Timeout(ctx context.Context, limit time.Duration, key string) (context.Context, context.CancelFunc) {
	if limit <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, limit, fmt.Errorf("there was no answer within %.0f s (%s)", limit.Seconds(), key))
}
