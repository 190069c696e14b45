package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
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

// start configures the provider for the real program and a scripted model.
func start(t *testing.T, script string) (sdk.Provider, *fakemodel.Server) {
	t.Helper()
	e2e.Codex(t)
	model := e2e.Model(t, `{"openai":`+script+`}`, nil)
	for name, value := range e2e.Env(t, model) {
		t.Setenv(name, value)
	}
	for _, v := range codexcli.Env() {
		t.Setenv(v.Name, "")
	}
	t.Setenv("OPENAI_API_KEY", key)
	return cliAt(t, model.URL()+"/v1", ""), model
}

func cliAt(t *testing.T, url, more string) sdk.Provider {
	t.Helper()
	p := newProvider().part()
	cfg := fmt.Sprintf(`{"transport":"cli","command":%q,"base_url":%q%s}`, e2e.Codex(t), url, more)
	if err := p.Configure(t.Context(), &sdk.Config{JSON: json.RawMessage(cfg), WorkDir: t.TempDir()}); err != nil {
		t.Fatal(err)
	}
	return p
}

var overCLI = vendortest.Provider{
	Serve: func(t *testing.T, script string) vendortest.Model { _, m := start(t, script); return m },
	At:    func(t *testing.T, url string) sdk.Provider { return cliAt(t, url+"/v1", "") }, Ask: ask, Secret: key, Idle: 20 * time.Second,
}

func TestE2EAnswers(t *testing.T) {
	p, model := start(t, `[{"text":"the answer is forty-two","usage":{"input":1200,"output":34,"cache_read":200}}]`)
	log := &eventtest.Log{}
	prompt := strings.Repeat("a long prompt. ", 69_000) // as much as it takes, by standard input
	got, err := p.Complete(t.Context(), ask(prompt), log)
	if err != nil {
		t.Fatal(err)
	}
	if got.Text != "the answer is forty-two" || log.Written() != got.Text || got.Model != "gpt-5.5" {
		t.Errorf("answer %+v, written %q", got, log.Written())
	}
	in, _ := got.Usage.Input.Value()
	if _, priced := got.Usage.CostMicroUSD.Value(); priced || in != 1000 {
		t.Errorf("usage %+v", got.Usage)
	}
	if !strings.Contains(log.String(), "started gpt-5.5 0.169.") {
		t.Errorf("events:\n%s", log)
	}
	req := e2e.Requests(t, model, 1)[0]
	body := string(req.Body)
	if n := strings.Count(body, "a long prompt."); n != 69_000 || !strings.Contains(body, "Be brief.") {
		t.Errorf("%d of 69,000 pieces of the prompt came through", n)
	}
	if req.Headers.Get("Authorization") != "Bearer "+key {
		t.Error("the key was not sent")
	}
	for _, tool := range []string{`"exec_command"`, `"web_search"`, `"create_goal"`} {
		if strings.Contains(body, tool) {
			t.Errorf("the tool %s was offered", tool)
		}
	}
}

func TestE2ESchema(t *testing.T) {
	for answer, want := range map[string]string{`{\"ok\":true,\"why\":null}`: `{"ok":true}`, `I think so.`: ""} {
		p, model := start(t, `[{"text":"`+answer+`"}]`)
		r := ask("ok?")
		r.OutputSchema = json.RawMessage(verdictSchema)
		got, err := p.Complete(t.Context(), r, &eventtest.Log{})
		if f := sdk.AsFailure(err); want == "" {
			if f == nil || f.Reason != sdk.BadOutput || f.Effect != sdk.EffectCharged {
				t.Errorf("%s: %+v %v", answer, got, err)
			}
			continue
		}
		if err != nil || string(got.JSON) != want {
			t.Errorf("%s: %+v %v", answer, got, err)
		}
		if !strings.Contains(string(e2e.Requests(t, model, 1)[0].Body), `"strict":true`) {
			t.Error("the schema was not sent")
		}
	}
}

func TestE2EFailures(t *testing.T) {
	reset := time.Now().Add(3 * time.Hour).Truncate(time.Minute)
	failing := func(status int, extra string) string {
		return fmt.Sprintf(`[{"times":-1,"error":{"status":%d%s}}]`, status, extra)
	}
	bad := func(script string, reason sdk.Reason, check func(*sdk.Failure) bool) vendortest.Failing {
		return vendortest.Failing{Script: script, Want: vendortest.Want{Reason: reason, Check: check}}
	}
	overCLI.ProgramFailures(t, map[string]vendortest.Failing{
		"bad key":    bad(failing(401, ""), sdk.AuthRejected, nil),
		"no access":  bad(failing(403, ""), sdk.Permission, nil),
		"rate limit": bad(failing(429, ""), sdk.RateLimited, func(f *sdk.Failure) bool { return f.RetryAfter > 0 }),
		"usage limit": bad(failing(429, fmt.Sprintf(`,"body":{"error":{"type":"usage_limit_reached","plan_type":"plus","resets_at":%d}}`, reset.Unix())),
			sdk.QuotaExhausted, func(f *sdk.Failure) bool { return f.ResetAt.Equal(reset) }),
		"no credit": bad(failing(429, `,"body":{"error":{"type":"insufficient_quota","code":"insufficient_quota","message":"x"}}`), sdk.Billing, nil),
		"overload":  bad(failing(500, ""), sdk.Overloaded, nil),
		"too long":  bad(failing(400, `,"body":{"error":{"code":"context_length_exceeded","message":"x"}}`), sdk.TooLarge, nil),
		"empty":     bad(`[{"text":"","times":-1}]`, sdk.BadOutput, nil),
		"cut":       bad(`[{"text":"cut","stop_reason":"incomplete","times":-1}]`, sdk.TooLarge, nil),
	})
	silent := overCLI
	silent.Idle = 4 * time.Second
	silent.ProgramFailures(t, map[string]vendortest.Failing{"silence": bad(`[{"hang":true,"times":-1}]`, sdk.Timeout, nil)})
}

func TestE2ERecovers(t *testing.T) {
	p, _ := start(t, `[{"error":{"status":429,"headers":{"retry-after":"1"}}},{"text":"recovered"}]`)
	log := &eventtest.Log{}
	got, err := p.Complete(t.Context(), ask("hello"), log)
	if err != nil || got.Text != "recovered" || !strings.Contains(log.String(), "notice codex: Reconnecting") {
		t.Fatalf("%+v %v\n%s", got, err, log)
	}
}

func TestE2EConnectionRefused(t *testing.T) { overCLI.Refused(t, 0) }

func TestE2ECancel(t *testing.T) { overCLI.Cancelled(t) }

// Nothing of the user's or the repository's files gets into the request, and the
// user's home of Codex stays as it is.
func TestE2EIsolation(t *testing.T) {
	_, model := start(t, `[{"text":"fine","times":-1}]`)
	home, repo := os.Getenv("HOME"), t.TempDir()
	for path, text := range map[string]string{
		filepath.Join(home, ".codex/AGENTS.md"):          "MEMORY-CANARY",
		filepath.Join(home, ".codex/config.toml"):        "developer_instructions = \"CONFIG-CANARY\"\n",
		filepath.Join(repo, "AGENTS.md"):                 "REPO-CANARY",
		filepath.Join(repo, ".agents/skills/x/SKILL.md"): "---\nname: x\ndescription: SKILL-CANARY\n---\n",
		filepath.Join(repo, ".codex/config.toml"):        "developer_instructions = \"CONFIG-CANARY\"\n",
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
		if _, err := cliAt(t, model.URL()+"/v1", more).Complete(t.Context(), ask("hello"), &eventtest.Log{}); err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range model.Requests() {
		if i := strings.Index(string(r.Body), "-CANARY"); i >= 0 {
			t.Errorf("sent: %.60s", string(r.Body)[max(0, i-40):])
		}
	}
	left, err := filepath.Glob(filepath.Join(home, ".codex", "*"))
	if err != nil || len(left) != 2 {
		t.Errorf("the user's home of Codex has now %q", left)
	}
	if left, _ = filepath.Glob(filepath.Join(home, ".cache/relay/codex/*")); len(left) != 0 {
		t.Errorf("left behind: %q", left)
	}
}

func TestE2EHealth(t *testing.T) {
	start(t, `[]`)
	p := cliAt(t, "http://127.0.0.1:1", "")
	h, err := p.Health(t.Context(), false)
	if err != nil || !strings.Contains(h.Detail, "codex 0.169.0, API key of OPENAI_API_KEY") || strings.Contains(h.Detail, key) {
		t.Errorf("%+v %v", h, err)
	}
	t.Setenv("OPENAI_API_KEY", "")
	p = newProvider().part()
	if err := p.Configure(t.Context(), &sdk.Config{JSON: json.RawMessage(fmt.Sprintf(`{"command":%q}`, e2e.Codex(t)))}); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Health(t.Context(), false); err == nil || sdk.AsFailure(err).Reason != sdk.NotLoggedIn {
		t.Errorf("without a key: %v", err)
	}
}
