package claudecli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/paxiom/relay/sdk"
)

func TestTools(t *testing.T) {
	for in, want := range map[string][2]string{
		"":                            {"", ""},
		"Read, Grep":                  {"Read,Grep", "Read,Grep"},
		"Read,Edit,Bash":              {"Read,Edit,Bash,Write", "Read,Edit,Bash,Write"},
		"Edit,Write":                  {"Edit,Write", "Edit,Write"},
		"Bash(git log, x),Bash(ls *)": {"Bash", "Bash(git log, x),Bash(ls *)"},
		" ,, ":                        {"", ""},
	} {
		tools := ParseTools(in)
		if got := [2]string{strings.Join(tools.Names(), ","), strings.Join(tools, ",")}; got != want {
			t.Errorf("%q: got %q", in, got)
		}
	}
}

func TestCommandLine(t *testing.T) {
	private := t.TempDir()
	c := Call{
		Prompt: "the prompt", System: "the system prompt", Schema: json.RawMessage(`{"type":"object"}`),
		Model: "opus", Fallback: "sonnet", MaxTurns: 3, MaxMicroUSD: 400000, Idle: 10 * time.Second,
		Tools: ParseTools("Read"), PermissionMode: "dontAsk",
	}
	cli, err := c.prepare("/bin/claude", private)
	if err != nil {
		t.Fatal(err)
	}
	line := strings.Join(cli.Args, " ")
	for _, want := range []string{
		"-p", "--setting-sources=", "--strict-mcp-config", "--disable-slash-commands", "--no-session-persistence", "--tools=Read",
		"--allowedTools=Read", "--model=opus", "--fallback-model=sonnet", "--max-turns=3", "--max-budget-usd=0.4", `--json-schema={"type":"object"}`,
	} {
		if !slices.Contains(cli.Args, want) {
			t.Errorf("no %s in %s", want, line)
		}
	}
	if strings.Contains(line, "the prompt") || strings.Contains(line, "the system prompt") || cli.Stdin != "the prompt" {
		t.Errorf("a prompt is in the command line: %s", line)
	}
	system := cli.Args[slices.Index(cli.Args, "--system-prompt-file")+1]
	if b, err := os.ReadFile(system); err != nil || string(b) != "the system prompt" || filepath.Dir(system) != private {
		t.Errorf("system prompt file: %q %v", b, err)
	}
	if !slices.Contains(cli.Env, "API_TIMEOUT_MS=4000") || slices.Contains(cli.Env, "IS_SANDBOX=1") {
		t.Errorf("environment: %v", cli.Env)
	}

	none := Call{Model: "opus", Fallback: "opus"}
	if args := none.args(); !slices.Contains(args, "--tools=") || slices.Contains(args, "--fallback-model=opus") {
		t.Errorf("args without tools: %q", args)
	}
	bypass := Call{PermissionMode: BypassPermissions}
	if !slices.Contains(bypass.env(private), "IS_SANDBOX=1") {
		t.Error("root would be refused")
	}
}

func TestConfigDir(t *testing.T) {
	for _, name := range []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"} {
		t.Setenv(name, "")
	}
	for setting, want := range map[string]string{"": "", "auto": "", "user": "", "private": "/p/config", "/mine": "/mine"} {
		if got := (Setup{ConfigDir: setting}).configDir("/p"); got != want {
			t.Errorf("%q without a key: %q", setting, got)
		}
	}
	t.Setenv("ANTHROPIC_API_KEY", "sk-test")
	for setting, want := range map[string]string{"": "/p/config", "auto": "/p/config", "user": "", "/mine": "/mine"} {
		if got := (Setup{ConfigDir: setting}).configDir("/p"); got != want {
			t.Errorf("%q with a key: %q", setting, got)
		}
	}
}

func TestRunRefusesAHugeSchema(t *testing.T) {
	c := Call{Schema: json.RawMessage(`"` + strings.Repeat("x", maxSchema) + `"`)}
	_, _, err := c.Run(t.Context(), nil)
	if f := sdk.AsFailure(err); f == nil || f.Reason != sdk.TooLarge {
		t.Errorf("got %v", err)
	}
}

func TestSchemaWithoutItsEdition(t *testing.T) {
	for in, want := range map[string]string{
		`{"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"x","type":"object","properties":{"$id":{}}}`: `{"properties":{"$id":{}},"type":"object"}`,
		`{"type":"object"}`: `{"type":"object"}`,
		`true`:              `true`,
		``:                  ``,
	} {
		if got := string(portable(json.RawMessage(in))); got != want {
			t.Errorf("%s: got %s", in, got)
		}
	}
}
