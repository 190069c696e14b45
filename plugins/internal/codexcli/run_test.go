package codexcli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/paxiom/relay/plugins/internal/outschema"
	"github.com/paxiom/relay/sdk"
)

func clean(t *testing.T) {
	t.Helper()
	for _, v := range Env() {
		t.Setenv(v.Name, "")
	}
}

func schema(t *testing.T, s string) *outschema.Schema {
	t.Helper()
	out, err := outschema.Compile(json.RawMessage(s))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestCommandLine(t *testing.T) {
	clean(t)
	t.Setenv("OPENAI_API_KEY", "sk-canary")
	private := t.TempDir()
	c := Call{
		Prompt: "the prompt", System: "the system prompt", Model: "gpt-5.5", Effort: "high", Sandbox: ReadOnly, Idle: 10 * time.Second,
		Schema: schema(t, `{"type":"object","additionalProperties":false,"properties":{"a":{"type":"string"}}}`),
	}
	c.BaseURL = "http://127.0.0.1:1/v1/"
	cli, err := c.prepare("/bin/codex", private)
	if err != nil {
		t.Fatal(err)
	}
	line := strings.Join(cli.Args, " ")
	for _, want := range []string{
		"exec --json", "-s read-only", "--skip-git-repo-check", "--ephemeral", "--ignore-user-config", "--ignore-rules", "--disable plugins",
		"--disable unbounded_connection_retries", "-c analytics.enabled=false", "-c check_for_update_on_startup=false", "-c project_doc_max_bytes=0",
		"-c skills.include_instructions=false", "--disable shell_tool", `model_reasoning_effort="high"`,
		`model_providers.relay={base_url="http://127.0.0.1:1/v1",env_key="OPENAI_API_KEY",name="relay",request_max_retries=2,stream_idle_timeout_ms=4000,stream_max_retries=2,wire_api="responses"}`,
	} {
		if !strings.Contains(line, want) {
			t.Errorf("no %s in\n%s", want, line)
		}
	}
	for _, secret := range []string{"sk-canary", "the prompt", "the system prompt"} {
		if strings.Contains(line, secret) {
			t.Errorf("%q is on the command line", secret)
		}
	}
	if cli.Args[len(cli.Args)-1] != "-" || cli.Stdin != "the system prompt\n\nthe prompt" {
		t.Errorf("input %q", cli.Stdin)
	}
	if !slices.Contains(cli.Env, "TZ=UTC") || !slices.Contains(cli.Env, "CODEX_HOME="+filepath.Join(private, "home")) {
		t.Errorf("environment %q", cli.Env)
	}
	b, err := os.ReadFile(filepath.Join(private, "schema.json"))
	if err != nil || !strings.Contains(string(b), `"required":["a"]`) {
		t.Errorf("schema %s %v", b, err)
	}
}

// An address goes on the command line, so one with a password in it is refused, and not
// repeated.
func TestAddressWithPassword(t *testing.T) {
	clean(t)
	t.Setenv("OPENAI_BASE_URL", "https://me:canary-31415@gateway.example/v1")
	_, _, ran := Call{Setup: Setup{Command: "/bin/true"}}.Run(t.Context(), nil)
	if f := sdk.AsFailure(ran); f == nil || f.Reason != sdk.BadConfig || f.Effect != sdk.EffectNone || strings.Contains(f.Error()+f.Fix, "canary") {
		t.Errorf("%v", ran)
	}
	t.Setenv("OPENAI_BASE_URL", "https://gateway.example/v1")
	if err := (Setup{}).openAddress(); err != nil {
		t.Error(err)
	}
}

func TestProviderAndHome(t *testing.T) {
	clean(t)
	t.Setenv("HOME", "/home/x")
	c := Call{}
	if got := c.provider(); got != nil || c.home("/p") != "" || c.userDir() != "/home/x/.codex" {
		t.Errorf("a login: %q, home %q", got, c.home("/p"))
	}
	c.BaseURL = "http://127.0.0.1:1/v1"
	if got := strings.Join(c.provider(), " "); strings.Contains(got, "env_key") || c.home("/p") != "/p/home" {
		t.Errorf("a local server: %q", got)
	}
	c.BaseURL = ""
	t.Setenv("CODEX_API_KEY", "x")
	if got := strings.Join(c.provider(), " "); !strings.Contains(got, `env_key="CODEX_API_KEY"`) || !strings.Contains(got, openAI) {
		t.Errorf("a key: %q", got)
	}
	c.CodexHome = "user"
	if c.home("/p") != "" {
		t.Error("the user's home was asked for")
	}
	c.CodexHome = "/srv/codex"
	if c.home("/p") != "/srv/codex" {
		t.Error("a home was named")
	}
}

func TestNativeProgram(t *testing.T) {
	dir := t.TempDir()
	shim := filepath.Join(dir, "node_modules/@openai/codex/bin/codex.js")
	prog := filepath.Join(dir, "node_modules/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex")
	for _, f := range []string{shim, prog} {
		if err := os.MkdirAll(filepath.Dir(f), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(f, []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(dir, "codex")
	if err := os.Symlink(shim, link); err != nil {
		t.Fatal(err)
	}
	got, err := Setup{Command: link}.Program()
	if want, _ := filepath.EvalSymlinks(prog); err != nil || got != want {
		t.Errorf("%s %v", got, err)
	}
	if got, err := (Setup{Command: prog}).Program(); err != nil || got != prog {
		t.Errorf("%s %v", got, err)
	}
	if _, err := (Setup{Command: "/no/codex"}).Program(); sdk.AsFailure(err) == nil || sdk.AsFailure(err).Reason != sdk.ToolMissing {
		t.Error(err)
	}
}

func TestQuote(t *testing.T) {
	if got := quote("a\"b\\c\n\x7f<é>"); got != `"a\"b\\c\n\u007F\u003cé\u003e"` {
		t.Error(got)
	}
}
