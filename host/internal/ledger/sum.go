package ledger

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
	plus(&s.CostUSD, u.CostUSD)
	plus(&s.InputTokens, u.InputTokens)
	plus(&s.OutputTokens, u.OutputTokens)
	plus(&s.CacheTokens, u.CacheReadTokens)
	plus(&s.CacheTokens, u.CacheWriteTokens)
	if u.InputTokens == nil && u.OutputTokens == nil {
		s.Untold++
	}
	switch {
	case u.CostUSD == nil:
		s.unknown(u.MaxUSD)
	case u.CostBasis != BasisReported:
		s.EstimatedUSD += *u.CostUSD
	}
}

// unknown counts a call that may cost up to max; 0: nothing limits it.
func (s *Sum) unknown(max float64) {
	s.UnknownCalls++
	s.UnknownMaxUSD += max
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
	s.UnknownMaxUSD += o.UnknownMaxUSD
	s.EstimatedUSD += o.EstimatedUSD
	s.Boundless += o.Boundless
	s.Untold += o.Untold
	plus(&s.CostUSD, o.CostUSD)
	plus(&s.InputTokens, o.InputTokens)
	plus(&s.OutputTokens, o.OutputTokens)
	plus(&s.CacheTokens, o.CacheTokens)
}

// Most is the most that the calls may have cost, as far as there is a limit.
func (s Sum) Most() float64 {
	if s.CostUSD == nil {
		return s.UnknownMaxUSD
	}
	return *s.CostUSD + s.UnknownMaxUSD
}

// Tokens are all that were reported.
func (s Sum) Tokens() int64 {
	return count(s.InputTokens) + count(s.OutputTokens) + count(s.CacheTokens)
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
