package telemetry

import (
	"bytes"
	"testing"
	"time"

	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/host/internal/progress"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/testdata/collector"
)

// open gives a tracer that sends to an address, with an environment.
func open(to string, env map[string]string) *Tracer {
	return Open(Options{Config: config.Telemetry{Traces: "otlp", Endpoint: to}, Version: "1.2.3", Getenv: func(n string) string { return env[n] }})
}

// tick plays the events of a tick, with a secret in every text that an event can have.
func tick(obs progress.Observer, code judge.Code) {
	at := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	in, out, read, wrote, thought, cost := int64(1000), int64(100), int64(300), int64(20), int64(40), 0.0025
	used := progress.Usage{InputTokens: &in, OutputTokens: &out, CacheReadTokens: &read, CacheWriteTokens: &wrote, ReasoningTokens: &thought, CostUSD: &cost}
	say := func(e progress.Event) {
		at = at.Add(time.Second)
		e.At, e.RunID, e.Text = at, "run-1", "canary"
		obs.Observe(e)
	}
	say(progress.Event{Kind: progress.Entered, State: "ORCHESTRATE"})
	say(progress.Event{Kind: progress.Plugin, Plugin: "claude"})
	say(progress.Event{Kind: progress.Called, Plugin: "claude", Elapsed: 500 * time.Millisecond,
		Made: &progress.Call{Role: "orchestrator", Asked: "opus", Model: "opus-5", JSON: true, Stop: "end_turn", Usage: used}})
	say(progress.Event{Kind: progress.Finished, State: "ORCHESTRATE"})
	say(progress.Event{Kind: progress.Entered, State: "BUILD"})
	say(progress.Event{Kind: progress.Called, Plugin: "claude-code", Elapsed: 500 * time.Millisecond, Made: &progress.Call{Role: "builder", Build: true, Failed: "REASON_RATE_LIMITED"}})
	say(progress.Event{Kind: progress.Called, Plugin: "external", Elapsed: 500 * time.Millisecond, Made: &progress.Call{Role: "builder", Build: true, Stop: "a sentence, canary", Usage: progress.Usage{CacheReadTokens: &read}}})
	say(progress.Event{Kind: progress.Entered, State: "REPORT"}) // a state that no one ended ends with the next
	say(progress.Event{Kind: progress.Ended, Code: code, Usage: used})
}

func TestSpans(t *testing.T) {
	c := collector.Start(false)
	defer c.Close()
	tr := open(c.URL, map[string]string{"TRACEPARENT": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"})
	seen := 0
	tick(tr.Watch("tick", progress.Func(func(progress.Event) { seen++ })), judge.StopForbidden)
	if problem := tr.Close(); problem != "" {
		t.Fatal(problem)
	}
	if seen != 9 {
		t.Errorf("%d events were passed on", seen)
	}
	want := `invoke_workflow tick gen_ai.operation.name=invoke_workflow gen_ai.usage.input_tokens=1320 gen_ai.usage.cache_read.input_tokens=300 gen_ai.usage.cache_creation.input_tokens=20 gen_ai.usage.output_tokens=100 gen_ai.usage.reasoning.output_tokens=40 relay.cost.usd=0.0025 relay.code=` + string(judge.StopForbidden) + ` relay.verdict=stop error.type=` + string(judge.StopForbidden) + `
  ORCHESTRATE
    chat opus gen_ai.operation.name=chat gen_ai.provider.name=anthropic gen_ai.request.model=opus gen_ai.response.model=opus-5 gen_ai.output.type=json gen_ai.response.finish_reasons=end_turn gen_ai.usage.input_tokens=1320 gen_ai.usage.cache_read.input_tokens=300 gen_ai.usage.cache_creation.input_tokens=20 gen_ai.usage.output_tokens=100 gen_ai.usage.reasoning.output_tokens=40 relay.cost.usd=0.0025
  BUILD
    invoke_agent claude-code gen_ai.operation.name=invoke_agent gen_ai.provider.name=anthropic gen_ai.agent.name=claude-code error.type=REASON_RATE_LIMITED
    invoke_agent external gen_ai.operation.name=invoke_agent gen_ai.provider.name=external gen_ai.agent.name=external gen_ai.usage.cache_read.input_tokens=300
  REPORT
`
	got := c.Tree("gen_ai.operation.name", "gen_ai.provider.name", "gen_ai.agent.name", "gen_ai.request.model", "gen_ai.response.model", "gen_ai.output.type", "gen_ai.response.finish_reasons",
		"gen_ai.usage.input_tokens", "gen_ai.usage.cache_read.input_tokens", "gen_ai.usage.cache_creation.input_tokens", "gen_ai.usage.output_tokens", "gen_ai.usage.reasoning.output_tokens",
		"relay.cost.usd", "relay.code", "relay.verdict", "error.type")
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if bytes.Contains(c.Raw(), []byte("canary")) {
		t.Error("a text of an event was sent")
	}
	for _, s := range c.Spans() {
		if s.Attributes["relay.run.id"] != "run-1" || s.Resource["service.name"] != "relay" || s.Resource["service.version"] != "1.2.3" {
			t.Errorf("%s: %v, %v", s.Name, s.Attributes, s.Resource)
		}
		if took := time.Duration(s.End - s.Begin); s.Name == "chat opus" && took != 500*time.Millisecond {
			t.Errorf("the call took %s", took)
		}
	}
	if !bytes.Contains(c.Raw(), []byte("\xb7\xad\x6b\x71\x69\x20\x33\x31")) {
		t.Error("the trace of the caller was not gone on with")
	}
}

func TestOff(t *testing.T) {
	on := config.Telemetry{Traces: "otlp"}
	for name, c := range map[string]struct {
		config config.Telemetry
		env    map[string]string
	}{
		"by default":             {config.Default().Telemetry, nil},
		"an endpoint alone":      {config.Telemetry{Traces: "off", Endpoint: "http://localhost:1"}, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost:1"}},
		"the SDK is disabled":    {on, map[string]string{"OTEL_SDK_DISABLED": "true"}},
		"no exporter for traces": {on, map[string]string{"OTEL_TRACES_EXPORTER": "none"}},
	} {
		tr := Open(Options{Config: c.config, Getenv: func(n string) string { return c.env[n] }})
		if tr != nil {
			t.Errorf("%s: it is on", name)
		}
		if tr.Watch("tick", nil) != nil || tr.Close() != "" {
			t.Errorf("%s: it does something", name)
		}
	}
}

// A run continues, and comes to its end, while the collector hangs or is not there.
func TestBadCollectors(t *testing.T) {
	hanging := collector.Start(true)
	defer hanging.Close()
	gone := collector.Start(false)
	gone.Close()
	for name, to := range map[string]string{"hangs": hanging.URL, "is gone": gone.URL} {
		tr := open(to, nil)
		obs := tr.Watch("tick", nil)
		for range 1000 { // more spans than wait in the queue
			tick(obs, judge.Success)
		}
		if problem := tr.Close(); problem == "" { // the one that hangs does so still
			t.Errorf("a collector that %s: nobody says so", name)
		}
	}
}
