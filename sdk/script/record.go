package script

import (
	"encoding/json"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/paxiom/relay/sdk/pluginpb"
)

// Record turns a finished call into a script call for requests of the same role.
// Exactly one of done and failed is not nil.
func Record(r *pluginpb.CompleteRequest, done *pluginpb.CompleteDone, failed *pluginpb.Failure) Call {
	c := Call{Asked: AskedOf(r)}
	if role := r.GetRole(); role != "" {
		c.When = &When{Role: role}
	}
	if failed != nil {
		c.Failure = failureFrom(failed)
		c.Usage = UsageFrom(failed.GetUsage())
		return c
	}
	c.Answer = &Answer{Text: done.GetText(), StopReason: done.GetStopReason(), Model: done.GetModel()}
	if out := done.GetOutputJson(); json.Valid(out) {
		c.Answer.Output = json.RawMessage(out)
	}
	c.Usage = UsageFrom(done.GetUsage())
	return c
}

// UsageFrom is the usage as it is written in a script; nil stays nil.
func UsageFrom(u *pluginpb.Usage) *Usage {
	if u == nil {
		return nil
	}
	return &Usage{
		InputTokens: u.InputTokens, OutputTokens: u.OutputTokens,
		CacheReadTokens: u.CacheReadTokens, CacheWriteTokens: u.CacheWriteTokens,
		ReasoningTokens: u.ReasoningTokens, CostMicroUSD: u.CostMicrousd, Estimated: u.GetEstimated(),
	}
}

// Proto is the usage as a plugin reports it; nil stays nil.
func (u *Usage) Proto() *pluginpb.Usage {
	if u == nil {
		return nil
	}
	return &pluginpb.Usage{
		InputTokens: u.InputTokens, OutputTokens: u.OutputTokens,
		CacheReadTokens: u.CacheReadTokens, CacheWriteTokens: u.CacheWriteTokens,
		ReasoningTokens: u.ReasoningTokens, CostMicrousd: u.CostMicroUSD, Estimated: u.Estimated,
	}
}

func failureFrom(f *pluginpb.Failure) *Failure {
	out := &Failure{
		Reason: strings.TrimPrefix(f.GetReason().String(), "REASON_"), Summary: f.GetSummary(),
		Detail: f.GetDetail(), Fix: f.GetFix(), LimitName: f.GetLimitName(),
		UpstreamErr: f.GetUpstreamCode(), UpstreamID: f.GetUpstreamRequestId(),
		RetryAfter: Duration(f.GetRetryAfter().AsDuration()),
	}
	if e := f.GetEffect(); e != pluginpb.Failure_EFFECT_UNSPECIFIED {
		out.Effect = strings.TrimPrefix(e.String(), "EFFECT_")
	}
	if t := f.GetResetAt(); t != nil {
		at := t.AsTime()
		out.ResetAt = &at
	}
	return out
}

// Proto is the failure as a plugin reports it at the given moment. An effect
// that is not written is NONE.
func (f *Failure) Proto(now time.Time) *pluginpb.Failure {
	out := &pluginpb.Failure{
		Reason: reason(f.Reason), Summary: f.Summary, Detail: f.Detail, Fix: f.Fix,
		LimitName: f.LimitName, UpstreamCode: f.UpstreamErr, UpstreamRequestId: f.UpstreamID,
		Effect: pluginpb.Failure_EFFECT_NONE,
	}
	if f.Effect != "" {
		out.Effect = effect(f.Effect)
	}
	if f.RetryAfter > 0 {
		out.RetryAfter = durationpb.New(time.Duration(f.RetryAfter))
	}
	switch {
	case f.ResetAt != nil:
		out.ResetAt = timestamppb.New(*f.ResetAt)
	case f.ResetIn > 0:
		out.ResetAt = timestamppb.New(now.Add(time.Duration(f.ResetIn)))
	}
	return out
}

// Proto is the limit as a plugin reports it at the given moment; nil stays nil.
func (l *Limit) Proto(now time.Time) *pluginpb.RateLimit {
	if l == nil {
		return nil
	}
	out := &pluginpb.RateLimit{Name: l.Name, Limit: l.Limit, Remaining: l.Remaining, UsedFraction: l.UsedFraction}
	if l.ResetIn > 0 {
		out.ResetAt = timestamppb.New(now.Add(time.Duration(l.ResetIn)))
	}
	return out
}
