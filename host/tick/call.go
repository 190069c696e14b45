package tick

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/paxiom/relay/host/fault"
	"github.com/paxiom/relay/host/internal/crew"
	"github.com/paxiom/relay/host/internal/journal"
	"github.com/paxiom/relay/host/internal/ledger"
	"github.com/paxiom/relay/host/internal/pluginhost"
	"github.com/paxiom/relay/host/internal/progress"
	"github.com/paxiom/relay/host/internal/task"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/prompts"
	"github.com/paxiom/relay/sdk/pluginpb"
	"github.com/paxiom/relay/sdk/script"
)

// call asks the orchestrator, and whom its fallback names while one after the other
// meets a limit. When nobody answers, the verdict is that of the first.
func (r *run) call(ctx context.Context, data prompts.OrchestratorData) ([]byte, *pluginhost.Failure, error) {
	if r.brains == nil {
		r.brains = r.orchestrators()
	}
	var first *pluginhost.Failure
	for ; ; r.brains.Next() {
		text, f, err := r.consult(ctx, data, r.brains.Now())
		if done, verdict := r.passOn(ctx, r.brains, &first, f, err); done {
			return text, f, err
		} else if verdict != nil {
			return nil, nil, verdict
		}
	}
}

// unusable tells a fallback that is not set up from one that has failed in its own way.
func unusable(f *pluginhost.Failure, err error) bool {
	if err != nil {
		flt, ok := fault.As(err)
		return ok && (flt.Code == judge.BlockedPlugin || flt.Code == judge.BlockedAuth || flt.Code == judge.BlockedBox)
	}
	return f != nil && pluginhost.Decide(f).Action == pluginhost.Block
}

func whyNot(f *pluginhost.Failure, err error) string {
	if err != nil {
		return fault.Internal(err).What
	}
	return f.Summary
}

// consult makes one orchestrator call at one provider: within its time, a short limit
// is waited for and asked again.
func (r *run) consult(ctx context.Context, data prompts.OrchestratorData, c crew.Choice) (text []byte, f *pluginhost.Failure, err error) {
	system, user, err := prompts.Orchestrator(data)
	if err != nil {
		return nil, nil, fault.Wrap(err, judge.BlockedMissingConfig, "the orchestrator's prompt can't be made", "`relay config show orchestrator` names its files")
	}
	if err := r.chooseProvider(ctx, c.Name); err != nil {
		return nil, nil, err
	}
	ctx, cancel := r.timeout(ctx, r.cfg.Orchestrator.TimeoutSeconds, "orchestrator.timeout_seconds")
	defer cancel()
	req := &pluginpb.CompleteRequest{Role: ledger.RoleOrchestrator, Model: c.Model,
		System: system, Parts: []*pluginpb.Part{{Part: &pluginpb.Part_Text{Text: user}}},
		MaxTurns: int32(r.cfg.Orchestrator.MaxTurns), MaxCostMicrousd: int64(r.cfg.Orchestrator.MaxBudgetUSD * 1e6),
		IdleTimeout: durationpb.New(time.Duration(r.cfg.Orchestrator.IdleTimeoutSeconds) * time.Second)}
	if c.First {
		req.FallbackModel = r.cfg.Models.OrchestratorFallbackModel
	}
	f = pluginhost.Retry(ctx, r.patience(c), func(ctx context.Context, _ int) (f *pluginhost.Failure) {
		text, f, err = r.complete(ctx, req, c)
		if err != nil {
			return nil
		}
		return f
	})
	return text, f, err
}

// complete makes one request to the open provider: reserved before, settled after.
func (r *run) complete(ctx context.Context, req *pluginpb.CompleteRequest, c crew.Choice) ([]byte, *pluginhost.Failure, error) {
	p, err := r.provider.Lazy.Get(ctx)
	if err != nil {
		return nil, nil, r.notOpened(ctx, r.provider, err)
	}
	if p.Info().GetCapabilities().GetOutputSchema() {
		req.OutputSchemaJson = task.Schema(r.builders())
	}
	if f, err := r.admit(ctx, c, req.Role, "Complete"); f != nil || err != nil {
		return nil, f, err
	}
	r.calls++
	req.CallId = fmt.Sprintf("%s-orchestrator-%d", r.rep.RunID, r.calls)
	res, err := r.book.Reserve(ledger.Call{ID: req.CallId, RunID: r.rep.RunID, Role: req.Role,
		Provider: r.provider.Entry.Name, Model: req.Model, MaxUSD: r.cfg.Orchestrator.MaxBudgetUSD})
	if err != nil {
		return nil, nil, err
	}
	journal.Reached("tick.asked")
	done, f := p.Complete(ctx, req, r.onAnswer)
	journal.Reached("tick.answered")
	if err := r.record(req, done, f); err != nil {
		r.note("the call could not be recorded: " + err.Error())
	}
	if f != nil {
		if f.Cause == pluginhost.Cancelled && ctx.Err() != nil {
			f.Detail = context.Cause(ctx).Error()
		}
		return nil, f, r.failedCall(res, r.provider, f)
	}
	text := done.GetOutputJson()
	if len(text) == 0 {
		text = []byte(strings.TrimSpace(done.GetText()))
	}
	return text, nil, r.spend(res, r.provider, done.GetModel(), done.GetUsage(), "ok")
}

// failedCall settles a call that failed. One that met a limit and bought nothing was no
// call: it counts against no budget.
func (r *run) failedCall(res *ledger.Reservation, p *crew.Plugin, f *pluginhost.Failure) error {
	p.Failed(f)
	if free(f) {
		return res.Cancel()
	}
	return r.spend(res, p, "", crew.Bought(f), "failed")
}

// free: the vendor refused before it did anything.
func free(f *pluginhost.Failure) bool {
	return pluginhost.Decide(f).Passes && f.Effect == pluginpb.Failure_EFFECT_NONE && f.Usage.GetCostMicrousd() == 0
}

var errPaid = errors.New("only what costs nothing is repeated without asking the budget")

// patience repeats what costs nothing, and says so.
func (r *run) patience(c crew.Choice) pluginhost.RetryOptions {
	return pluginhost.RetryOptions{
		Allow: func(f *pluginhost.Failure, _ pluginhost.Decision) error {
			if free(f) {
				return nil
			}
			return errPaid
		},
		Notice: func(f *pluginhost.Failure, _ pluginhost.Decision, wait time.Duration) {
			r.observe(progress.Event{Kind: progress.Notice, Text: fmt.Sprintf("%s: %s; it is asked again in %s", c, f.Summary, wait.Round(100*time.Millisecond))})
		},
	}
}

// notOpened says why a plugin could not be started, in the words of who knows it best.
func (r *run) notOpened(ctx context.Context, p *crew.Plugin, err error) error {
	if f, ok := fault.As(err); ok {
		return interrupted(ctx, f)
	}
	var fail *pluginhost.Failure
	if errors.As(err, &fail) {
		p.Failed(fail)
		return failed(ctx, fail)
	}
	return interrupted(ctx, internal(err))
}

// onAnswer shows what the model is doing. Its text decides nothing.
func (r *run) onAnswer(e *pluginpb.CompleteEvent) {
	switch ev := e.Event.(type) {
	case *pluginpb.CompleteEvent_Notice:
		r.observe(progress.Event{Kind: progress.Plugin, Plugin: r.provider.Entry.Name, Text: ev.Notice.GetText()})
	case *pluginpb.CompleteEvent_TextDelta:
		r.observe(progress.Event{Kind: progress.Plugin, Plugin: r.provider.Entry.Name, Text: "answering"})
	}
}

func (r *run) record(req *pluginpb.CompleteRequest, done *pluginpb.CompleteDone, f *pluginhost.Failure) error {
	if r.o.RecordDir == "" {
		return nil
	}
	if f != nil && f.Cause != pluginhost.Reported {
		return nil // a broken plugin is no answer of a model
	}
	_, err := script.Append(r.o.RecordDir, script.Record(req, done, wire(f)))
	return err
}

// wire gives a reported failure in the protocol's form.
func wire(f *pluginhost.Failure) *pluginpb.Failure {
	if f == nil {
		return nil
	}
	w := &pluginpb.Failure{Reason: f.Reason, Effect: f.Effect, Summary: f.Summary, Detail: f.Detail, Fix: f.Fix,
		LimitName: f.LimitName, UpstreamCode: f.UpstreamCode, UpstreamRequestId: f.UpstreamRequestID, Usage: f.Usage,
		RetryAfter: durationpb.New(f.RetryAfter)}
	if !f.ResetAt.IsZero() {
		w.ResetAt = timestamppb.New(f.ResetAt)
	}
	return w
}

func badOutput(f *pluginhost.Failure) bool {
	return f.Cause == pluginhost.Reported && f.Reason == pluginpb.Failure_REASON_BAD_OUTPUT
}

// mayRepeat: the one table allows it, nothing was bought, and it was not repeated yet.
func mayRepeat(f *pluginhost.Failure) bool {
	d := pluginhost.Decide(f)
	return d.Action == pluginhost.Again && !d.Passes && f.Effect == pluginpb.Failure_EFFECT_NONE && d.After <= time.Minute
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
