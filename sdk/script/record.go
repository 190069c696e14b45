package script

import (
	"encoding/json"
	"strings"

	"github.com/paxiom/relay/sdk/pluginpb"
)

// Record turns a finished call into a script call for requests of the same role.
// Exactly one of done and failed is not nil.
func Record(r *pluginpb.CompleteRequest, done *pluginpb.CompleteDone, failed *pluginpb.Failure) Call {
	c := Call{Asked: RequestOf(r).Asked()}
	if role := r.GetRole(); role != "" {
		c.When = &When{Role: role}
	}
	if failed != nil {
		c.Failure = failureOf(failed)
		c.Usage = usageOf(failed.GetUsage())
		return c
	}
	c.Answer = &Answer{Text: done.GetText(), StopReason: done.GetStopReason(), Model: done.GetModel()}
	if out := done.GetOutputJson(); json.Valid(out) {
		c.Answer.Output = json.RawMessage(out)
		if json.Valid([]byte(c.Answer.Text)) {
			c.Answer.Text = "" // the same once more
		}
	}
	c.Usage = usageOf(done.GetUsage())
	return c
}

func usageOf(u *pluginpb.Usage) *Usage {
	if u == nil {
		return nil
	}
	return &Usage{
		InputTokens: u.InputTokens, OutputTokens: u.OutputTokens,
		CacheReadTokens: u.CacheReadTokens, CacheWriteTokens: u.CacheWriteTokens,
		ReasoningTokens: u.ReasoningTokens, CostMicroUSD: u.CostMicrousd, Estimated: u.GetEstimated(),
	}
}

func failureOf(f *pluginpb.Failure) *Failure {
	out := &Failure{
		Reason: strings.TrimPrefix(f.GetReason().String(), "REASON_"), Summary: f.GetSummary(),
		Detail: f.GetDetail(), Fix: f.GetFix(), LimitName: f.GetLimitName(),
		UpstreamCode: f.GetUpstreamCode(), UpstreamRequestID: f.GetUpstreamRequestId(),
		RetryAfter: Duration(f.GetRetryAfter().AsDuration()),
		Effect:     strings.TrimPrefix(f.GetEffect().String(), "EFFECT_"),
	}
	if f.GetEffect() == pluginpb.Failure_EFFECT_UNSPECIFIED {
		out.Effect = "UNKNOWN"
	}
	if t := f.GetResetAt(); t != nil {
		at := t.AsTime()
		out.ResetAt = &at
	}
	return out
}
