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

// start serves a script to the real program; nothing else of the user's is there.
func start(t *testing.T, script string) *fakemodel.Server {
	t.Helper()
	e2e.Gemini(t)
	m := server(t, script)
	for name, value := range e2e.Env(t, m) {
		t.Setenv(name, value)
	}
	t.Setenv("GEMINI_API_KEY", key)
	return m
}

func cliAt(t *testing.T, url string) sdk.Provider {
	return configured(t, `{"transport":"cli","command":%q,"base_url":%q}`, e2e.Gemini(t), url)
}

var overCLI = vendortest.Provider{
	Serve: func(t *testing.T, script string) vendortest.Model { return start(t, script) }, At: cliAt, Ask: ask, Secret: key, Idle: 40 * time.Second,
}

func TestE2EAnswers(t *testing.T) {
	m := start(t, `[{"text":"the answer is forty-two","usage":{"input":1200,"output":34,"cache_read":200,"reasoning":5}}]`)
	log := &eventtest.Log{}
	// More than an argument may have; and since the program repeats it in its output, and
	// ends without waiting until that is read, more than a usual pipe holds.
	got, err := cliAt(t, m.URL()).Complete(t.Context(), ask(strings.Repeat("a long prompt. ", 60_000)), log)
	if err != nil {
		t.Fatal(err)
	}
	in, _ := got.Usage.Input.Value()
	out, _ := got.Usage.Output.Value()
	if got.Text != "the answer is forty-two" || log.Written() != got.Text || got.Model != "gemini-2.5-pro" || in != 1000 || out != 39 {
		t.Errorf("answer %+v, written %q", got, log.Written())
	}
	if !strings.Contains(log.String(), "started gemini-2.5-pro 0.61.") {
		t.Errorf("events:\n%s", log)
	}
	all := e2e.Requests(t, m, 1)
	body := string(all[0].Body)
	if n := strings.Count(body, "a long prompt."); n != 60_000 || !strings.Contains(body, "Be brief.") || strings.Contains(body, `"functionDeclarations":[{`) || len(all) != 1 {
		t.Errorf("%d of 60,000 pieces of the prompt came through, in %d requests: %.300s", n, len(all), body)
	}
	if all[0].Headers.Get("X-Goog-Api-Key") != key {
		t.Error("the key was not sent")
	}
}

func TestE2ESchema(t *testing.T) {
	for answer, want := range map[string]string{"```json\\n{\\\"ok\\\":true}\\n```": `{"ok":true}`, `I think so.`: ""} {
		m := start(t, `[{"text":"`+answer+`"}]`)
		r := ask("ok?")
		r.OutputSchema = json.RawMessage(verdictSchema)
		got, err := cliAt(t, m.URL()).Complete(t.Context(), r, &eventtest.Log{})
		if want == "" {
			vendortest.Want{Reason: sdk.BadOutput, Effect: sdk.EffectCharged}.Hold(t, got, sdk.AsFailure(err))
		} else if err != nil || string(got.JSON) != want {
			t.Errorf("%s: %+v %v", answer, got, err)
		}
		if !strings.Contains(string(e2e.Requests(t, m, 1)[0].Body), "additionalProperties") {
			t.Error("the schema was not asked for")
		}
	}
}

func TestE2EFailures(t *testing.T) {
	failing := func(status int, details string) string {
		return fmt.Sprintf(`[{"times":-1,"error":{"status":%d,"body":{"error":{"code":%[1]d,"message":"no","status":"X","details":[%s]}}}}]`, status, details)
	}
	quota := func(id string) string {
		return `{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":"` + id + `","quotaValue":"2"}]},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"2s"}`
	}
	bad := func(script string, reason sdk.Reason, check func(*sdk.Failure) bool) vendortest.Failing {
		return vendortest.Failing{Script: script, Want: vendortest.Want{Reason: reason, Check: check}}
	}
	overCLI.ProgramFailures(t, map[string]vendortest.Failing{
		"bad key":     bad(failing(400, `{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID","domain":"googleapis.com"}`), sdk.AuthRejected, nil),
		"no access":   bad(failing(403, ""), sdk.Permission, nil),
		"no model":    bad(failing(404, ""), sdk.ModelUnknown, nil),
		"rate limit":  bad(failing(429, quota("GenerateRequestsPerMinute")), sdk.RateLimited, func(f *sdk.Failure) bool { return f.RetryAfter == 2*time.Second }),
		"usage limit": bad(failing(429, quota("GenerateRequestsPerDay")), sdk.QuotaExhausted, func(f *sdk.Failure) bool { return time.Until(f.ResetAt) > 0 }),
		"overload":    bad(failing(503, ""), sdk.Overloaded, nil),
		"empty":       bad(`[{"text":"","times":-1}]`, sdk.BadOutput, nil),
		"cut":         bad(`[{"text":"cut","stop_reason":"MAX_TOKENS","times":-1}]`, sdk.TooLarge, nil),
		"safety":      bad(`[{"text":"half","stop_reason":"SAFETY","times":-1}]`, sdk.Refused, nil),
	})
}

func TestE2ESilence(t *testing.T) {
	silent := overCLI
	silent.Idle = 8 * time.Second
	silent.ProgramFailures(t, map[string]vendortest.Failing{"hang": {Script: `[{"hang":true,"times":-1}]`, Want: vendortest.Want{Reason: sdk.Timeout}}})
}

func TestE2EConnectionRefused(t *testing.T) { overCLI.Refused(t, 0) }

func TestE2ECancel(t *testing.T) { overCLI.Cancelled(t) }

// Nothing of the user's or the repository's files gets into the request or is run, but
// for the memory file of a repository that the program may read, which is told.
func TestE2EIsolation(t *testing.T) {
	m := start(t, `[{"text":"fine","times":-1}]`)
	home, repo, ran := os.Getenv("HOME"), t.TempDir(), filepath.Join(t.TempDir(), "ran")
	hooks := fmt.Sprintf(`{"hooksConfig":{"enabled":true},"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"touch %[1]s"}]}]},
		"mcpServers":{"x":{"command":"touch","args":[%[1]q]}},"tools":{"discoveryCommand":"touch %[1]s"}}`, ran)
	for path, text := range map[string]string{
		filepath.Join(home, ".gemini/settings.json"):     hooks,
		filepath.Join(home, ".gemini/GEMINI.md"):         "MEMORY-CANARY",
		filepath.Join(repo, ".gemini/settings.json"):     hooks,
		filepath.Join(repo, ".gemini/skills/x/SKILL.md"): "---\nname: x\ndescription: SKILL-CANARY\n---\n",
		filepath.Join(repo, ".env"):                      "GEMINI_SYSTEM_MD=" + filepath.Join(home, ".gemini/GEMINI.md") + "\n",
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(repo)
	for _, more := range []string{"", `,"tools":"read"`} {
		p := configured(t, `{"transport":"cli","command":%q,"base_url":%q%s}`, e2e.Gemini(t), m.URL(), more)
		if _, err := p.Complete(t.Context(), ask("hello"), &eventtest.Log{}); err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range m.Requests() {
		if i := strings.Index(string(r.Body), "-CANARY"); i >= 0 {
			t.Errorf("sent: %.60s", string(r.Body)[max(0, i-40):])
		}
		for _, tool := range []string{"write_file", "run_shell_command", "web_fetch"} {
			if strings.Contains(string(r.Body), `"`+tool+`"`) {
				t.Errorf("the tool %s was offered", tool)
			}
		}
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("a hook, server or command of the settings ran")
	}
	if left, err := filepath.Glob(filepath.Join(home, ".gemini", "*")); err != nil || len(left) != 2 {
		t.Errorf("the user's folder of Gemini CLI has now %q", left)
	}
	if err := os.WriteFile(filepath.Join(repo, ".gemini/.env"), []byte("GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	p := configured(t, `{"transport":"cli","command":%q,"base_url":%q,"tools":"read"}`, e2e.Gemini(t), m.URL())
	got, err := p.Complete(t.Context(), ask("hello"), &eventtest.Log{})
	vendortest.Want{Reason: sdk.BadConfig, Effect: sdk.EffectNone}.Hold(t, got, sdk.AsFailure(err))
}

func TestE2EHealth(t *testing.T) {
	m := start(t, `[]`)
	h, err := cliAt(t, m.URL()).Health(t.Context(), false)
	if err != nil || !strings.Contains(h.Detail, "gemini 0.61.0, API key of GEMINI_API_KEY") || strings.Contains(h.Detail, key) {
		t.Errorf("%+v %v", h, err)
	}
	t.Setenv("GEMINI_API_KEY", "")
	_, err = configured(t, `{"transport":"cli","command":%q}`, e2e.Gemini(t)).Health(t.Context(), false)
	vendortest.Want{Reason: sdk.NotLoggedIn}.Hold(t, nil, sdk.AsFailure(err))
}
