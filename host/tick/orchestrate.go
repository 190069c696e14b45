package tick

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/paxiom/relay/host/fault"
	"github.com/paxiom/relay/host/internal/catalog"
	"github.com/paxiom/relay/host/internal/crew"
	"github.com/paxiom/relay/host/internal/journal"
	"github.com/paxiom/relay/host/internal/ledger"
	"github.com/paxiom/relay/host/internal/pluginhost"
	"github.com/paxiom/relay/host/internal/progress"
	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/host/internal/strictjson"
	"github.com/paxiom/relay/host/internal/task"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/prompts"
	"github.com/paxiom/relay/schemas"
	"github.com/paxiom/relay/sdk/pluginpb"
	"github.com/paxiom/relay/sdk/script"
)

// propose gets the task: from the operator's file, or from the orchestrator. The
// milestone is on disk before anything is built.
func (r *run) propose(ctx context.Context) error {
	err := r.enter(stateOrchestrate)
	if err == nil {
		err = r.book.Tick(r.rep.RunID)
	}
	if err == nil && r.o.Task != nil {
		err = r.takeTask()
	} else if err == nil {
		err = r.ask(ctx)
	}
	if err != nil {
		return err
	}
	t := r.task
	r.rep.Task = report.Task{TaskID: t.TaskID, MilestoneID: t.MilestoneID, TaskKind: string(t.Kind), Intent: t.Intent}
	if t.Question != nil && t.Kind == judge.Question {
		r.rep.Question = &report.Question{Prompt: t.Question.Prompt, Choices: t.Question.Choices}
	}
	if m := r.book.State().MilestoneID; m != nil {
		r.was = *m
	}
	if _, err := r.book.EnsureMilestone(t.MilestoneID); err != nil {
		return err
	}
	r.leave(t.TaskID + ": " + t.Intent)
	return r.writeFile(r.ws.Task(), r.taskJSON)
}

// builders are the names and aliases that a task's builder.mode may have.
func (r *run) builders() []string {
	var names []string
	for _, e := range r.env.Catalog.List() {
		if !e.Is(catalog.Builder) || e.Name == "patch" && !r.cfg.Builder.AllowPatchMode {
			continue
		}
		names = append(append(names, e.Name), e.Aliases...)
	}
	for _, alias := range []string{"claude_code", "cursor"} { // the seeds' names
		if slices.Contains(names, catalog.Canonical(alias)) && !slices.Contains(names, alias) {
			names = append(names, alias)
		}
	}
	return names
}

// accept parses a text as a task, under relay's schema and the operator's own.
func (r *run) accept(text []byte) error {
	t, err := task.Parse(text, task.Options{Builders: r.builders()})
	if err != nil {
		return err
	}
	own, err := workspace.ReadFile(r.inRepo(r.cfg.Orchestrator.TaskSchemaFile), 1<<20)
	if err == nil && !schemas.IsSeedTask(own) {
		if err := matches(own, text); err != nil {
			return fmt.Errorf("%s: %w", r.cfg.Orchestrator.TaskSchemaFile, err)
		}
	} else if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	r.task = t
	r.taskJSON, err = json.MarshalIndent(t, "", "  ")
	return err
}

// matches holds a document to a schema of the operator's, which can only narrow.
func matches(schema, doc []byte) error {
	s, err := schemas.Compile(schema)
	if err != nil {
		return err
	}
	tree, err := strictjson.Decode(doc, task.MaxBytes)
	if err != nil {
		return err
	}
	return s.Validate(tree)
}

// takeTask uses the operator's own task.
func (r *run) takeTask() error {
	if err := r.accept(r.o.Task); err != nil {
		name := r.o.TaskName
		if name == "" {
			name = "the file"
		}
		return fault.Wrap(err, judge.BlockedOrchestrator, name+" is not a valid task", "mend it, then `relay run --task "+name+"`")
	}
	return nil
}

// ask asks the orchestrator once, and once more when its answer was no task.
func (r *run) ask(ctx context.Context) error {
	if r.provider == nil { // it could not be warmed, which now counts
		if err := r.warmProvider(ctx); err != nil {
			return err
		}
	}
	r.rep.Orchestrator = r.provider.Worker
	data, err := r.promptData()
	if err != nil {
		return err
	}
	limit := 1 + r.cfg.Orchestrator.MaxParseRetriesPerTick
	for call := 1; ; call++ {
		text, f, err := r.call(ctx, data, call)
		if err != nil {
			return err
		}
		var reason error
		switch {
		case f == nil:
			reason = r.accept(text)
		case badOutput(f):
			reason = errors.New(f.Summary)
		case call < limit && mayRepeat(f): // a call that failed uses the same allowance
			r.note("the orchestrator's call failed and is made once more: " + f.Summary)
			if err := pause(ctx, pluginhost.Decide(f).After); err != nil {
				return interrupted(ctx, err)
			}
			continue
		default:
			return failed(ctx, f)
		}
		if reason == nil {
			_, err := r.book.TakeAnswers() // they have been heard
			return err
		}
		if call >= limit {
			return &fault.Fault{Code: judge.BlockedOrchestrator, What: "the orchestrator gave no valid task",
				Why: reason.Error(), Fix: "`relay show` has the answer's faults; try another model, or `relay run --task FILE`", Err: reason}
		}
		r.note("the first answer was no valid task: " + reason.Error())
		data.RetryReason = reason.Error()
	}
}

// call makes one orchestrator call: reserved before, settled after.
func (r *run) call(ctx context.Context, data prompts.OrchestratorData, n int) ([]byte, *pluginhost.Failure, error) {
	system, user, err := prompts.Orchestrator(data)
	if err != nil {
		return nil, nil, fault.Wrap(err, judge.BlockedMissingConfig, "the orchestrator's prompt can't be made", "`relay config show orchestrator` names its files")
	}
	ctx, cancel := r.timeout(ctx, r.cfg.Orchestrator.TimeoutSeconds, "orchestrator.timeout_seconds")
	defer cancel()
	p, err := r.provider.Lazy.Get(ctx)
	if err != nil {
		return nil, nil, r.notOpened(ctx, r.provider, err)
	}
	req := &pluginpb.CompleteRequest{CallId: fmt.Sprintf("%s-orchestrator-%d", r.rep.RunID, n), Role: "orchestrator",
		Model: r.cfg.Models.OrchestratorModel, FallbackModel: r.cfg.Models.OrchestratorFallbackModel,
		System: system, Parts: []*pluginpb.Part{{Part: &pluginpb.Part_Text{Text: user}}},
		MaxTurns: int32(r.cfg.Orchestrator.MaxTurns), MaxCostMicrousd: int64(r.cfg.Orchestrator.MaxBudgetUSD * 1e6),
		IdleTimeout: durationpb.New(time.Duration(r.cfg.Orchestrator.IdleTimeoutSeconds) * time.Second)}
	if p.Info().GetCapabilities().GetOutputSchema() {
		req.OutputSchemaJson = task.Schema(r.builders())
	}
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
	return &pluginpb.Failure{Reason: f.Reason, Effect: f.Effect, Summary: f.Summary, Detail: f.Detail, Fix: f.Fix,
		LimitName: f.LimitName, UpstreamCode: f.UpstreamCode, UpstreamRequestId: f.UpstreamRequestID, Usage: f.Usage,
		RetryAfter: durationpb.New(f.RetryAfter)}
}

func badOutput(f *pluginhost.Failure) bool {
	return f.Cause == pluginhost.Reported && f.Reason == pluginpb.Failure_REASON_BAD_OUTPUT
}

// mayRepeat: the one table allows it and nothing was bought.
func mayRepeat(f *pluginhost.Failure) bool {
	d := pluginhost.Decide(f)
	return d.Action == pluginhost.Again && f.Effect == pluginpb.Failure_EFFECT_NONE && d.After <= time.Minute
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// timeout bounds a call; key is the configuration's name of the bound.
func (r *run) timeout(ctx context.Context, seconds int, key string) (context.Context, context.CancelFunc) {
	if seconds <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, time.Duration(seconds)*time.Second, fmt.Errorf("there was no answer within %d s (%s)", seconds, key))
}

// promptData gathers what the orchestrator is told.
func (r *run) promptData() (prompts.OrchestratorData, error) {
	d := prompts.OrchestratorData{ProductName: r.cfg.ProductName, ProjectGoal: r.o.Goal, BudgetsSummary: r.book.Summary(),
		Facts: r.file(r.ws.Facts()), LastReport: r.file(r.ws.ReportMD()), Blocked: r.file(r.ws.Blocked()),
		GitStatus: r.gitStatus(), Builders: r.builders(), TaskSchema: task.Schema(r.builders()),
		DefaultAllowed: r.cfg.Scope.DefaultAllowedGlobs, DefaultForbidden: r.cfg.Scope.DefaultForbiddenGlobs,
		DefaultNewFiles: r.cfg.Scope.DefaultAllowNewFiles, DefaultLockfiles: r.cfg.Scope.DefaultAllowLockfileChanges,
		MaxFiles: r.cfg.DiffLimits.DefaultMaxFilesTouched, MaxLines: r.cfg.DiffLimits.DefaultMaxLinesChanged}
	if id := r.book.State().MilestoneID; id != nil {
		d.MilestoneID = *id
	}
	for _, t := range r.cfg.Verification.Templates {
		d.VerifyIDs = append(d.VerifyIDs, signature(t.ID, t.Params))
	}
	for _, a := range r.book.State().Answers {
		d.Answers = append(d.Answers, prompts.Answer{Question: a.Prompt, Answer: a.Answer})
	}
	var err error
	d.Override, err = prompts.LoadOverride(r.inRepo(r.cfg.Orchestrator.SystemPromptFile), r.inRepo(r.cfg.Orchestrator.UserPromptFile))
	if err != nil {
		return d, fault.Wrap(err, judge.BlockedMissingConfig, "a prompt of your own can't be used", "`relay config show orchestrator` names the files")
	}
	return d, nil
}

// gitStatus is the status of the preflight as text.
func (r *run) gitStatus() string {
	var b strings.Builder
	for _, e := range r.status {
		fmt.Fprintf(&b, "%c%c %s\n", e.Index, e.Work, e.Path)
	}
	return b.String()
}
