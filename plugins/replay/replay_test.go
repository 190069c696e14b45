package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/paxiom/relay/plugins/internal/eventtest"
	"github.com/paxiom/relay/sdk"
	"github.com/paxiom/relay/sdk/pluginpb"
	"github.com/paxiom/relay/sdk/script"
)

// play configures a player with the calls of a script.
func play(t *testing.T, calls, more string) sdk.Provider {
	t.Helper()
	file := filepath.Join(t.TempDir(), "script.json")
	if err := os.WriteFile(file, []byte(`{"version":1,"calls":[`+calls+`]}`), 0o644); err != nil {
		t.Fatal(err)
	}
	p, err := configured(t, file, more, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func configured(t *testing.T, file, more, state string) (sdk.Provider, error) {
	t.Helper()
	p := provider()
	return p, p.Configure(t.Context(), &sdk.Config{JSON: json.RawMessage(fmt.Sprintf(`{"script":%q%s}`, file, more)), StateDir: state})
}

func ask(role, prompt string) *sdk.CompleteRequest {
	return &sdk.CompleteRequest{Role: role, Model: "opus", Contents: []sdk.Content{{Text: prompt}}}
}

func TestPlaysInOrderAndByMatch(t *testing.T) {
	p := play(t, `{"when":{"role":"auditor"},"times":-1,"answer":{"text":"audit"}},
		{"when":{"prompt":"second"},"answer":{"text":"matched"}},
		{"answer":{"text":"one"},"usage":{"input_tokens":7,"cost_microusd":9}}, {"answer":{"text":"two","model":"opus-5"},"times":2}`, "")
	for _, tc := range []struct{ role, prompt, want string }{
		{"o", "first", "one"}, {"auditor", "x", "audit"}, {"o", "the second", "matched"}, {"o", "first", "two"},
		{"auditor", "second", "audit"}, {"o", "again", "two"},
	} {
		log := &eventtest.Log{}
		got, err := p.Complete(t.Context(), ask(tc.role, tc.prompt), log)
		if err != nil || got.Text != tc.want || log.Written() != tc.want {
			t.Fatalf("%+v: %+v %v", tc, got, err)
		}
		if tc.want == "one" {
			if n, _ := got.Usage.CostMicroUSD.Value(); n != 9 || got.Model != "opus" || got.StopReason != "end_turn" {
				t.Errorf("answer %+v", got)
			}
			if _, known := got.Usage.Output.Value(); known {
				t.Error("an unknown count became known")
			}
		}
	}
}

func TestMissShowsBothSides(t *testing.T) {
	p := play(t, `{"name":"plan","when":{"role":"planner"},"answer":{"text":"x"}},{"answer":{"text":"used"}},{"failure":{"reason":"NETWORK","summary":"x"},"when":{"prompt":"y+"}}`, "")
	if _, err := p.Complete(t.Context(), ask("o", "z"), &eventtest.Log{}); err != nil {
		t.Fatal(err)
	}
	_, err := p.Complete(t.Context(), ask("orchestrator", "make the thing"), &eventtest.Log{})
	f := sdk.AsFailure(err)
	if f == nil || f.Reason != sdk.BadRequest || f.Effect != sdk.EffectNone || f.Fix == "" {
		t.Fatalf("got %v", err)
	}
	for _, want := range []string{`role "orchestrator"`, `"make the thing"`, `call 1 (plan) answers when {"role":"planner"}`, `call 3 fails with NETWORK when {"prompt":"y+"}`} {
		if !strings.Contains(f.Detail, want) {
			t.Errorf("no %s in\n%s", want, f.Detail)
		}
	}
	if strings.Contains(f.Detail, "call 2") {
		t.Errorf("a call that was played is offered:\n%s", f.Detail)
	}
}

func TestSchemas(t *testing.T) {
	p := play(t, `{"answer":{"output":{"a":1}}},{"answer":{"text":" {\"b\":2} "}},{"answer":{"text":"prose"},"usage":{"input_tokens":3}}`, "")
	r := ask("o", "x")
	r.OutputSchema = json.RawMessage(`{"type":"object"}`)
	for _, want := range []string{`{"a":1}`, `{"b":2}`} {
		got, err := p.Complete(t.Context(), r, &eventtest.Log{})
		if err != nil || strings.TrimSpace(string(got.JSON)) != want {
			t.Fatalf("got %+v %v", got, err)
		}
	}
	_, err := p.Complete(t.Context(), r, &eventtest.Log{})
	f := sdk.AsFailure(err)
	if f == nil || f.Reason != sdk.BadOutput || f.Effect != sdk.EffectCharged {
		t.Fatalf("got %v", err)
	}
	if n, _ := f.Usage.Input.Value(); n != 3 {
		t.Errorf("usage %+v", f.Usage)
	}
}

func TestFailuresLimitsAndDelays(t *testing.T) {
	p := play(t, `{"delay":"300ms","limit":{"name":"five_hour","used_fraction":0.9,"reset_in":"2h"},"usage":{"input_tokens":5},
		"failure":{"reason":"QUOTA_EXHAUSTED","summary":"full","reset_in":"2h","limit_name":"five_hour","effect":"CHARGED","upstream_request_id":"r"}},
		{"failure":{"reason":"RATE_LIMITED","summary":"slow","retry_after":"2s"}}`, "")
	log := &eventtest.Log{}
	begun := time.Now()
	_, err := p.Complete(t.Context(), ask("o", "x"), log)
	f := sdk.AsFailure(err)
	if f == nil || f.Reason != sdk.QuotaExhausted || f.Effect != sdk.EffectCharged || f.LimitName != "five_hour" || f.UpstreamRequestID != "r" {
		t.Fatalf("got %+v", f)
	}
	if d := time.Since(begun); d < 300*time.Millisecond {
		t.Errorf("it came after %v", d)
	}
	if in := time.Until(f.ResetAt); in < time.Hour || in > 2*time.Hour {
		t.Errorf("reset in %v", in)
	}
	if l := log.Limits(); len(l) != 1 || l[0].Name != "five_hour" || l[0].UsedFraction != 0.9 {
		t.Errorf("limits %+v", l)
	}
	_, err = p.Complete(t.Context(), ask("o", "x"), log)
	if f := sdk.AsFailure(err); f.Reason != sdk.RateLimited || f.RetryAfter != 2*time.Second || f.Effect != sdk.EffectNone {
		t.Errorf("got %+v", f)
	}
}

func TestHangAndDelayEndWithTheCaller(t *testing.T) {
	p := play(t, `{"hang":true},{"delay":"1h","answer":{"text":"x"}}`, "")
	for range 2 {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		_, err := p.Complete(ctx, ask("o", "x"), &eventtest.Log{})
		cancel()
		if f := sdk.AsFailure(err); f == nil || f.Reason != sdk.Cancelled {
			t.Errorf("got %v", err)
		}
	}
}

func TestRemember(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	file := filepath.Join(dir, "s.json")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	next := func(more string) string {
		p, err := configured(t, file, more, state)
		if err != nil {
			t.Fatal(err)
		}
		got, err := p.Complete(t.Context(), ask("o", "x"), &eventtest.Log{})
		if err != nil {
			return sdk.AsFailure(err).Reason.String()
		}
		return got.Text
	}
	const two = `{"version":1,"calls":[{"answer":{"text":"one"}},{"answer":{"text":"two"}}]}`
	write(two)
	remember := `,"remember":true`
	got := []string{next(remember), next(""), next(remember), next(remember)}
	write(strings.Replace(two, "one", "uno", 1))
	got = append(got, next(remember))
	if s := strings.Join(got, " "); s != "one one two BAD_REQUEST uno" {
		t.Errorf("got %s", s)
	}
}

// A recording plays back with the same values through the whole conversion.
func TestRecordedAndPlayed(t *testing.T) {
	dir := t.TempDir()
	asked := func(prompt string) *pluginpb.CompleteRequest {
		return &pluginpb.CompleteRequest{Role: "o", Model: "opus", Parts: []*pluginpb.Part{{Part: &pluginpb.Part_Text{Text: prompt}}}}
	}
	n := int64(11)
	for prompt, text := range map[string]string{"first": "one", "other": "two"} {
		c := script.Record(asked(prompt), &pluginpb.CompleteDone{Text: text, Model: "opus-5", Usage: &pluginpb.Usage{OutputTokens: &n}}, nil)
		if _, err := script.Append(dir, c); err != nil {
			t.Fatal(err)
		}
	}
	p, err := configured(t, dir, `,"strict":true`, "")
	if err != nil {
		t.Fatal(err)
	}
	for prompt, want := range map[string]string{"other": "two", "first": "one"} {
		got, err := p.Complete(t.Context(), ask("o", prompt), &eventtest.Log{})
		if err != nil || got.Text != want || got.Model != "opus-5" {
			t.Fatalf("%s: %+v %v", prompt, got, err)
		}
		if out, _ := got.Usage.Output.Value(); out != n {
			t.Errorf("usage %+v", got.Usage)
		}
	}
	if _, err := p.Complete(t.Context(), ask("o", "first"), &eventtest.Log{}); err == nil {
		t.Error("a strict recording answered twice")
	}
}

func TestConfiguration(t *testing.T) {
	p := provider()
	if err := p.Configure(t.Context(), &sdk.Config{}); err != nil {
		t.Fatalf("without a script: %v", err)
	}
	for _, err := range []error{
		func() error { _, err := p.Health(t.Context(), false); return err }(),
		func() error { _, err := p.Complete(t.Context(), ask("o", "x"), &eventtest.Log{}); return err }(),
	} {
		if f := sdk.AsFailure(err); f == nil || f.Reason != sdk.BadConfig || f.Fix == "" {
			t.Errorf("got %v", err)
		}
	}
	if _, err := configured(t, "/no/such/file", "", ""); sdk.AsFailure(err).Reason != sdk.BadConfig {
		t.Errorf("got %v", err)
	}
	h, err := play(t, `{"answer":{"text":"x"}}`, "").Health(t.Context(), false)
	if err != nil || h.Detail != "1 of 1 calls left to play" {
		t.Errorf("%+v %v", h, err)
	}
}

// The example of the reference page is a script.
func TestExampleOfTheReference(t *testing.T) {
	page, err := os.ReadFile("../../docs/reference/replay.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "## Example\n\n```json\n")
	example, _, ok := strings.Cut(rest, "```")
	if !ok {
		t.Fatal("the page has no example")
	}
	if _, err := script.Parse([]byte(example)); err != nil {
		t.Error(err)
	}
}
