package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/paxiom/relay/plugins/internal/codexcli"
	"github.com/paxiom/relay/plugins/internal/eventtest"
	"github.com/paxiom/relay/plugins/internal/vendortest"
	"github.com/paxiom/relay/sdk"
	"github.com/paxiom/relay/testdata/e2e"
	"github.com/paxiom/relay/testdata/fakemodel"
)

const key = "sk-canary-0815"

// server serves a script; the environment holds a key and nothing else of OpenAI.
func server(t *testing.T, script string) *fakemodel.Server {
	t.Helper()
	for _, v := range codexcli.Env() {
		t.Setenv(v.Name, "")
	}
	t.Setenv("OPENAI_API_KEY", key)
	return e2e.Model(t, `{"openai":`+script+`}`, nil)
}

func apiAt(t *testing.T, url string) sdk.Provider {
	t.Helper()
	return providerWith(t, `{"transport":"api","base_url":%q}`, url)
}

func providerWith(t *testing.T, format string, args ...any) sdk.Provider {
	t.Helper()
	p, cfg := newProvider().part(), fmt.Sprintf(format, args...)
	if err := p.Configure(t.Context(), &sdk.Config{JSON: json.RawMessage(cfg), WorkDir: t.TempDir()}); err != nil {
		t.Fatal(err)
	}
	return p
}

func ask(prompt string) *sdk.CompleteRequest {
	return &sdk.CompleteRequest{Model: "gpt-5.5", System: "Be brief.", Contents: []sdk.Content{{Text: prompt}}, Role: "orchestrator"}
}

const verdictSchema = `{"type":"object","properties":{"ok":{"type":"boolean"},"why":{"type":"string","maxLength":10}},"required":["ok"],"additionalProperties":false}`

var overAPI = vendortest.Provider{
	Serve: func(t *testing.T, script string) vendortest.Model { return server(t, script) }, At: apiAt, Ask: ask, Secret: key,
}

func TestAPIAnswers(t *testing.T) {
	m := server(t, `[{"thinking":"hm","text":"the answer is forty-two, and there is more to say","usage":{"input":1200,"output":34,"cache_read":200,"reasoning":10}}]`)
	log := &eventtest.Log{}
	r := ask("What is it?")
	r.Effort, r.MaxOutputTokens = "low", 500
	temperature := 0.25
	r.Temperature = &temperature
	got, err := apiAt(t, m.URL()+"/v1").Complete(t.Context(), r, log)
	if err != nil {
		t.Fatal(err)
	}
	if got.Text != "the answer is forty-two, and there is more to say" || log.Written() != got.Text || got.Model != "gpt-5.5" {
		t.Errorf("answer %+v, written %q", got, log.Written())
	}
	in, _ := got.Usage.Input.Value()
	cached, _ := got.Usage.CacheRead.Value()
	out, _ := got.Usage.Output.Value()
	thought, _ := got.Usage.Reasoning.Value()
	if _, priced := got.Usage.CostMicroUSD.Value(); in != 1000 || cached != 200 || out != 34 || thought != 10 || priced {
		t.Errorf("usage %+v", got.Usage)
	}
	req := e2e.Requests(t, m, 1)[0]
	if req.Headers.Get("Authorization") != "Bearer "+key || req.Path != "/v1/responses" {
		t.Errorf("request to %s", req.Path)
	}
	var body struct {
		Instructions    string
		Stream          bool
		Store           *bool
		MaxOutputTokens int     `json:"max_output_tokens"`
		Temperature     float64 `json:"temperature"`
		Reasoning       struct{ Effort string }
		Tools           []any
	}
	if err := json.Unmarshal(req.Body, &body); err != nil {
		t.Fatal(err)
	}
	if body.Instructions != "Be brief." || !body.Stream || body.Store == nil || *body.Store || body.MaxOutputTokens != 500 ||
		body.Temperature != 0.25 || body.Reasoning.Effort != "low" || len(body.Tools) > 0 {
		t.Errorf("body %+v", body)
	}
}

func TestAPISchema(t *testing.T) {
	for answer, want := range map[string]string{
		`{"ok":true}`:                               `{"ok":true}`,
		`{"ok":true,"why":null}`:                    `{"ok":true}`,
		`{"ok":true,"why":"longer than it may be"}`: "",
		`I think so.`:                               "",
	} {
		quoted, _ := json.Marshal(answer)
		m := server(t, fmt.Sprintf(`[{"text":%s}]`, quoted))
		r := ask("ok?")
		r.OutputSchema = json.RawMessage(verdictSchema)
		got, err := apiAt(t, m.URL()).Complete(t.Context(), r, &eventtest.Log{})
		if f := sdk.AsFailure(err); want == "" {
			if f == nil || f.Reason != sdk.BadOutput || f.Effect != sdk.EffectCharged {
				t.Errorf("%s: %+v %v", answer, got, err)
			}
			continue
		}
		if err != nil || string(got.JSON) != want {
			t.Errorf("%s: %+v %v", answer, got, err)
		}
		if body := string(e2e.Requests(t, m, 1)[0].Body); !strings.Contains(body, `"strict":true`) || !strings.Contains(body, `"json_schema"`) {
			t.Errorf("the schema was not sent: %s", body)
		}
	}
}

func TestAPIFailures(t *testing.T) {
	reset := time.Now().Add(3 * time.Hour).Truncate(time.Second)
	failing := func(status int, code, headers string) string {
		return fmt.Sprintf(`[{"times":-1,"error":{"status":%d,"headers":{"x-request-id":"req_7"%s},"body":{"error":{"type":"invalid_request_error","code":%q,"message":"no: %s"}}}}]`,
			status, headers, code, key)
	}
	overAPI.Failures(t, map[string]vendortest.Failing{
		"bad key":    {Script: failing(401, "invalid_api_key", ""), Want: vendortest.Want{Reason: sdk.AuthRejected, Check: func(f *sdk.Failure) bool { return f.UpstreamCode == "401 invalid_api_key" }}},
		"no access":  {Script: failing(403, "x", ""), Want: vendortest.Want{Reason: sdk.Permission}},
		"no model":   {Script: failing(404, "model_not_found", ""), Want: vendortest.Want{Reason: sdk.ModelUnknown}},
		"rate limit": {Script: failing(429, "rate_limit_exceeded", `,"retry-after":"7"`), Want: vendortest.Want{Reason: sdk.RateLimited, Check: func(f *sdk.Failure) bool { return f.RetryAfter == 7*time.Second }}},
		"in ms":      {Script: failing(429, "rate_limit_exceeded", `,"retry-after-ms":"250"`), Want: vendortest.Want{Reason: sdk.RateLimited, Check: func(f *sdk.Failure) bool { return f.RetryAfter == 250*time.Millisecond }}},
		"no credit":  {Script: failing(429, "insufficient_quota", ""), Want: vendortest.Want{Reason: sdk.Billing}},
		"usage limit": {Script: fmt.Sprintf(`[{"error":{"status":429,"headers":{"x-request-id":"req_7"},"body":{"error":{"type":"usage_limit_reached","message":"no","resets_at":%d}}}}]`, reset.Unix()),
			Want: vendortest.Want{Reason: sdk.QuotaExhausted, Check: func(f *sdk.Failure) bool { return f.ResetAt.Equal(reset) }}},
		"usage limit, seconds": {Script: `[{"error":{"status":429,"headers":{"x-request-id":"req_7"},"body":{"error":{"type":"usage_limit_reached","message":"no","resets_in_seconds":3600}}}}]`,
			Want: vendortest.Want{Reason: sdk.QuotaExhausted, Check: func(f *sdk.Failure) bool {
				return time.Until(f.ResetAt) > 59*time.Minute && time.Until(f.ResetAt) <= time.Hour
			}}},
		"too long":       {Script: failing(400, "context_length_exceeded", ""), Want: vendortest.Want{Reason: sdk.TooLarge}},
		"bad request":    {Script: failing(400, "x", ""), Want: vendortest.Want{Reason: sdk.BadRequest}},
		"server error":   {Script: failing(500, "x", ""), Want: vendortest.Want{Reason: sdk.Overloaded}},
		"html":           {Script: `[{"error":{"status":503,"headers":{"x-request-id":"req_7"},"body":"<html>bad gateway</html>"}}]`, Want: vendortest.Want{Reason: sdk.Overloaded}},
		"failed":         {Script: `[{"error":{"status":200,"stream":true}}]`, Want: vendortest.Want{Reason: sdk.Overloaded, Effect: sdk.EffectUnknown}},
		"error event":    {Script: `[{"error":{"status":200,"stream":true,"body":{"type":"error","code":"rate_limit_exceeded","message":"x"}}}]`, Want: vendortest.Want{Reason: sdk.RateLimited, Effect: sdk.EffectUnknown}},
		"dropped":        {Script: `[{"drop":true}]`, Want: vendortest.Want{Reason: sdk.Network, Effect: sdk.EffectUnknown}},
		"truncated":      {Script: `[{"text":"a text that is long enough to come in several pieces, so that half is something","truncate":true}]`, Want: vendortest.Want{Reason: sdk.Network, Effect: sdk.EffectCharged}},
		"silence":        {Script: `[{"hang":true}]`, Want: vendortest.Want{Reason: sdk.Timeout, Effect: sdk.EffectUnknown}},
		"half an answer": {Script: `[{"text":"x","hang_stream":true}]`, Want: vendortest.Want{Reason: sdk.Timeout, Effect: sdk.EffectUnknown}},
		"empty":          {Script: `[{"text":""}]`, Want: vendortest.Want{Reason: sdk.BadOutput, Effect: sdk.EffectCharged}},
		"no message": {Script: `[{"tool":{"name":"shell","input":{}}}]`, Want: vendortest.Want{Reason: sdk.BadOutput, Effect: sdk.EffectCharged, Check: func(f *sdk.Failure) bool {
			return f.Summary == "the model ended without a message"
		}}},
		"cut": {Script: `[{"text":"cut","stop_reason":"incomplete"}]`, Want: vendortest.Want{Reason: sdk.TooLarge, Effect: sdk.EffectCharged}},
	})
}

func TestAPIConnectionRefused(t *testing.T) { overAPI.Refused(t, sdk.EffectNone) }

func TestAPICancel(t *testing.T) { overAPI.Cancelled(t) }

func TestAPIKeysAndModels(t *testing.T) {
	m := server(t, `[{"text":"x","times":-1}]`)
	p := apiAt(t, m.URL())
	r := ask("hello")
	r.Model = ""
	if _, err := p.Complete(t.Context(), r, &eventtest.Log{}); err == nil || sdk.AsFailure(err).Reason != sdk.BadConfig {
		t.Errorf("without a model: %v", err)
	}
	models, err := p.ListModels(t.Context())
	if err != nil || len(models) != 1 || models[0].ID != "gpt-5.5" {
		t.Errorf("%v %v", models, err)
	}
	if h, err := p.Health(t.Context(), true); err != nil || strings.Contains(h.Detail, key) {
		t.Errorf("%+v %v", h, err)
	}
	t.Setenv("OPENAI_API_KEY", "")
	if _, err := p.Complete(t.Context(), ask("hello"), &eventtest.Log{}); err != nil {
		t.Errorf("a server of one's own needs no key: %v", err)
	}
	if got := e2e.Requests(t, m, 3); got[len(got)-1].Headers.Get("Authorization") != "" {
		t.Error("a key was sent that does not exist")
	}
	p = apiAt(t, "")
	if _, err := p.Health(t.Context(), false); err == nil || sdk.AsFailure(err).Reason != sdk.NotLoggedIn {
		t.Errorf("without a key: %v", err)
	}
}

// The API counts a long prompt when the configuration says what the model takes; one that
// is too long is not sent. A server that does not count is asked for the answer at once.
func TestAPITooLong(t *testing.T) {
	m := server(t, `[{"text":"fine","times":-1}]`)
	p := providerWith(t, `{"transport":"api","base_url":%q,"context_tokens":100000}`, m.URL()+"/v1")
	for _, tc := range []struct {
		bytes  int
		says   string
		served []string
	}{
		{1000, "", []string{"openai"}},
		{300 << 10, "", []string{"input_tokens", "openai"}},
		{500 << 10, "too long for gpt-5.5 by ", []string{"input_tokens"}},
	} {
		before := len(m.Requests())
		r := ask(strings.Repeat("x", tc.bytes))
		got, err := p.Complete(t.Context(), r, &eventtest.Log{})
		if tc.says != "" {
			f := sdk.AsFailure(err)
			vendortest.Want{Reason: sdk.TooLarge, Effect: sdk.EffectNone}.Hold(t, got, f)
			if !strings.Contains(f.Summary, tc.says) {
				t.Errorf("%q", f.Summary)
			}
		} else if err != nil {
			t.Errorf("%d bytes: %v", tc.bytes, err)
		}
		var served []string
		for _, q := range e2e.Requests(t, m, before+len(tc.served))[before:] {
			served = append(served, strings.Fields(q.Served)[0])
		}
		if !slices.Equal(served, tc.served) {
			t.Errorf("%d bytes: asked %q", tc.bytes, served)
		}
	}
	r := ask("hello")
	r.OutputSchema = json.RawMessage(verdictSchema)
	if n, err := p.CountTokens(t.Context(), r); err != nil || n < 50 {
		t.Errorf("%d %v", n, err)
	}
	all := m.Requests()
	if body := string(all[len(all)-1].Body); !strings.Contains(body, "json_schema") || !strings.Contains(body, "Be brief.") || strings.Contains(body, "stream") {
		t.Errorf("counted: %s", body)
	}
	dumb := httptest.NewServer(http.NotFoundHandler())
	defer dumb.Close()
	_, err := providerWith(t, `{"transport":"api","base_url":%q}`, dumb.URL).CountTokens(t.Context(), ask("hello"))
	vendortest.Want{Reason: sdk.Unsupported, Effect: sdk.EffectNone}.Hold(t, nil, sdk.AsFailure(err))
	_, err = providerWith(t, `{"transport":"cli"}`).CountTokens(t.Context(), ask("hello"))
	vendortest.Want{Reason: sdk.Unsupported, Effect: sdk.EffectNone}.Hold(t, nil, sdk.AsFailure(err))
}

// Calls that begin alike go to the same part of the vendor's cache, others do not.
func TestCacheKey(t *testing.T) {
	a, b, other, role := ask("one"), ask("two"), ask("one"), ask("one")
	other.System, role.Role = "Be long.", "audit_a"
	if k := cacheKey(a); k != cacheKey(b) || k == cacheKey(other) || k == cacheKey(role) || len(k) > 64 {
		t.Errorf("%s %s %s %s", k, cacheKey(b), cacheKey(other), cacheKey(role))
	}
}

func TestAuto(t *testing.T) {
	server(t, `[]`)
	for _, tc := range []struct {
		config, key, model string
		api                bool
	}{
		{`{}`, key, "m", true}, {`{}`, key, "", false}, {`{}`, "", "m", false}, {`{"base_url":"http://127.0.0.1:1"}`, "", "m", true},
		{`{"transport":"cli"}`, key, "m", false}, {`{"transport":"api"}`, "", "", true}, {`{"tools":"read"}`, key, "m", false}, {`{"tools":"auto"}`, key, "m", true}, {`{"tools":"auto"}`, "", "m", false},
	} {
		t.Setenv("OPENAI_API_KEY", tc.key)
		p := newProvider()
		if err := p.configure(t.Context(), &sdk.Config{JSON: json.RawMessage(tc.config)}); err != nil {
			t.Fatal(err)
		}
		if got := p.api(tc.model); got != tc.api {
			t.Errorf("%+v: %v", tc, got)
		}
	}
	for _, bad := range []string{`{"transport":"fax"}`, `{"tools":"write"}`, `{"tools":"read","transport":"api"}`, `{"nope":1}`} {
		if err := newProvider().configure(t.Context(), &sdk.Config{JSON: json.RawMessage(bad)}); err == nil || sdk.AsFailure(err).Reason != sdk.BadConfig {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

func TestLimits(t *testing.T) {
	now := time.Now()
	h := http.Header{}
	h.Set("x-ratelimit-limit-requests", "100")
	h.Set("x-ratelimit-remaining-requests", "25")
	h.Set("x-ratelimit-reset-requests", "6m0s")
	h.Set("x-ratelimit-limit-tokens", "lots")
	got := limits(h, now)
	if len(got) != 1 || got[0].UsedFraction != 0.75 || !got[0].ResetAt.Equal(now.Add(6*time.Minute)) {
		t.Errorf("%+v", got)
	}
}
