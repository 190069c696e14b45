package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/paxiom/relay/plugins/internal/eventtest"
	"github.com/paxiom/relay/plugins/internal/geminicli"
	"github.com/paxiom/relay/plugins/internal/vendortest"
	"github.com/paxiom/relay/sdk"
	"github.com/paxiom/relay/testdata/e2e"
	"github.com/paxiom/relay/testdata/fakemodel"
)

const key = "AIza-canary-0815"

// clean is an environment with a key and nothing else of Google.
func clean(t *testing.T) {
	t.Helper()
	for _, v := range geminicli.Env() {
		t.Setenv(v.Name, "")
	}
	t.Setenv("HOME", t.TempDir())
	t.Setenv("GEMINI_API_KEY", key)
}

func server(t *testing.T, script string) *fakemodel.Server {
	t.Helper()
	clean(t)
	return e2e.Model(t, `{"gemini":`+script+`}`, nil)
}

func configured(t *testing.T, format string, args ...any) sdk.Provider {
	t.Helper()
	p := newProvider().part()
	if err := p.Configure(t.Context(), &sdk.Config{JSON: json.RawMessage(fmt.Sprintf(format, args...)), WorkDir: t.TempDir()}); err != nil {
		t.Fatal(err)
	}
	return p
}

func apiAt(t *testing.T, url string) sdk.Provider {
	return configured(t, `{"transport":"api","base_url":%q}`, url)
}

func ask(prompt string) *sdk.CompleteRequest {
	return &sdk.CompleteRequest{Model: "gemini-2.5-pro", System: "Be brief.", Contents: []sdk.Content{{Text: prompt}}, Role: "orchestrator"}
}

var overAPI = vendortest.Provider{Serve: func(t *testing.T, script string) vendortest.Model { return server(t, script) }, At: apiAt, Ask: ask, Secret: key}

const verdictSchema = `{"type":"object","properties":{"ok":{"type":"boolean"},"why":{"type":"string","maxLength":10}},"required":["ok"],"additionalProperties":false}`

func TestAPIAnswers(t *testing.T) {
	m := server(t, `[{"thinking":"hm","text":"the answer is forty-two","usage":{"input":1200,"output":34,"cache_read":200,"reasoning":10}}]`)
	log := &eventtest.Log{}
	r := ask("What is it?")
	r.Contents = append([]sdk.Content{{MediaType: "image/png", Data: []byte{1, 2}}}, r.Contents...)
	r.Effort, r.MaxOutputTokens = "low", 500
	temperature := 0.25
	r.Temperature = &temperature
	got, err := apiAt(t, m.URL()).Complete(t.Context(), r, log)
	if err != nil {
		t.Fatal(err)
	}
	if got.Text != "the answer is forty-two" || log.Written() != got.Text || got.Model != "gemini-2.5-pro" || got.StopReason != "STOP" {
		t.Errorf("answer %+v, written %q", got, log.Written())
	}
	in, _ := got.Usage.Input.Value()
	cached, _ := got.Usage.CacheRead.Value()
	out, _ := got.Usage.Output.Value()
	thought, _ := got.Usage.Reasoning.Value()
	if _, priced := got.Usage.CostMicroUSD.Value(); in != 1000 || cached != 200 || out != 44 || thought != 10 || priced {
		t.Errorf("usage %+v", got.Usage)
	}
	req := e2e.Requests(t, m, 1)[0]
	if req.Headers.Get("X-Goog-Api-Key") != key || req.Path != "/v1beta/models/gemini-2.5-pro:streamGenerateContent" || strings.Contains(req.Query, key) {
		t.Errorf("request to %s?%s", req.Path, req.Query)
	}
	body := string(req.Body)
	for _, want := range []string{`"Be brief."`, `"What is it?"`, `"inlineData"`, `"maxOutputTokens":500`, `"temperature":0.25`, `"thinkingBudget":1024`} {
		if !strings.Contains(body, want) {
			t.Errorf("no %s in %s", want, body)
		}
	}
}

func TestAPISchema(t *testing.T) {
	for answer, want := range map[string]string{
		`{"ok":true}`: `{"ok":true}`, `{"ok":true,"why":null}`: `{"ok":true}`, `{"ok":true,"why":"longer than it may be"}`: "", `I think so.`: "",
	} {
		quoted, _ := json.Marshal(answer)
		m := server(t, fmt.Sprintf(`[{"text":%s}]`, quoted))
		r := ask("ok?")
		r.OutputSchema = json.RawMessage(verdictSchema)
		got, err := apiAt(t, m.URL()).Complete(t.Context(), r, &eventtest.Log{})
		if want == "" {
			vendortest.Want{Reason: sdk.BadOutput, Effect: sdk.EffectCharged}.Hold(t, got, sdk.AsFailure(err))
		} else if err != nil || string(got.JSON) != want {
			t.Errorf("%s: %+v %v", answer, got, err)
		}
		if body := string(e2e.Requests(t, m, 1)[0].Body); !strings.Contains(body, `"responseJsonSchema"`) || !strings.Contains(body, `"application/json"`) {
			t.Errorf("the schema was not sent: %s", body)
		}
	}
}

func TestAPIFailures(t *testing.T) {
	failing := func(status int, code, details, headers string) string {
		return fmt.Sprintf(`[{"times":-1,"error":{"status":%d,"headers":{"x-request-id":"req_7"%s},"body":{"error":{"code":%d,"status":%q,"message":"no: %s","details":[%s]}}}}]`,
			status, headers, status, code, key, details)
	}
	bad := func(script string, reason sdk.Reason, check func(*sdk.Failure) bool) vendortest.Failing {
		return vendortest.Failing{Script: script, Want: vendortest.Want{Reason: reason, Check: check}}
	}
	then := func(script string, reason sdk.Reason, effect sdk.Effect) vendortest.Failing {
		return vendortest.Failing{Script: script, Want: vendortest.Want{Reason: reason, Effect: effect}}
	}
	quota := func(id string) string {
		return `{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":"` + id + `","quotaValue":"2"}]},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"7s"}`
	}
	overAPI.Failures(t, map[string]vendortest.Failing{
		"bad key":     bad(failing(400, "INVALID_ARGUMENT", `{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID"}`, ""), sdk.AuthRejected, func(f *sdk.Failure) bool { return f.UpstreamCode == "400 INVALID_ARGUMENT" }),
		"no login":    bad(failing(401, "UNAUTHENTICATED", "", ""), sdk.AuthRejected, nil),
		"no access":   bad(failing(403, "PERMISSION_DENIED", "", ""), sdk.Permission, nil),
		"no model":    bad(failing(404, "NOT_FOUND", "", ""), sdk.ModelUnknown, nil),
		"rate limit":  bad(failing(429, "RESOURCE_EXHAUSTED", quota("GenerateRequestsPerMinute"), ""), sdk.RateLimited, func(f *sdk.Failure) bool { return f.RetryAfter == 7*time.Second }),
		"by header":   bad(failing(429, "RESOURCE_EXHAUSTED", "", `,"retry-after":"3"`), sdk.RateLimited, func(f *sdk.Failure) bool { return f.RetryAfter == 3*time.Second }),
		"usage limit": bad(failing(429, "RESOURCE_EXHAUSTED", quota("GenerateRequestsPerDay"), ""), sdk.QuotaExhausted, func(f *sdk.Failure) bool { return time.Until(f.ResetAt) > 0 && time.Until(f.ResetAt) <= 25*time.Hour }),
		"bad request": bad(failing(400, "INVALID_ARGUMENT", "", ""), sdk.BadRequest, nil),
		"overload":    bad(failing(503, "UNAVAILABLE", "", ""), sdk.Overloaded, nil),
		"html":        bad(`[{"error":{"status":502,"headers":{"x-request-id":"req_7"},"body":"<html>bad gateway</html>"}}]`, sdk.Overloaded, nil),
		"error event": then(`[{"error":{"status":503,"stream":true}}]`, sdk.Overloaded, sdk.EffectUnknown),
		"dropped":     then(`[{"drop":true}]`, sdk.Network, sdk.EffectUnknown),
		"truncated":   then(`[{"thinking":"x","text":"half","truncate":true}]`, sdk.Network, sdk.EffectCharged),
		"silence":     then(`[{"hang":true}]`, sdk.Timeout, sdk.EffectUnknown),
		"half":        then(`[{"thinking":"x","text":"x","hang_stream":true}]`, sdk.Timeout, sdk.EffectCharged),
		"empty":       then(`[{"text":""}]`, sdk.BadOutput, sdk.EffectCharged),
		"cut":         then(`[{"text":"cut","stop_reason":"MAX_TOKENS"}]`, sdk.TooLarge, sdk.EffectCharged),
		"safety":      then(`[{"text":"no","stop_reason":"SAFETY"}]`, sdk.Refused, sdk.EffectCharged),
		"new stop":    then(`[{"text":"x","stop_reason":"SOMETHING_NEW"}]`, sdk.BadOutput, sdk.EffectCharged),
	})
}

func TestAPIConnectionRefused(t *testing.T) { overAPI.Refused(t, sdk.EffectNone) }

func TestAPICancel(t *testing.T) { overAPI.Cancelled(t) }

func TestAPIFallback(t *testing.T) {
	m := server(t, `[{"match_model":"pro","times":-1,"error":{"status":503}},{"match_model":"flash","text":"from the other one","times":-1}]`)
	log := &eventtest.Log{}
	r := ask("hello")
	r.FallbackModel = "gemini-2.5-flash"
	got, err := apiAt(t, m.URL()).Complete(t.Context(), r, log)
	if err != nil || got.Model != "gemini-2.5-flash" || !strings.Contains(log.String(), "notice asking gemini-2.5-flash instead") {
		t.Errorf("%+v %v\n%s", got, err, log)
	}
}

func TestAPICountsModelsAndKeys(t *testing.T) {
	m := server(t, `[{"text":"x","times":-1}]`)
	p := apiAt(t, m.URL())
	r := ask(strings.Repeat("word ", 1000))
	if n, err := p.CountTokens(t.Context(), r); err != nil || n < 1000 {
		t.Errorf("%d %v", n, err)
	}
	if got := e2e.Requests(t, m, 1)[0]; !strings.HasSuffix(got.Path, ":countTokens") || !strings.Contains(string(got.Body), "Be brief.") {
		t.Errorf("%+v", got)
	}
	models, err := p.ListModels(t.Context())
	if err != nil || len(models) != 1 || models[0].ID != "gemini-2.5-pro" || models[0].ContextTokens != 1048576 {
		t.Errorf("%+v %v", models, err)
	}
	if h, err := p.Health(t.Context(), true); err != nil || strings.Contains(h.Detail, key) || !strings.Contains(h.Detail, "API key of GEMINI_API_KEY") {
		t.Errorf("%+v %v", h, err)
	}
	r.Model = ""
	_, err = p.Complete(t.Context(), r, &eventtest.Log{})
	vendortest.Want{Reason: sdk.BadConfig}.Hold(t, nil, sdk.AsFailure(err))
	t.Setenv("GEMINI_API_KEY", "")
	if _, err := p.Complete(t.Context(), ask("hello"), &eventtest.Log{}); err != nil {
		t.Errorf("a server of one's own needs no key: %v", err)
	}
	all := e2e.Requests(t, m, 4)
	if got := all[len(all)-1].Headers.Get("X-Goog-Api-Key"); got != "" {
		t.Errorf("a key was sent that does not exist: %s", got)
	}
	_, err = apiAt(t, "").Health(t.Context(), false)
	vendortest.Want{Reason: sdk.NotLoggedIn}.Hold(t, nil, sdk.AsFailure(err))
}

func TestAuto(t *testing.T) {
	for _, tc := range []struct {
		config, env, model string
		api                bool
	}{
		{`{}`, "GEMINI_API_KEY=x", "m", true}, {`{}`, "GOOGLE_API_KEY=x", "m", true}, {`{}`, "GEMINI_API_KEY=x", "", false}, {`{}`, "", "m", false},
		{`{"base_url":"http://127.0.0.1:1"}`, "", "m", true}, {`{}`, "GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:1", "m", true}, {`{"backend":"vertex","project":"p"}`, "", "m", true},
		{`{"transport":"cli"}`, "GEMINI_API_KEY=x", "m", false}, {`{"transport":"api"}`, "", "", true}, {`{"tools":"read"}`, "GEMINI_API_KEY=x", "m", false}, {`{"tools":"auto"}`, "GEMINI_API_KEY=x", "m", true}, {`{"tools":"auto"}`, "", "m", false},
	} {
		clean(t)
		t.Setenv("GEMINI_API_KEY", "")
		if name, value, ok := strings.Cut(tc.env, "="); ok {
			t.Setenv(name, value)
		}
		p := newProvider()
		if err := p.configure(t.Context(), &sdk.Config{JSON: json.RawMessage(tc.config)}); err != nil {
			t.Fatal(err)
		}
		if got := p.api(tc.model); got != tc.api {
			t.Errorf("%+v: %v", tc, got)
		}
	}
	for _, bad := range []string{`{"transport":"fax"}`, `{"tools":"write"}`, `{"tools":"read","transport":"api"}`, `{"nope":1}`, `{"backend":"x"}`, `{"backend":"gemini","project":"p"}`} {
		err := newProvider().configure(t.Context(), &sdk.Config{JSON: json.RawMessage(bad)})
		vendortest.Want{Reason: sdk.BadConfig}.Hold(t, bad, sdk.AsFailure(err))
	}
}
