package cycle

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/paxiom/relay/host/fault"
	"github.com/paxiom/relay/host/internal/crew"
	"github.com/paxiom/relay/host/internal/journal"
	"github.com/paxiom/relay/host/internal/ledger"
	"github.com/paxiom/relay/host/internal/pluginhost"
	"github.com/paxiom/relay/host/internal/progress"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/judge"
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
	provider string // as the service names it
	model    string
	system   string
	user     string
	try      int // 1, or 2 with the format reminder
}

// stored is calls/<id>.json: what was asked, and the answer once it is there.
type stored struct {
	ID       string     `json:"id"`
	Role     string     `json:"role"`
	Provider string     `json:"provider"`
	Model    string     `json:"model,omitempty"`
	Prompt   string     `json:"prompt_sha256"`
	AskedAt  time.Time  `json:"asked_at"`
	Tries    int        `json:"tries"` // how often it was sent
	Answered bool       `json:"answered"`
	Failed   string     `json:"failed,omitempty"` // why the last try gave nothing
	Text     string     `json:"text,omitempty"`
	Stop     string     `json:"stop_reason,omitempty"`
	Facts    *CallFacts `json:"facts,omitempty"`
	// Hold is the reservation that paid for the answer and Usage what it used, for a
	// ledger that a crash kept from hearing it.
	Hold  string        `json:"hold,omitempty"`
	Usage *ledger.Usage `json:"usage,omitempty"`

	path string
}

func (s *stored) write() error { return workspace.WriteJSON(s.path, s) }

func (c *Cycle) callID(a ask) string {
	return fmt.Sprintf("%s-%d-%s-%d", c.rec.UUID, c.rec.Iteration, a.role, a.try)
}

// call gives the answer to a question: the stored one, or a new one. It is written
// down before it is asked, and the answer before it is used, so that an answer that
// has arrived is never bought again.
func (c *Cycle) call(ctx context.Context, a ask) (*stored, error) {
	id := c.callID(a)
	path := filepath.Join(c.path(callsDir), id+".json")
	s := &stored{path: path, ID: id, Role: a.role, Provider: a.provider, Model: a.model, Prompt: hashOf([]byte(a.system + "\x00" + a.user))}
	old, err := readStored(path)
	if err != nil {
		return nil, err
	}
	if old != nil {
		s.Tries = old.Tries
		switch {
		case old.Answered:
			return old, nil
		case old.Failed == "":
			c.note(fmt.Sprintf("the call %s (%s) was under way when relay ended, and its answer is lost; it is asked again and may be charged twice", id, a.provider))
		}
	}
	if err := c.env.WS.MkdirAll(filepath.Dir(path)); err != nil {
		return nil, err
	}
	s.AskedAt, s.Tries = c.env.now().UTC(), s.Tries+1
	if err := s.write(); err != nil {
		return nil, err
	}
	fail := c.send(ctx, a, s)
	if fail == nil {
		journal.Reached("cycle.answered")
		return s, nil
	}
	if s.Answered || ctx.Err() != nil && s.Facts == nil {
		return nil, fail // it is stored, or nobody knows: the next attempt says so
	}
	s.Failed = fail.Error()
	if err := s.write(); err != nil {
		return nil, err
	}
	return nil, fail
}

// kept gives what a reserved call used, where its answer was stored before a crash.
func (c *Cycle) kept(hold string) *ledger.Usage {
	files, _ := filepath.Glob(filepath.Join(c.path(callsDir), "*.json"))
	for _, f := range files {
		if s, err := readStored(f); err == nil && s != nil && s.Answered && s.Hold == hold {
			return s.Usage
		}
	}
	return nil
}

// send asks the provider, within the caps, as often as the one table of failures
// allows.
func (c *Cycle) send(ctx context.Context, a ask, s *stored) error {
	p, err := c.hire(a.provider)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, time.Duration(c.rec.ConfigSnapshot.Cycle.TimeoutSeconds)*time.Second, errors.New("there was no answer within cycle.timeout_seconds"))
	defer cancel()
	open, err := p.Lazy.Get(ctx)
	if err != nil {
		return notOpened(err)
	}
	var refused error
	f := pluginhost.Retry(ctx, pluginhost.RetryOptions{Notice: func(f *pluginhost.Failure, _ pluginhost.Decision, wait time.Duration) {
		c.note(fmt.Sprintf("%s: %s; it is asked again in %s", a.provider, f.Summary, wait.Round(time.Second)))
	}}, func(ctx context.Context, n int) *pluginhost.Failure {
		var f *pluginhost.Failure
		f, refused = c.sendOnce(ctx, open, p, a, s, n)
		return f
	})
	switch {
	case refused != nil:
		return refused
	case f != nil && ctx.Err() != nil && f.Cause == pluginhost.Cancelled:
		f.Detail = context.Cause(ctx).Error()
		return f.Fault()
	case f != nil:
		return f.Fault()
	}
	return nil
}

func (c *Cycle) sendOnce(ctx context.Context, open *pluginhost.Plugin, p *crew.Plugin, a ask, s *stored, n int) (*pluginhost.Failure, error) {
	most := c.rec.ConfigSnapshot.Cycle.MaxCallUSD
	f, err := c.crewEnv().Admit(ctx, p.Entry.Name, a.role, "Complete", func(wait time.Duration) {
		c.note(fmt.Sprintf("%s has its turn in %s: the rate of its account is shared by all that this machine runs", s.ID, wait.Round(time.Second)))
	})
	if f != nil || err != nil {
		return f, err
	}
	hold, err := c.tab.Reserve(ledger.Call{ID: fmt.Sprintf("%s-%d-%d", s.ID, s.Tries, n+1), RunID: c.rec.UUID, Role: a.role, Provider: p.Entry.Name, Model: a.model, MaxUSD: most})
	if err != nil {
		return nil, err
	}
	c.log(fmt.Sprintf("call %s %s %s %s asked", s.ID, a.role, p.Entry.Name, a.model))
	began := c.env.now()
	req := &pluginpb.CompleteRequest{CallId: s.ID, Role: a.role, Model: a.model, System: a.system, MaxCostMicrousd: int64(most * 1e6),
		Parts: []*pluginpb.Part{{Part: &pluginpb.Part_Text{Text: a.user}}}}
	journal.Reached("cycle.asked")
	done, f := open.Complete(ctx, req, func(e *pluginpb.CompleteEvent) { c.onAnswer(a.provider, e) })
	took := c.env.now().Sub(began).Milliseconds()
	if f != nil {
		p.Failed(f)
		err = c.settle(hold, p, s, a, "", crew.Bought(f), "failed", took)
		c.log(fmt.Sprintf("call %s %s failed after %d ms: %s", s.ID, a.provider, took, f.Summary))
		return f, err
	}
	s.Answered, s.Failed, s.Text, s.Stop = true, "", strings.TrimRight(done.GetText(), "\n")+"\n", done.GetStopReason()
	return nil, c.settle(hold, p, s, a, done.GetModel(), done.GetUsage(), "ok", took)
}

// settle writes down what a call used: with its answer, in the ledger, and in the cycle's
// sums. The answer comes first: one that the ledger does not know of yet is no loss, one
// that only the ledger knows of would be bought again.
func (c *Cycle) settle(hold *ledger.Hold, p *crew.Plugin, s *stored, a ask, model string, u *pluginpb.Usage, outcome string, ms int64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	use := p.Used(model, u, outcome)
	line := hold.Line(use)
	s.Hold, s.Usage = hold.ID(), &use
	s.Facts = &CallFacts{ID: s.ID, Iteration: c.rec.Iteration, Role: a.role, Provider: a.provider, Model: line.Model, InTokens: line.InputTokens, OutTokens: line.OutputTokens, CostUSD: line.CostUSD, MS: ms}
	if s.Answered {
		if err := s.write(); err != nil {
			return err
		}
		journal.Reached("cycle.stored")
	}
	if err := hold.Settle(use); err != nil {
		return err
	}
	crew.Add(&c.used.InputTokens, line.InputTokens)
	crew.Add(&c.used.OutputTokens, line.OutputTokens)
	crew.Add(&c.used.CostUSD, line.CostUSD)
	c.observe(progress.Event{Kind: progress.Spent})
	if outcome == "ok" {
		c.log(fmt.Sprintf("call %s %s answered in %d ms, tokens in %s out %s, cost %s", s.ID, a.provider, ms, number(line.InputTokens), number(line.OutputTokens), dollars(line.CostUSD)))
	}
	if _, alerts, err := c.tab.Standings(); err == nil && len(alerts) > 0 {
		for _, text := range alerts {
			c.log("alert " + text)
			c.observe(progress.Event{Kind: progress.Notice, Text: "budget: " + text})
		}
	}
	return nil
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
		crew.Add(&c.rec.CostUSD, f.CostUSD)
		if f.CostUSD == nil {
			c.rec.UnknownCalls++
		}
	}
}

// hire gives the plugin of a provider, one for all its calls in this process.
func (c *Cycle) hire(provider string) (*crew.Plugin, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p := c.crew[provider]; p != nil {
		return p, nil
	}
	p, err := c.crewEnv().Provider(provider, c.git)
	if err != nil {
		return nil, err
	}
	c.crew[provider] = p
	return p, nil
}

func (c *Cycle) crewEnv() crew.Env {
	return crew.Env{Catalog: c.env.Catalog, Config: c.env.Config, Root: c.git.Root, Repo: c.env.Root, StateDir: c.env.StateDir, Home: c.env.Home,
		Version: c.env.Version, RunID: c.rec.UUID, StderrDir: c.path("plugins")}
}

func (c *Cycle) closeCrew(ctx context.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for name, p := range c.crew {
		p.Close(ctx)
		delete(c.crew, name)
	}
}

func (c *Cycle) onAnswer(provider string, e *pluginpb.CompleteEvent) {
	switch ev := e.Event.(type) {
	case *pluginpb.CompleteEvent_Notice:
		c.observe(progress.Event{Kind: progress.Plugin, Plugin: provider, Text: ev.Notice.GetText()})
	case *pluginpb.CompleteEvent_TextDelta:
		c.observe(progress.Event{Kind: progress.Plugin, Plugin: provider, Text: "answering"})
	}
}

func notOpened(err error) error {
	if f, ok := fault.As(err); ok {
		return f
	}
	var f *pluginhost.Failure
	if errors.As(err, &f) {
		return f.Fault()
	}
	return fault.Internal(err)
}

func readStored(path string) (*stored, error) {
	b, err := workspace.ReadFile(path, 64<<20)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	s := &stored{}
	if err == nil {
		err = json.Unmarshal(b, s)
	}
	if err != nil {
		return nil, fault.Wrap(err, judge.BlockedCrashRecovery, "a stored answer can't be read", "`mv "+fault.Word(path)+" "+fault.Word(path+".damaged")+"`: the call is then made again")
	}
	return s, nil
}

func number(n *int64) string {
	if n == nil {
		return "?"
	}
	return fmt.Sprint(*n)
}

func dollars(usd *float64) string {
	if usd == nil {
		return "unknown"
	}
	return fmt.Sprintf("$%.4f", *usd)
}
