package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/paxiom/relay/plugins/internal/eventtest"
	"github.com/paxiom/relay/plugins/internal/vendortest"
	"github.com/paxiom/relay/sdk"
	"github.com/paxiom/relay/testdata/e2e"
	"github.com/paxiom/relay/testdata/fakemodel"
)

// start configures the provider for the real program and a scripted model.
func start(t *testing.T, script string, env ...string) (sdk.Provider, *fakemodel.Server) {
	t.Helper()
	claude := e2e.Claude(t)
	model := e2e.Model(t, `{"anthropic":`+script+`}`, nil)
	for name, value := range e2e.Env(t, model) {
		t.Setenv(name, value)
	}
	if len(env) == 0 {
		env = []string{"ANTHROPIC_API_KEY=sk-test"}
	}
	for _, e := range env {
		name, value, _ := strings.Cut(e, "=")
		t.Setenv(name, value)
	}
	return configured(t, claude, model.URL()), model
}

func configured(t *testing.T, claude, url string) sdk.Provider {
	t.Helper()
	p := newProvider().part()
	cfg := fmt.Sprintf(`{"transport":"cli","command":%q,"base_url":%q}`, claude, url)
	if err := p.Configure(t.Context(), &sdk.Config{JSON: json.RawMessage(cfg), WorkDir: t.TempDir()}); err != nil {
		t.Fatal(err)
	}
	return p
}

func ask(prompt string) *sdk.CompleteRequest {
	return &sdk.CompleteRequest{Model: "claude-sonnet-4-5", System: "Be brief.", Contents: []sdk.Content{{Text: prompt}}, Role: "orchestrator"}
}

const verdictSchema = `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"],"additionalProperties":false}`

func TestE2EAnswers(t *testing.T) {
	p, model := start(t, `[{"text":"the answer is forty-two, and there is more to say","usage":{"input":1200,"output":34}}]`)
	log := &eventtest.Log{}
	prompt := strings.Repeat("a long prompt. ", 690_000) // 10 MB, by standard input
	got, err := p.Complete(t.Context(), ask(prompt), log)
	if err != nil {
		t.Fatal(err)
	}
	if got.Text != "the answer is forty-two, and there is more to say" || log.Written() != got.Text || got.Model != "claude-sonnet-4-5" {
		t.Errorf("answer %+v, written %q", got, log.Written())
	}
	if cost, known := got.Usage.CostMicroUSD.Value(); !known || cost != 4110 {
		t.Errorf("cost %d, known %v", cost, known)
	}
	if !strings.Contains(log.String(), "started claude-sonnet-4-5 2.1.") {
		t.Errorf("events:\n%s", log)
	}
	body := string(model.Requests()[0].Body)
	for _, want := range []string{strings.TrimSpace(prompt[:1000]), "Be brief."} {
		if !strings.Contains(body, want) {
			t.Errorf("the request lacks %.40q", want)
		}
	}
	if n := strings.Count(body, "a long prompt."); n != 690_000 {
		t.Errorf("%d of 690,000 pieces of the prompt came through", n)
	}
	if strings.Contains(body, `"tools":[{`) {
		t.Error("tools were offered")
	}
}

func TestE2ESchema(t *testing.T) {
	for name, tc := range map[string]struct {
		script string
		turns  int
		want   string
		reason sdk.Reason
	}{
		"given":           {`[{"tool":{"name":"StructuredOutput","input":{"ok":true}}}]`, 1, `{"ok":true}`, 0},
		"at second try":   {`[{"tool":{"name":"StructuredOutput","input":{"ok":"yes"}}},{"tool":{"name":"StructuredOutput","input":{"ok":false}}}]`, 0, `{"ok":false}`, 0},
		"prose, one turn": {`[{"text":"I think so.","times":-1}]`, 1, "", sdk.BadOutput},
		"prose for ever":  {`[{"text":"I think so.","times":-1}]`, 0, "", sdk.BadOutput},
	} {
		t.Run(name, func(t *testing.T) {
			p, _ := start(t, tc.script)
			r := ask("ok?")
			r.OutputSchema, r.MaxTurns = json.RawMessage(verdictSchema), tc.turns
			got, err := p.Complete(t.Context(), r, &eventtest.Log{})
			if f := sdk.AsFailure(err); tc.reason != 0 {
				if f == nil || f.Reason != tc.reason || f.Effect != sdk.EffectCharged {
					t.Fatalf("got %+v, %v", got, err)
				}
				return
			}
			if err != nil || string(got.JSON) != tc.want {
				t.Fatalf("got %+v, %v", got, err)
			}
		})
	}
}

func TestE2EFailures(t *testing.T) {
	reset := time.Now().Add(3 * time.Hour).Truncate(time.Second)
	limited := fmt.Sprintf(`[{"times":-1,"error":{"status":429,"headers":{
		"anthropic-ratelimit-unified-status":"rejected","anthropic-ratelimit-unified-representative-claim":"five_hour",
		"anthropic-ratelimit-unified-reset":"%[1]d","anthropic-ratelimit-unified-5h-reset":"%[1]d","anthropic-ratelimit-unified-5h-status":"rejected",
		"retry-after":"10800"}}}]`, reset.Unix())
	failing := func(status int, extra string) string {
		return fmt.Sprintf(`[{"times":-1,"error":{"status":%d%s}}]`, status, extra)
	}
	for name, tc := range map[string]struct {
		script, env string
		reason      sdk.Reason
		check       func(*sdk.Failure) bool
	}{
		"bad key":        {script: failing(401, `,"headers":{"request-id":"req_7"}`), reason: sdk.AuthRejected, check: func(f *sdk.Failure) bool { return f.UpstreamRequestID == "req_7" && f.Fix != "" }},
		"no access":      {script: failing(403, ""), reason: sdk.Permission},
		"no key":         {script: `[]`, env: "ANTHROPIC_API_KEY=", reason: sdk.NotLoggedIn, check: func(f *sdk.Failure) bool { return f.Fix != "" }},
		"rate limit":     {script: failing(429, `,"headers":{"retry-after":"1"}`), reason: sdk.RateLimited, check: func(f *sdk.Failure) bool { return f.RetryAfter >= time.Second }},
		"usage limit":    {script: limited, env: "CLAUDE_CODE_OAUTH_TOKEN=sk-ant-oat01-test", reason: sdk.QuotaExhausted, check: func(f *sdk.Failure) bool { return f.ResetAt.Equal(reset) && f.LimitName == "five_hour" }},
		"overload":       {script: failing(529, ""), reason: sdk.Overloaded},
		"no credit":      {script: failing(400, `,"body":{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API."}}`), reason: sdk.Billing},
		"no model":       {script: failing(404, ""), reason: sdk.ModelUnknown},
		"too long":       {script: failing(400, `,"body":{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}`), reason: sdk.TooLarge},
		"silence":        {script: `[{"hang":true,"times":-1}]`, reason: sdk.Timeout},
		"half an answer": {script: `[{"text":"x","hang_stream":true,"times":-1}]`, reason: sdk.Timeout},
		"empty":          {script: `[{"text":"","times":-1}]`, reason: sdk.BadOutput},
		"refusal":        {script: `[{"text":"","stop_reason":"refusal","times":-1}]`, reason: sdk.Refused},
	} {
		t.Run(name, func(t *testing.T) {
			env := []string{"ANTHROPIC_API_KEY=sk-test"}
			if tc.env != "" {
				env = []string{tc.env}
			}
			p, _ := start(t, tc.script, env...)
			r := ask("hello")
			r.IdleTimeout = time.Minute // a busy machine takes its time to start the program
			if tc.reason == sdk.Timeout {
				r.IdleTimeout = 8 * time.Second // the program gives a silent API up after two fifths of it
			}
			got, err := p.Complete(t.Context(), r, &eventtest.Log{})
			vendortest.Want{Reason: tc.reason, Check: tc.check}.Hold(t, got, sdk.AsFailure(err))
		})
	}
}

func TestE2ERecovers(t *testing.T) {
	p, model := start(t, `[{"error":{"status":429,"headers":{"retry-after":"1"}}},{"text":"recovered"}]`)
	log := &eventtest.Log{}
	got, err := p.Complete(t.Context(), ask("hello"), log)
	if err != nil || got.Text != "recovered" {
		t.Fatalf("%+v %v", got, err)
	}
	if n := len(model.Requests()); n != 2 || !strings.Contains(log.String(), "asks the API again") {
		t.Errorf("%d requests, events:\n%s", n, log)
	}
}

var overCLI = vendortest.Provider{
	Serve: func(t *testing.T, script string) vendortest.Model { _, m := start(t, script); return m },
	At:    func(t *testing.T, url string) sdk.Provider { return configured(t, os.Getenv("RELAY_E2E_CLAUDE"), url) }, Ask: ask,
}

func TestE2EConnectionRefused(t *testing.T) { overCLI.Refused(t, sdk.EffectNone) }

func TestE2ECancel(t *testing.T) { overCLI.Cancelled(t) }

func TestE2EIsolation(t *testing.T) {
	p, model := start(t, `[{"text":"fine","times":-1}]`)
	home := os.Getenv("HOME")
	canary := filepath.Join(t.TempDir(), "ran")
	hooks := `{"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"touch ` + canary + `"}]}],"UserPromptSubmit":[{"hooks":[{"type":"command","command":"touch ` + canary + `"}]}]}}`
	for name, text := range map[string]string{
		".claude/settings.json": hooks, ".claude/CLAUDE.md": "MEMORY-CANARY",
	} {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{"private", "user"} {
		cfg := fmt.Sprintf(`{"transport":"cli","command":%q,"base_url":%q,"config_dir":%q}`, os.Getenv("RELAY_E2E_CLAUDE"), model.URL(), dir)
		p = newProvider().part()
		if err := p.Configure(t.Context(), &sdk.Config{JSON: json.RawMessage(cfg), WorkDir: t.TempDir()}); err != nil {
			t.Fatal(err)
		}
		if _, err := p.Complete(t.Context(), ask("hello"), &eventtest.Log{}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(canary); err == nil {
		t.Error("a hook of the user ran")
	}
	for _, r := range model.Requests() {
		if strings.Contains(string(r.Body), "MEMORY-CANARY") {
			t.Error("the user's memory was sent")
		}
	}
}

func TestE2EHealth(t *testing.T) {
	p, _ := start(t, `[]`)
	h, err := p.Health(t.Context(), false)
	if err != nil || !strings.Contains(h.Detail, "API key of ANTHROPIC_API_KEY") || strings.Contains(h.Detail, "sk-test") {
		t.Errorf("%+v %v", h, err)
	}
	t.Setenv("ANTHROPIC_API_KEY", "")
	if _, err := p.Health(t.Context(), false); err == nil || sdk.AsFailure(err).Reason != sdk.NotLoggedIn {
		t.Errorf("without a key: %v", err)
	}
}
