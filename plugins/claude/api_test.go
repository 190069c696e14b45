package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/paxiom/relay/plugins/internal/claudecli"
	"github.com/paxiom/relay/plugins/internal/eventtest"
	"github.com/paxiom/relay/plugins/internal/vendortest"
	"github.com/paxiom/relay/sdk"
	"github.com/paxiom/relay/testdata/e2e"
	"github.com/paxiom/relay/testdata/fakemodel"
)

const key = "sk-ant-canary-0815"

// server serves a script; the environment holds a key and nothing else of Anthropic.
func server(t *testing.T, script string) *fakemodel.Server {
	t.Helper()
	for _, v := range claudecli.Env() {
		t.Setenv(v.Name, "")
	}
	t.Setenv("ANTHROPIC_API_KEY", key)
	return e2e.Model(t, `{"anthropic":`+script+`}`, nil)
}

func apiAt(t *testing.T, url, more string) sdk.Provider {
	t.Helper()
	p := newProvider().part()
	cfg := fmt.Sprintf(`{"transport":"api","base_url":%q%s}`, url, more)
	if err := p.Configure(t.Context(), &sdk.Config{JSON: json.RawMessage(cfg), WorkDir: t.TempDir()}); err != nil {
		t.Fatal(err)
	}
	return p
}

var overAPI = vendortest.Provider{
	Serve: func(t *testing.T, script string) vendortest.Model { return server(t, script) },
	At:    func(t *testing.T, url string) sdk.Provider { return apiAt(t, url, "") }, Ask: ask, Secret: key,
}

func TestAPIAnswers(t *testing.T) {
	m := server(t, `[{"thinking":"hm","text":"the answer is forty-two, and there is more to say","usage":{"input":1200,"output":34,"cache_read":200,"cache_write":7}}]`)
	log := &eventtest.Log{}
	r := ask("What is it?")
	r.Contents = append([]sdk.Content{{Text: "FACTS", Cacheable: true}, {MediaType: "image/png", Data: []byte{1, 2}}}, r.Contents...)
	r.Effort, r.MaxOutputTokens = "low", 500
	temperature := 0.25
	r.Temperature = &temperature
	got, err := apiAt(t, m.URL(), "").Complete(t.Context(), r, log)
	if err != nil {
		t.Fatal(err)
	}
	if got.Text != "the answer is forty-two, and there is more to say" || log.Written() != got.Text || got.Model != "claude-sonnet-4-5" || got.StopReason != "end_turn" {
		t.Errorf("answer %+v, written %q", got, log.Written())
	}
	in, _ := got.Usage.Input.Value()
	read, _ := got.Usage.CacheRead.Value()
	write, _ := got.Usage.CacheWrite.Value()
	out, _ := got.Usage.Output.Value()
	if _, priced := got.Usage.CostMicroUSD.Value(); in != 1200 || read != 200 || write != 7 || out != 34 || priced {
		t.Errorf("usage %+v", got.Usage)
	}
	req := e2e.Requests(t, m, 1)[0]
	if req.Headers.Get("X-Api-Key") != key || req.Path != "/v1/messages" {
		t.Errorf("request to %s", req.Path)
	}
	body := string(req.Body)
	for _, want := range []string{`"stream":true`, `"max_tokens":500`, `"temperature":0.25`, `"effort":"low"`, `"text":"Be brief."`,
		`"text":"FACTS","cache_control":{"type":"ephemeral"}`, `"media_type":"image/png"`} {
		if !strings.Contains(strings.ReplaceAll(body, `"cache_control":{"type":"ephemeral"},"text":"FACTS"`, `"text":"FACTS","cache_control":{"type":"ephemeral"}`), want) {
			t.Errorf("no %s in %s", want, body)
		}
	}
	if n := strings.Count(body, `"cache_control"`); n != 2 { // the system prompt, and what the host marks
		t.Errorf("%d marks for the cache in %s", n, body)
	}
	if strings.Contains(body, `"tools"`) {
		t.Error("tools were offered")
	}
}

func TestAPISchema(t *testing.T) {
	text := func(s string) string { b, _ := json.Marshal(s); return fmt.Sprintf(`[{"text":%s}]`, b) }
	tool := func(s string) string { return fmt.Sprintf(`[{"tool":{"name":"answer","input":%s}}]`, s) }
	for _, tc := range []struct{ script, config, sent, want string }{
		{text(`{"ok":true}`), "", `"json_schema"`, `{"ok":true}`},
		{text(`{"ok":"yes"}`), "", `"json_schema"`, ""},
		{text(`I think so.`), "", `"json_schema"`, ""},
		{tool(`{"ok":false}`), `,"structured_output":"tool"`, `"tool_choice":{"name":"answer","type":"tool"}`, `{"ok":false}`},
		{text(`no tool`), `,"structured_output":"tool"`, `"input_schema"`, ""},
	} {
		m := server(t, tc.script)
		r := ask("ok?")
		r.OutputSchema = json.RawMessage(verdictSchema)
		got, err := apiAt(t, m.URL(), tc.config).Complete(t.Context(), r, &eventtest.Log{})
		if f := sdk.AsFailure(err); tc.want == "" {
			if f == nil || f.Reason != sdk.BadOutput || f.Effect != sdk.EffectCharged {
				t.Errorf("%s: %+v %v", tc.script, got, err)
			}
		} else if err != nil || string(got.JSON) != tc.want {
			t.Errorf("%s: %+v %v", tc.script, got, err)
		}
		if body := string(e2e.Requests(t, m, 1)[0].Body); !strings.Contains(body, tc.sent) || !strings.Contains(body, `"additionalProperties":false`) {
			t.Errorf("the schema was not sent: %s", body)
		}
	}
}

func TestAPIFailures(t *testing.T) {
	reset := time.Now().Add(3 * time.Hour).Truncate(time.Second)
	failing := func(status int, headers, message string) string {
		body := ""
		if message != "" {
			body = fmt.Sprintf(`,"body":{"type":"error","error":{"type":"invalid_request_error","message":%q}}`, message)
		}
		return fmt.Sprintf(`[{"times":-1,"error":{"status":%d,"headers":{"request-id":"req_7"%s}%s}}]`, status, headers, body)
	}
	overAPI.Failures(t, map[string]vendortest.Failing{
		"bad key":    {Script: failing(401, "", "invalid x-api-key "+key), Want: vendortest.Want{Reason: sdk.AuthRejected}},
		"no access":  {Script: failing(403, "", ""), Want: vendortest.Want{Reason: sdk.Permission, Check: func(f *sdk.Failure) bool { return f.UpstreamCode == "403 permission_error" }}},
		"no model":   {Script: failing(404, "", ""), Want: vendortest.Want{Reason: sdk.ModelUnknown}},
		"rate limit": {Script: failing(429, `,"retry-after":"7"`, ""), Want: vendortest.Want{Reason: sdk.RateLimited, Check: func(f *sdk.Failure) bool { return f.RetryAfter == 7*time.Second }}},
		"token limit": {Script: failing(429, fmt.Sprintf(`,"anthropic-ratelimit-input-tokens-limit":"1000","anthropic-ratelimit-input-tokens-remaining":"0","anthropic-ratelimit-input-tokens-reset":%q`, reset.UTC().Format(time.RFC3339)), ""),
			Want: vendortest.Want{Reason: sdk.RateLimited, Check: func(f *sdk.Failure) bool {
				return f.RetryAfter > 2*time.Hour && f.LimitName == "input_tokens_per_minute"
			}}},
		"usage limit": {Script: failing(429, fmt.Sprintf(`,"anthropic-ratelimit-unified-status":"rejected","anthropic-ratelimit-unified-reset":"%d","anthropic-ratelimit-unified-representative-claim":"five_hour"`, reset.Unix()), ""),
			Want: vendortest.Want{Reason: sdk.QuotaExhausted, Check: func(f *sdk.Failure) bool { return f.ResetAt.Equal(reset) && f.LimitName == "five_hour" }}},
		"no credit":      {Script: failing(400, "", "Your credit balance is too low to access the Anthropic API."), Want: vendortest.Want{Reason: sdk.Billing}},
		"too long":       {Script: failing(400, "", "prompt is too long: 210000 tokens > 200000 maximum"), Want: vendortest.Want{Reason: sdk.TooLarge}},
		"bad request":    {Script: failing(400, "", "a file says: prompt is too long, credit balance"), Want: vendortest.Want{Reason: sdk.BadRequest}},
		"overload":       {Script: failing(529, "", ""), Want: vendortest.Want{Reason: sdk.Overloaded}},
		"server error":   {Script: failing(500, "", ""), Want: vendortest.Want{Reason: sdk.Overloaded}},
		"html":           {Script: `[{"error":{"status":502,"headers":{"request-id":"req_7"},"body":"<html>bad gateway</html>"}}]`, Want: vendortest.Want{Reason: sdk.Overloaded}},
		"error event":    {Script: `[{"error":{"status":200,"stream":true,"body":{"type":"error","error":{"type":"overloaded_error","message":"x"}}}}]`, Want: vendortest.Want{Reason: sdk.Overloaded, Effect: sdk.EffectUnknown}},
		"dropped":        {Script: `[{"drop":true}]`, Want: vendortest.Want{Reason: sdk.Network, Effect: sdk.EffectUnknown}},
		"truncated":      {Script: `[{"text":"a text that is long enough to come in several pieces, so that half is something","truncate":true}]`, Want: vendortest.Want{Reason: sdk.Network, Effect: sdk.EffectCharged}},
		"silence":        {Script: `[{"hang":true}]`, Want: vendortest.Want{Reason: sdk.Timeout, Effect: sdk.EffectUnknown}},
		"half an answer": {Script: `[{"text":"x","hang_stream":true}]`, Want: vendortest.Want{Reason: sdk.Timeout, Effect: sdk.EffectCharged}},
		"empty":          {Script: `[{"text":""}]`, Want: vendortest.Want{Reason: sdk.BadOutput, Effect: sdk.EffectCharged}},
		"tool, no text": {Script: `[{"tool":{"name":"Bash","input":{}}}]`, Want: vendortest.Want{Reason: sdk.BadOutput, Effect: sdk.EffectCharged, Check: func(f *sdk.Failure) bool {
			return strings.Contains(f.Summary, "called a tool")
		}}},
		"cut":      {Script: `[{"text":"cut","stop_reason":"max_tokens"}]`, Want: vendortest.Want{Reason: sdk.TooLarge, Effect: sdk.EffectCharged}},
		"window":   {Script: `[{"text":"cut","stop_reason":"model_context_window_exceeded"}]`, Want: vendortest.Want{Reason: sdk.TooLarge, Effect: sdk.EffectCharged}},
		"refusal":  {Script: `[{"text":"no","stop_reason":"refusal"}]`, Want: vendortest.Want{Reason: sdk.Refused, Effect: sdk.EffectCharged}},
		"new stop": {Script: `[{"text":"x","stop_reason":"something_new"}]`, Want: vendortest.Want{Reason: sdk.BadOutput, Effect: sdk.EffectCharged}},
	})
}

func TestAPIFallback(t *testing.T) {
	m := server(t, `[{"match_model":"sonnet","times":-1,"error":{"status":529}},{"match_model":"haiku","text":"from the other one","times":-1}]`)
	log := &eventtest.Log{}
	r := ask("hello")
	r.FallbackModel = "claude-haiku-4-5"
	got, err := apiAt(t, m.URL(), "").Complete(t.Context(), r, log)
	if err != nil || got.Model != "claude-haiku-4-5" || !strings.Contains(log.String(), "notice asking claude-haiku-4-5 instead") {
		t.Errorf("%+v %v\n%s", got, err, log)
	}
}

func TestAPIConnectionRefused(t *testing.T) { overAPI.Refused(t, sdk.EffectNone) }

func TestAPICancel(t *testing.T) { overAPI.Cancelled(t) }

// A prompt that is too long is not sent, and it is said by how much; one that is long and
// fits is sent as a whole.
func TestAPILongPrompts(t *testing.T) {
	m := server(t, `[{"text":"fine","times":-1}]`)
	p := apiAt(t, m.URL(), "")
	_, err := p.Complete(t.Context(), ask(strings.Repeat("word ", 2<<20)), &eventtest.Log{}) // 10 MB
	f := sdk.AsFailure(err)
	if f == nil || f.Reason != sdk.TooLarge || f.Effect != sdk.EffectNone || !strings.Contains(f.Summary, "too long for claude-sonnet-4-5 by 24") || f.Fix == "" {
		t.Fatalf("%v", err)
	}
	for _, r := range e2e.Requests(t, m, 2) {
		if r.Path == "/v1/messages" {
			t.Error("the prompt was sent all the same")
		}
	}
	if _, err := p.Complete(t.Context(), ask(strings.Repeat("word ", 100_000)), &eventtest.Log{}); err != nil {
		t.Error(err)
	}
	// A server that counts nothing gets the prompt: it may know better.
	r := ask(strings.Repeat("word ", 2<<20))
	r.Model = "some-other-model"
	if _, err := p.Complete(t.Context(), r, &eventtest.Log{}); err != nil {
		t.Error(err)
	}
	all := e2e.Requests(t, m, 7)
	if last := all[len(all)-1]; last.Path != "/v1/messages" || last.BodyLen < 10<<20 {
		t.Errorf("%s with %d bytes", last.Path, last.BodyLen)
	}
}

func TestAPICountsModelsAndHealth(t *testing.T) {
	m := server(t, `[]`)
	p := apiAt(t, m.URL(), "")
	r := ask(strings.Repeat("word ", 1000))
	if n, err := p.CountTokens(t.Context(), r); err != nil || n < 1000 {
		t.Errorf("%d %v", n, err)
	}
	if got := e2e.Requests(t, m, 1); len(got) != 1 || got[0].Path != "/v1/messages/count_tokens" || strings.Contains(string(got[0].Body), "max_tokens") {
		t.Errorf("%+v", got)
	}
	if models, err := p.ListModels(t.Context()); err != nil || len(models) != 1 {
		t.Errorf("%v %v", models, err)
	}
	if h, err := p.Health(t.Context(), true); err != nil || strings.Contains(h.Detail, key) {
		t.Errorf("%+v %v", h, err)
	}
	r.Model = ""
	if _, err := p.Complete(t.Context(), r, &eventtest.Log{}); err == nil || sdk.AsFailure(err).Reason != sdk.BadConfig {
		t.Errorf("without a model: %v", err)
	}
	t.Setenv("ANTHROPIC_API_KEY", "")
	t.Setenv("ANTHROPIC_AUTH_TOKEN", "token")
	if _, err := p.ListModels(t.Context()); err != nil {
		t.Error(err)
	}
	if got := e2e.Requests(t, m, 4); got[len(got)-1].Headers.Get("Authorization") != "Bearer token" {
		t.Error("the token was not sent")
	}
	t.Setenv("ANTHROPIC_AUTH_TOKEN", "")
	if _, err := apiAt(t, "", "").Health(t.Context(), false); err == nil || sdk.AsFailure(err).Reason != sdk.NotLoggedIn {
		t.Errorf("without a key: %v", err)
	}
}

func TestAuto(t *testing.T) {
	server(t, `[]`)
	for _, tc := range []struct {
		config, key, model string
		api                bool
	}{
		{`{}`, key, "claude-sonnet-4-5", true}, {`{}`, key, "opus", false}, {`{}`, key, "", false}, {`{}`, "", "claude-sonnet-4-5", false},
		{`{"base_url":"http://127.0.0.1:1"}`, key, "mine", true}, {`{"base_url":"http://127.0.0.1:1"}`, key, "opus", false}, {`{"base_url":"http://127.0.0.1:1"}`, "", "mine", false},
		{`{"transport":"cli"}`, key, "claude-sonnet-4-5", false}, {`{"transport":"api"}`, "", "", true}, {`{"tools":"Read"}`, key, "claude-sonnet-4-5", false},
		{`{"tools":"auto"}`, key, "claude-sonnet-4-5", true}, {`{"tools":"auto"}`, key, "opus", false},
	} {
		t.Setenv("ANTHROPIC_API_KEY", tc.key)
		p := newProvider()
		if err := p.configure(t.Context(), &sdk.Config{JSON: json.RawMessage(tc.config)}); err != nil {
			t.Fatal(err)
		}
		if got := p.api(tc.model); got != tc.api {
			t.Errorf("%+v: %v", tc, got)
		}
	}
}

func TestLimits(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	h := http.Header{}
	h.Set("anthropic-ratelimit-requests-limit", "100")
	h.Set("anthropic-ratelimit-requests-remaining", "25")
	h.Set("anthropic-ratelimit-requests-reset", "2026-11-20T12:06:00Z")
	h.Set("anthropic-ratelimit-tokens-limit", "lots")
	got := limits(h, now)
	if len(got) != 1 || got[0].Name != "requests_per_minute" || got[0].UsedFraction != 0.75 || !got[0].ResetAt.Equal(now.Add(6*time.Minute)) {
		t.Errorf("%+v", got)
	}
}
