package scripted

import (
	"time"

	"github.com/paxiom/relay/sdk"
	"github.com/paxiom/relay/sdk/pluginpb"
	"github.com/paxiom/relay/sdk/script"
)

// Failure converts; f is valid. Times that are counted from the moment of the call are
// counted from now.
func Failure(f *script.Failure, now time.Time) *sdk.Failure {
	out := &sdk.Failure{
		Reason:  sdk.Reason(pluginpb.Failure_Reason_value["REASON_"+f.Reason]),
		Summary: f.Summary, Detail: f.Detail, Fix: f.Fix, LimitName: f.LimitName,
		RetryAfter: time.Duration(f.RetryAfter), UpstreamCode: f.UpstreamCode, UpstreamRequestID: f.UpstreamRequestID,
		Effect: sdk.EffectNone,
	}
	if f.Effect != "" {
		out.Effect = sdk.Effect(pluginpb.Failure_Effect_value["EFFECT_"+f.Effect])
	}
	switch {
	case f.ResetAt != nil:
		out.ResetAt = *f.ResetAt
	case f.ResetIn > 0:
		out.ResetAt = now.Add(time.Duration(f.ResetIn))
	}
	return out
}
