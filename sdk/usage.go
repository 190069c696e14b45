package sdk

import "github.com/paxiom/relay/sdk/pluginpb"

// Count is a number that may be unknown. The zero Count is unknown, which is not 0.
type Count struct {
	n     int64
	known bool
}

// Known makes a Count that is known to be n. An n that no call can have used, negative or
// more than 2^40, is unknown.
func Known(n int64) Count { return Count{n, n >= 0 && n <= 1<<40} }

// Value gives the number, and whether it is known.
func (c Count) Value() (n int64, known bool) { return c.n, c.known }

// Plus adds two counts. Unknown plus something is that something: use it to sum what
// is known, not to claim a total.
func (c Count) Plus(d Count) Count { return Count{c.n + d.n, c.known || d.known} }

func (c Count) proto() *int64 {
	if !c.known {
		return nil
	}
	return &c.n
}

// Usage is what one call has used so far: cumulative, never going down. A Count that
// is not set is unknown; a plugin never writes 0 for what it does not know.
type Usage struct {
	Input        Count // tokens, without those that came from the cache
	Output       Count // tokens, with the reasoning ones
	CacheRead    Count // tokens
	CacheWrite   Count // tokens
	Reasoning    Count // tokens, a part of Output
	CostMicroUSD Count // millionths of a US dollar
	Estimated    bool  // CostMicroUSD is a guess
}

func (u Usage) proto() *pluginpb.Usage {
	return &pluginpb.Usage{
		InputTokens: u.Input.proto(), OutputTokens: u.Output.proto(),
		CacheReadTokens: u.CacheRead.proto(), CacheWriteTokens: u.CacheWrite.proto(),
		ReasoningTokens: u.Reasoning.proto(), CostMicrousd: u.CostMicroUSD.proto(), Estimated: u.Estimated,
	}
}

// max takes, field by field, the larger of two; known beats unknown.
func (u Usage) max(v Usage) Usage {
	larger := func(a, b Count) Count {
		if !a.known || b.known && b.n > a.n {
			return b
		}
		return a
	}
	out := Usage{
		Input: larger(u.Input, v.Input), Output: larger(u.Output, v.Output),
		CacheRead: larger(u.CacheRead, v.CacheRead), CacheWrite: larger(u.CacheWrite, v.CacheWrite),
		Reasoning: larger(u.Reasoning, v.Reasoning), CostMicroUSD: larger(u.CostMicroUSD, v.CostMicroUSD),
		Estimated: u.Estimated,
	}
	if v.CostMicroUSD.known && out.CostMicroUSD == v.CostMicroUSD {
		out.Estimated = v.Estimated
	}
	return out
}
