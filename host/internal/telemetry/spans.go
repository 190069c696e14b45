package telemetry

import (
	"context"
	"regexp"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/paxiom/relay/host/internal/progress"
	"github.com/paxiom/relay/judge"
)

// relay's own attributes; the others are OpenTelemetry's.
const (
	keyRun     = attribute.Key("relay.run.id")
	keyCode    = attribute.Key("relay.code")
	keyVerdict = attribute.Key("relay.verdict")
	keyCost    = attribute.Key("relay.cost.usd")
	keyRole    = attribute.Key("relay.role")
	keyState   = attribute.Key("relay.state")
)

// run is a run under way.
type run struct {
	ctx   context.Context // of its span
	span  trace.Span
	state trace.Span // nil between two states
	inner context.Context
}

// Watch gives an observer that makes spans of a workflow's events and passes them on to
// next, which may be nil.
func (t *Tracer) Watch(workflow string, next progress.Observer) progress.Observer {
	if t == nil || t.provider == nil {
		return next
	}
	return progress.Func(func(e progress.Event) {
		t.observe(workflow, e)
		if next != nil {
			next.Observe(e)
		}
	})
}

func (t *Tracer) observe(workflow string, e progress.Event) {
	at := e.At
	if at.IsZero() {
		at = time.Now()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	switch e.Kind {
	case progress.Entered:
		r := t.run(workflow, e.RunID, at)
		r.leave(at)
		name := stateName(e.State)
		r.inner, r.state = t.tracer.Start(r.ctx, name, trace.WithTimestamp(at), trace.WithAttributes(keyState.String(name), keyRun.String(e.RunID)))
	case progress.Finished:
		if r := t.runs[e.RunID]; r != nil {
			r.leave(at)
		}
	case progress.Called:
		if e.Made != nil {
			t.call(t.run(workflow, e.RunID, at.Add(-e.Elapsed)), e, at)
		}
	case progress.Ended:
		if r := t.runs[e.RunID]; r != nil {
			r.span.SetAttributes(usage(e.Usage)...)
			r.verdict(e.Code)
			r.end(at)
			delete(t.runs, e.RunID)
		}
	}
}

// run gives the run of an id; its first event begins its span.
func (t *Tracer) run(workflow, id string, at time.Time) *run {
	if r := t.runs[id]; r != nil {
		return r
	}
	r := &run{}
	r.ctx, r.span = t.tracer.Start(t.parent, semconv.GenAIOperationNameInvokeWorkflow.Value.AsString()+" "+workflow, trace.WithTimestamp(at),
		trace.WithAttributes(semconv.GenAIOperationNameInvokeWorkflow, semconv.GenAIWorkflowName(workflow), keyRun.String(id)))
	r.inner = r.ctx
	t.runs[id] = r
	return r
}

// stateName is the state without the task that a pipeline names before it.
func stateName(state string) string { return state[strings.LastIndexByte(state, ' ')+1:] }

func (r *run) leave(at time.Time) {
	if r.state != nil {
		r.state.End(trace.WithTimestamp(at))
		r.state, r.inner = nil, r.ctx
	}
}

func (r *run) end(at time.Time) {
	r.leave(at)
	r.span.End(trace.WithTimestamp(at))
}

// verdict says how the run ended; a stop or a block is an error of the span.
func (r *run) verdict(code judge.Code) {
	if code == "" {
		return
	}
	r.span.SetAttributes(keyCode.String(string(code)), keyVerdict.String(string(code.Outcome())))
	if code != judge.Success {
		r.span.SetAttributes(semconv.ErrorTypeKey.String(string(code)))
		r.span.SetStatus(codes.Error, string(code))
	}
}

// call is the span of a call that has come back.
func (t *Tracer) call(r *run, e progress.Event, at time.Time) {
	c := e.Made
	about := append(usage(c.Usage), semconv.GenAIProviderNameKey.String(vendor(e.Plugin)), keyRole.String(c.Role), keyRun.String(e.RunID))
	operation, on := semconv.GenAIOperationNameChat, c.Asked
	if c.Build {
		operation, on = semconv.GenAIOperationNameInvokeAgent, e.Plugin
		about = append(about, semconv.GenAIAgentName(e.Plugin))
	}
	if c.Asked != "" {
		about = append(about, semconv.GenAIRequestModel(c.Asked))
	}
	if c.Model != "" {
		about = append(about, semconv.GenAIResponseModel(c.Model))
	}
	if c.JSON {
		about = append(about, semconv.GenAIOutputTypeJSON)
	}
	if word.MatchString(c.Stop) {
		about = append(about, semconv.GenAIResponseFinishReasons(c.Stop))
	}
	if c.Failed != "" {
		about = append(about, semconv.ErrorTypeKey.String(c.Failed))
	}
	_, span := t.tracer.Start(r.inner, strings.TrimSpace(operation.Value.AsString()+" "+on), trace.WithTimestamp(at.Add(-e.Elapsed)),
		trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(append(about, operation)...))
	if c.Failed != "" {
		span.SetStatus(codes.Error, c.Failed)
	}
	span.End(trace.WithTimestamp(at))
}

// word is what a vendor's reason for the end of an answer looks like; a plugin that puts
// a sentence there is not quoted.
var word = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,39}$`)

// usage are the numbers that are known: an unknown cost is absent, not 0.
func usage(u progress.Usage) (all []attribute.KeyValue) {
	for _, t := range []struct {
		key attribute.Key
		n   *int64
	}{
		{semconv.GenAIUsageInputTokensKey, prompt(u)},
		{semconv.GenAIUsageCacheReadInputTokensKey, u.CacheReadTokens},
		{semconv.GenAIUsageCacheCreationInputTokensKey, u.CacheWriteTokens},
		{semconv.GenAIUsageOutputTokensKey, u.OutputTokens},
		{semconv.GenAIUsageReasoningOutputTokensKey, u.ReasoningTokens},
	} {
		if t.n != nil {
			all = append(all, t.key.Int64(*t.n))
		}
	}
	if u.CostUSD != nil {
		all = append(all, keyCost.Float64(*u.CostUSD))
	}
	return all
}

// prompt is all that a model read: the conventions count the cache in, which the ledger
// keeps apart because it has prices of its own.
func prompt(u progress.Usage) *int64 {
	if u.InputTokens == nil {
		return nil
	}
	all := *u.InputTokens
	for _, cached := range []*int64{u.CacheReadTokens, u.CacheWriteTokens} {
		if cached != nil {
			all += *cached
		}
	}
	return &all
}

// vendor is whom the conventions name for a plugin of ours; another plugin is its own.
func vendor(plugin string) string {
	switch plugin {
	case "claude", "claude-code":
		return semconv.GenAIProviderNameAnthropic.Value.AsString()
	case "codex", "codex-exec":
		return semconv.GenAIProviderNameOpenAI.Value.AsString()
	case "gemini", "gemini-cli":
		return semconv.GenAIProviderNameGCPGemini.Value.AsString()
	}
	return plugin
}
