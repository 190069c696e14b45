package pluginenv

import (
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/paxiom/relay/host/internal/ledger"
	"github.com/paxiom/relay/host/internal/pluginhost"
	"github.com/paxiom/relay/sdk/pluginpb"
)

// Used says what a call used as the ledger wants to know it, and adds it to the
// plugin's part in the run. u is nil when nobody said.
func (p *Plugin) Used(model string, u *pluginpb.Usage, outcome string) ledger.Usage {
	use := ledger.Usage{Model: model, Outcome: outcome}
	if u != nil {
		use.InputTokens, use.OutputTokens = u.InputTokens, u.OutputTokens
		use.CacheReadTokens, use.CacheWriteTokens, use.ReasoningTokens = u.CacheReadTokens, u.CacheWriteTokens, u.ReasoningTokens
		use.CostUSD, use.CostIsEstimate = dollars(u.CostMicrousd), u.Estimated
	}
	p.part.Lock()
	defer p.part.Unlock()
	w := p.Worker
	w.Calls++
	if model != "" {
		w.Model = model
	}
	ledger.Plus(&w.InputTokens, use.InputTokens)
	ledger.Plus(&w.OutputTokens, use.OutputTokens)
	ledger.Plus(&w.CostUSD, use.CostUSD)
	return use
}

// Bought is what a failed call used: nothing when the plugin says that nothing was
// charged, otherwise what it reports, which may be unknown.
func Bought(f *pluginhost.Failure) *pluginpb.Usage {
	if f.Effect != pluginpb.Failure_EFFECT_NONE || f.Usage.GetCostMicrousd() != 0 {
		return f.Usage
	}
	return &pluginpb.Usage{InputTokens: proto.Int64(0), OutputTokens: proto.Int64(0), CostMicrousd: proto.Int64(0)}
}

func dollars(micro *int64) *float64 {
	if micro == nil {
		return nil
	}
	usd := float64(*micro) / 1e6
	return &usd
}

// Failed puts what a failure says about itself into the plugin's part in the run.
func (p *Plugin) Failed(f *pluginhost.Failure) {
	p.part.Lock()
	defer p.part.Unlock()
	w := p.Worker
	if f.StderrPath != "" {
		f.StderrPath = p.words.name() // of this run, whenever the plugin was started
	}
	w.FailureReason = f.Word()
	w.FailureDetail, w.UpstreamCode, w.UpstreamRequest = f.Summary, f.UpstreamCode, f.UpstreamRequestID
	if f.Detail != "" {
		w.FailureDetail += ": " + f.Detail
	}
	if !f.ResetAt.IsZero() {
		w.ResetAt = f.ResetAt.UTC().Format(time.RFC3339)
	}
}
