package ledger

import "math"

// Sum adds up calls. What nobody knows is counted apart and is never 0: a pointer is
// nil until one call said so.
type Sum struct {
	Calls         int      `json:"calls"`
	CostUSD       *float64 `json:"cost_usd"` // of the calls whose cost is known
	UnknownCalls  int      `json:"unknown_cost_calls"`
	UnknownMaxUSD float64  `json:"unknown_max_usd"` // what those were allowed to cost, as far as that was limited
	EstimatedUSD  float64  `json:"estimated_usd"`   // the part of CostUSD that no vendor reported
	InputTokens   *int64   `json:"input_tokens"`
	OutputTokens  *int64   `json:"output_tokens"`
	CacheTokens   *int64   `json:"cache_tokens"` // read from and written to the cache
	// Boundless are the calls of unknown cost that nothing limited, Untold those that
	// reported no tokens.
	Boundless int `json:"boundless_calls,omitempty"`
	Untold    int `json:"unknown_token_calls,omitempty"`
}

// Add adds one call.
func (s *Sum) Add(u Line) {
	s.Calls++
	Plus(&s.CostUSD, u.CostUSD)
	Plus(&s.InputTokens, u.InputTokens)
	Plus(&s.OutputTokens, u.OutputTokens)
	Plus(&s.CacheTokens, u.CacheReadTokens)
	Plus(&s.CacheTokens, u.CacheWriteTokens)
	if u.InputTokens == nil && u.OutputTokens == nil {
		s.Untold++
	}
	switch {
	case u.CostUSD == nil:
		s.unknown(u.MaxUSD)
	case u.CostBasis != BasisReported:
		s.EstimatedUSD = Dollars(s.EstimatedUSD + *u.CostUSD)
	}
}

// unknown counts a call that may cost up to max; 0: nothing limits it.
func (s *Sum) unknown(max float64) {
	s.UnknownCalls++
	s.UnknownMaxUSD = Dollars(s.UnknownMaxUSD + max)
	if max == 0 {
		s.Boundless++
	}
}

// reserve adds a call that is not settled yet.
func (s *Sum) reserve(max float64) {
	s.Calls++
	s.unknown(max)
}

// Merge adds another sum.
func (s *Sum) Merge(o Sum) {
	s.Calls += o.Calls
	s.UnknownCalls += o.UnknownCalls
	s.UnknownMaxUSD = Dollars(s.UnknownMaxUSD + o.UnknownMaxUSD)
	s.EstimatedUSD = Dollars(s.EstimatedUSD + o.EstimatedUSD)
	s.Boundless += o.Boundless
	s.Untold += o.Untold
	Plus(&s.CostUSD, o.CostUSD)
	Plus(&s.InputTokens, o.InputTokens)
	Plus(&s.OutputTokens, o.OutputTokens)
	Plus(&s.CacheTokens, o.CacheTokens)
}

// Most is the most that the calls may have cost, as far as there is a limit.
func (s Sum) Most() float64 {
	if s.CostUSD == nil {
		return s.UnknownMaxUSD
	}
	return Dollars(*s.CostUSD + s.UnknownMaxUSD)
}

// Tokens are all that were reported.
func (s Sum) Tokens() int64 {
	return count(s.InputTokens) + count(s.OutputTokens) + count(s.CacheTokens)
}

// Plus adds what is known; a sum of nothing known stays unknown.
func Plus[N int64 | float64](sum **N, n *N) {
	if n == nil {
		return
	}
	total := *n
	if *sum != nil {
		total += **sum
	}
	if usd, ok := any(&total).(*float64); ok {
		*usd = Dollars(*usd)
	}
	*sum = &total
}

// Dollars is an amount without what adding binary fractions leaves in it: 0.025, not
// 0.024999999999999998. Every sum of money goes through here.
func Dollars(usd float64) float64 { return math.Round(usd*1e9) / 1e9 }
