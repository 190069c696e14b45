package host

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/paxiom/relay/host/fault"
	"github.com/paxiom/relay/host/internal/ledger"
)

// CostOptions choose calls and how they are added up.
type CostOptions struct {
	By    string        // "run", "day", "provider", "model" or "milestone"; "" is "day"
	Since time.Duration // only calls of that last while; 0 takes all
}

// CostLine adds up the calls of one group. null is what nobody knows: a sum is that of
// the calls that said so, and Unknown counts the others.
type CostLine struct {
	Name          string   `json:"name"` // of the group; "" where the calls name none
	Calls         int      `json:"calls"`
	CostUSD       *float64 `json:"cost_usd"` // of the calls whose cost is known
	UnknownCalls  int      `json:"unknown_cost_calls"`
	UnknownMaxUSD float64  `json:"unknown_max_usd"` // what those were allowed to cost, as far as that was limited
	EstimatedUSD  float64  `json:"estimated_usd"`   // the part of CostUSD that no vendor reported
	InputTokens   *int64   `json:"input_tokens"`
	OutputTokens  *int64   `json:"output_tokens"`
	CacheTokens   *int64   `json:"cache_tokens"` // read from and written to the cache
}

// CostResult is what the calls of this workspace have cost.
type CostResult struct {
	Doc
	By    string     `json:"by"`
	Since *time.Time `json:"since,omitempty"`
	Lines []CostLine `json:"lines"`
	Total CostLine   `json:"total"`
}

// costGroups name the group of a call.
var costGroups = map[string]func(ledger.Line) string{
	"run":       func(l ledger.Line) string { return l.RunID },
	"day":       func(l ledger.Line) string { return l.At.Local().Format(time.DateOnly) },
	"provider":  func(l ledger.Line) string { return l.Provider },
	"model":     func(l ledger.Line) string { return l.Model },
	"milestone": func(l ledger.Line) string { return l.MilestoneID },
}

// Cost adds up usage.jsonl. Runs and days come newest first, the others dearest first.
func (r *Repo) Cost(_ context.Context, o CostOptions) (*CostResult, error) {
	if o.By == "" {
		o.By = "day"
	}
	group, ok := costGroups[o.By]
	if !ok {
		return nil, fault.New("", "calls can't be added up by \""+Safe(o.By)+"\"", "it is run, day, provider, model or milestone", "`relay cost --by day`")
	}
	repo, err := r.open()
	if err != nil {
		return nil, err
	}
	res := &CostResult{Doc: Doc{"relay.cost", 1}, By: o.By, Lines: []CostLine{}, Total: CostLine{Name: "total"}}
	if o.Since > 0 {
		since := time.Now().Add(-o.Since).UTC()
		res.Since = &since
	}
	sums := map[string]*CostLine{}
	err = ledger.Usages(repo.ws, func(l ledger.Line) error {
		if res.Since != nil && l.At.Before(*res.Since) {
			return nil
		}
		name := group(l)
		if sums[name] == nil {
			sums[name] = &CostLine{Name: name}
		}
		sums[name].add(l)
		res.Total.add(l)
		return nil
	})
	if err != nil {
		return nil, fault.Wrap(err, "", "usage.jsonl can't be read", "`ls -l "+fault.Word(repo.ws.Usage())+"`")
	}
	for _, line := range sums {
		res.Lines = append(res.Lines, *line)
	}
	byName := func(a, b CostLine) int { return cmp.Compare(b.Name, a.Name) }
	if o.By != "run" && o.By != "day" {
		byName = func(a, b CostLine) int {
			return cmp.Or(cmp.Compare(b.dollars(), a.dollars()), cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Name, b.Name))
		}
	}
	slices.SortFunc(res.Lines, byName)
	return res, nil
}

func (c *CostLine) dollars() float64 {
	if c.CostUSD == nil {
		return c.UnknownMaxUSD
	}
	return *c.CostUSD + c.UnknownMaxUSD
}

func (c *CostLine) add(l ledger.Line) {
	c.Calls++
	plus(&c.CostUSD, l.CostUSD)
	plus(&c.InputTokens, l.InputTokens)
	plus(&c.OutputTokens, l.OutputTokens)
	plus(&c.CacheTokens, l.CacheReadTokens)
	plus(&c.CacheTokens, l.CacheWriteTokens)
	switch {
	case l.CostUSD == nil:
		c.UnknownCalls++
		c.UnknownMaxUSD += l.MaxUSD
	case l.CostBasis != ledger.BasisReported:
		c.EstimatedUSD += *l.CostUSD
	}
}

// plus adds what is known; a sum of nothing known stays unknown.
func plus[N int64 | float64](sum **N, n *N) {
	if n == nil {
		return
	}
	total := *n
	if *sum != nil {
		total += **sum
	}
	*sum = &total
}
