package claudecli

import (
	"encoding/json"
	"math"

	"github.com/paxiom/relay/sdk"
)

// resultEvent is the last word of a run; there may be several, the last counts.
type resultEvent struct {
	Subtype        string                `json:"subtype"`
	IsError        *bool                 `json:"is_error"` // nil: not a result that we know
	Result         *string               `json:"result"`
	Errors         []string              `json:"errors"`
	Structured     json.RawMessage       `json:"structured_output"`
	Status         *int                  `json:"api_error_status"`
	APIErrorType   string                `json:"api_error_type"`
	APIError       string                `json:"api_error"`
	TerminalReason string                `json:"terminal_reason"`
	StopReason     string                `json:"stop_reason"`
	Session        string                `json:"session_id"`
	CostUSD        *float64              `json:"total_cost_usd"`
	Models         map[string]modelUsage `json:"modelUsage"`
	Denials        []denial              `json:"permission_denials"`
}

// modelUsage is cumulative over the run, unlike the result's own usage.
type modelUsage struct {
	Input      int64  `json:"inputTokens"`
	Output     int64  `json:"outputTokens"`
	CacheRead  int64  `json:"cacheReadInputTokens"`
	CacheWrite int64  `json:"cacheCreationInputTokens"`
	Thinking   *int64 `json:"thinkingTokens"`
	CostBasis  string `json:"costBasis"` // "list" when the price is known
}

type denial struct {
	Tool  string `json:"tool_name"`
	Input input  `json:"tool_input"`
}

func (s *Stream) end(b []byte) []Event {
	s.results++
	s.result = resultEvent{}
	if err := json.Unmarshal(b, &s.result); err != nil {
		s.stray = err.Error()
		s.result = resultEvent{} // without is_error: not recognized
		return nil
	}
	if len(s.result.Structured) > 0 && string(s.result.Structured) != "null" {
		s.structured = s.result.Structured
	}
	if s.result.Models != nil {
		s.past, s.now, s.message = s.result.usage(), sdk.Usage{}, ""
	}
	return s.usage()
}

// usage is the total of the run. The cost counts only where the program knew the
// price of every model; otherwise it guesses, and unknown is better than a guess.
func (r resultEvent) usage() sdk.Usage {
	var in, out, read, write, thinking int64
	thinkingKnown, priced := true, r.CostUSD != nil
	for _, m := range r.Models {
		in, out, read, write = in+m.Input, out+m.Output, read+m.CacheRead, write+m.CacheWrite
		priced = priced && m.CostBasis == "list"
		if m.Thinking == nil {
			thinkingKnown = false
			continue
		}
		thinking += *m.Thinking
	}
	u := sdk.Usage{Input: sdk.Known(in), Output: sdk.Known(out), CacheRead: sdk.Known(read), CacheWrite: sdk.Known(write)}
	if thinkingKnown {
		u.Reasoning = sdk.Known(thinking)
	}
	if priced {
		u.CostMicroUSD = sdk.Known(int64(math.Ceil(*r.CostUSD*1e6 - 1e-6)))
	}
	return u
}

// answeredBy is the model with the most output; a fallback shows only here.
func (r resultEvent) answeredBy() string {
	best, most := "", int64(-1)
	for name, m := range r.Models {
		if m.Output > most || m.Output == most && name < best {
			best, most = name, m.Output
		}
	}
	return best
}

type tokenUsage struct {
	Input      *int64 `json:"input_tokens"`
	Output     *int64 `json:"output_tokens"`
	CacheRead  *int64 `json:"cache_read_input_tokens"`
	CacheWrite *int64 `json:"cache_creation_input_tokens"`
}

// sdk converts; whole says that the output is complete. The one that comes with
// the start of a message is not, and is left unknown.
func (t tokenUsage) sdk(whole bool) sdk.Usage {
	u := sdk.Usage{Input: count(t.Input), CacheRead: count(t.CacheRead), CacheWrite: count(t.CacheWrite)}
	if whole {
		u.Output = count(t.Output)
	}
	return u
}

func count(n *int64) sdk.Count {
	if n == nil {
		return sdk.Count{}
	}
	return sdk.Known(*n)
}

func plus(a, b sdk.Usage) sdk.Usage {
	return sdk.Usage{
		Input: a.Input.Plus(b.Input), Output: a.Output.Plus(b.Output),
		CacheRead: a.CacheRead.Plus(b.CacheRead), CacheWrite: a.CacheWrite.Plus(b.CacheWrite),
		Reasoning: a.Reasoning.Plus(b.Reasoning), CostMicroUSD: a.CostMicroUSD.Plus(b.CostMicroUSD),
	}
}

// newer takes what b knows, and the rest from a.
func newer(a, b sdk.Usage) sdk.Usage {
	pick := func(a, b sdk.Count) sdk.Count {
		if _, known := b.Value(); known {
			return b
		}
		return a
	}
	return sdk.Usage{
		Input: pick(a.Input, b.Input), Output: pick(a.Output, b.Output),
		CacheRead: pick(a.CacheRead, b.CacheRead), CacheWrite: pick(a.CacheWrite, b.CacheWrite),
		Reasoning: pick(a.Reasoning, b.Reasoning), CostMicroUSD: pick(a.CostMicroUSD, b.CostMicroUSD),
	}
}
