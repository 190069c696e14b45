package tick

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/ledger"
	"github.com/paxiom/relay/host/internal/modelcall"
	"github.com/paxiom/relay/host/internal/pluginhost"
	"github.com/paxiom/relay/host/internal/progress"
	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/host/internal/task"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/prompts"
	"github.com/paxiom/relay/sdk/pluginpb"
	"github.com/paxiom/relay/sdk/script"
)

// calls is where the paid calls of this tick are made. Ticks keep no answers: one that a
// crash cut off is a new tick.
func (r *run) calls() *modelcall.Caller {
	if r.caller == nil {
		r.caller = &modelcall.Caller{Workflow: "tick", RunID: r.rep.RunID, Plugins: r.pluginEnv, Start: r.chooseProvider, Reserve: modelcall.Milestone(r.book),
			Show: r.observe, Note: r.note, Spent: r.spent, Answered: r.record, Now: r.now,
			Switched: func(s []report.Switch) { r.rep.Switches = append(r.rep.Switches, s...) }}
	}
	return r.caller
}

// call asks the orchestrator, and whom its fallback names while one after the other
// meets a limit. When nobody answers, the verdict is that of the first.
func (r *run) call(ctx context.Context, data prompts.OrchestratorData) (string, *pluginhost.Failure, error) {
	system, user, err := prompts.Render(data)
	if err != nil {
		return "", nil, diag.Wrap(err, judge.BlockedMissingConfig, "the orchestrator's prompt can't be made", "`relay config show orchestrator` names its files")
	}
	if r.brains == nil {
		r.brains = r.orchestrators()
	}
	o := r.cfg.Orchestrator
	a, f, err := r.calls().Ask(ctx, r.brains, modelcall.Question{ID: r.rep.RunID + "-orchestrator", Role: ledger.RoleOrchestrator, System: system, User: user,
		Schema: task.Schema(r.builders()), MaxTurns: o.MaxTurns, MaxUSD: o.MaxBudgetUSD, FallbackModel: r.cfg.Models.OrchestratorFallbackModel,
		Idle:  time.Duration(o.IdleTimeoutSeconds) * time.Second,
		Limit: time.Duration(o.TimeoutSeconds) * time.Second, LimitKey: "orchestrator.timeout_seconds"})
	if err != nil || f != nil {
		return "", f, r.callEnd(ctx, err)
	}
	r.masked = a.Masked
	return a.Text, nil, nil
}

// callEnd is the verdict of a call that ended without an answer.
func (r *run) callEnd(ctx context.Context, err error) error {
	if limited, ok := errors.AsType[*modelcall.Limited](err); ok {
		r.rep.Limits = limited.Limits
		return limited.Diagnostic(func(when string) string {
			return "`" + cmp.Or(r.o.Command, "relay run") + "` " + when + "; `relay loop` waits for it by itself"
		})
	}
	return interrupted(ctx, err)
}

// spent adds what a call used to the run.
func (r *run) spent(u ledger.Line) {
	r.used.Add(modelcall.Used(u))
	r.observe(progress.Event{Kind: progress.Spent, Call: u.CallID})
}

// record keeps an answer as a script for the provider that replays.
func (r *run) record(req *pluginpb.CompleteRequest, done *pluginpb.CompleteDone, f *pluginhost.Failure) {
	if r.o.RecordDir == "" || f != nil && f.Cause != pluginhost.Reported {
		return // a broken plugin is no answer of a model
	}
	var sent *pluginpb.Failure
	if f != nil {
		sent = f.Sent
	}
	if _, err := script.Append(r.o.RecordDir, script.Record(req, done, sent)); err != nil {
		r.note("the call could not be recorded: " + err.Error())
	}
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
