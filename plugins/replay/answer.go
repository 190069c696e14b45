package main

import (
	"cmp"
	"encoding/json"
	"time"

	"github.com/paxiom/relay/plugins/internal/scripted"
	"github.com/paxiom/relay/sdk"
	"github.com/paxiom/relay/sdk/script"
)

// request is what a script looks at in a request of the SDK.
func request(r *sdk.CompleteRequest) script.Request {
	out := script.Request{Role: r.Role, Model: r.Model, System: r.System, HasSchema: len(r.OutputSchema) > 0}
	for _, c := range r.Contents {
		part := script.Part{MediaType: c.MediaType, Data: c.Text}
		if c.MediaType != "" {
			part.Data = string(c.Data)
		}
		out.Parts = append(out.Parts, part)
	}
	return out
}

func modelOf(c *script.Call, r *sdk.CompleteRequest) string {
	if c.Answer.Model != "" {
		return c.Answer.Model
	}
	return r.Model
}

// answer gives the scripted answer. Where an output schema was asked for, the
// answer must at least be JSON; whether it fits is for the host to see, so that a
// script can hold an answer that does not.
func answer(c *script.Call, r *sdk.CompleteRequest, out sdk.Events) (*sdk.Completion, error) {
	a := c.Answer
	text := cmp.Or(a.Text, string(a.Output))
	out.Text(text)
	done := &sdk.Completion{Text: text, StopReason: a.StopReason, Model: modelOf(c, r), Usage: usage(c.Usage)}
	done.StopReason = cmp.Or(done.StopReason, "end_turn")
	if len(r.OutputSchema) == 0 {
		return done, nil
	}
	done.JSON = a.Output
	if len(done.JSON) == 0 {
		done.JSON = json.RawMessage(a.Text)
	}
	if !json.Valid(done.JSON) {
		return nil, sdk.Fail(sdk.BadOutput, "the scripted answer is not JSON, and an output schema was asked for",
			sdk.Detail(clip(text, 2000)), sdk.EffectCharged, sdk.Spent(done.Usage))
	}
	return done, nil
}

func failure(c *script.Call, now time.Time) error {
	out := scripted.Failure(c.Failure, now)
	out.Usage = usage(c.Usage)
	return out
}

func limit(l *script.Limit, now time.Time) sdk.RateLimit {
	out := sdk.RateLimit{Name: l.Name, Limit: l.Limit, Remaining: l.Remaining, UsedFraction: l.UsedFraction}
	if l.ResetIn > 0 {
		out.ResetAt = now.Add(time.Duration(l.ResetIn))
	}
	return out
}

func usage(u *script.Usage) sdk.Usage {
	if u == nil {
		return sdk.Usage{}
	}
	return sdk.Usage{
		Input: count(u.InputTokens), Output: count(u.OutputTokens), CacheRead: count(u.CacheReadTokens),
		CacheWrite: count(u.CacheWriteTokens), Reasoning: count(u.ReasoningTokens),
		CostMicroUSD: count(u.CostMicroUSD), Estimated: u.Estimated,
	}
}

func count(n *int64) sdk.Count {
	if n == nil {
		return sdk.Count{}
	}
	return sdk.Known(*n)
}
