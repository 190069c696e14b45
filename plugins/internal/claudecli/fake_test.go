package claudecli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/paxiom/relay/plugins/internal/eventtest"
	"github.com/paxiom/relay/sdk"
)

// fake is a program that takes claude's place: a shell script. In it, RECORDED is
// the folder of recorded outputs.
func fake(t *testing.T, body string) Setup {
	t.Helper()
	recorded, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "claude")
	text := fmt.Sprintf("#!/bin/sh\nif [ \"$*\" = --version ]; then echo '2.1.329 (Claude Code)'; exit; fi\nRECORDED='%s'\n%s\n", recorded, body)
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return Setup{Command: path}
}

func TestRunPassesEverythingOn(t *testing.T) {
	seen := t.TempDir()
	s := fake(t, `cat > `+seen+`/stdin; env > `+seen+`/env; pwd > `+seen+`/pwd
for a; do echo "$a"; done > `+seen+`/args
while [ $# -gt 0 ]; do [ "$1" = --system-prompt-file ] && cp "$2" `+seen+`/system; shift; done
cat "$RECORDED/text.jsonl"`)
	t.Setenv("ANTHROPIC_API_KEY", "sk-canary")
	t.Setenv("RELAY_PLUGIN_COOKIE", "x")
	work := t.TempDir()
	s.BaseURL = "http://127.0.0.1:9"
	stream, end, err := Call{Setup: s, WorkDir: work, Prompt: "the prompt", System: "the system"}.Run(t.Context(), &eventtest.Log{})
	if err != nil {
		t.Fatal(err)
	}
	if a, f := stream.Verdict(end, Want{}); f != nil || a.Text != "Hello from the fake model." {
		t.Errorf("%+v %v", a, f)
	}
	read := func(name string) string {
		b, err := os.ReadFile(filepath.Join(seen, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	if read("stdin") != "the prompt" || read("system") != "the system" {
		t.Errorf("prompts: %q %q", read("stdin"), read("system"))
	}
	if args := read("args"); strings.Contains(args, "the prompt") || strings.Contains(args, "sk-canary") {
		t.Errorf("args: %s", args)
	}
	env := read("env")
	for _, want := range []string{
		"ANTHROPIC_API_KEY=sk-canary", "ANTHROPIC_BASE_URL=http://127.0.0.1:9", "CLAUDE_CODE_MAX_RETRIES=2", "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS=1",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "CLAUDE_CONFIG_DIR=" + work, "CLAUDE_CODE_TMPDIR=" + work,
	} {
		if !strings.Contains(env, want) {
			t.Errorf("no %s in the environment", want)
		}
	}
	if strings.Contains(env, "RELAY_PLUGIN_COOKIE") {
		t.Error("relay's own variables are passed on")
	}
	if dir := strings.TrimSpace(read("pwd")); !strings.HasPrefix(dir, work) {
		t.Errorf("without a folder of its own it worked in %s", dir)
	}
	if left, _ := os.ReadDir(work); len(left) > 0 {
		t.Errorf("private files are left: %v", left)
	}
}

func TestRunEndsAProgramThatGoesOn(t *testing.T) {
	defer func(d time.Duration) { afterResult = d }(afterResult)
	afterResult = 100 * time.Millisecond
	s := fake(t, `cat "$RECORDED/schema.jsonl"; exec tail -f /dev/null`)
	stream, end, err := Call{Setup: s, WorkDir: t.TempDir(), Prompt: "x"}.Run(t.Context(), &eventtest.Log{})
	if err != nil || !end.Enough {
		t.Fatalf("%+v %v", end, err)
	}
	if a, f := stream.Verdict(end, Want{Schema: true}); f != nil || string(a.Structured) != `{"verdict":"pass","score":7}` {
		t.Errorf("%+v %v", a, f)
	}
}

func TestRunGivesUp(t *testing.T) {
	for name, tc := range map[string]struct {
		body   string
		call   Call
		cancel bool
		want   sdk.Reason
		effect sdk.Effect
	}{
		"silence":         {`sed 1q "$RECORDED/text.jsonl"; exec tail -f /dev/null`, Call{Idle: 300 * time.Millisecond}, false, sdk.Timeout, sdk.EffectUnknown},
		"time":            {`while :; do sed 1q "$RECORDED/text.jsonl"; sleep 0.05; done`, Call{Timeout: 500 * time.Millisecond}, false, sdk.Timeout, sdk.EffectUnknown},
		"silence in work": {`sed '/"result"/d' "$RECORDED/build.jsonl"; exec tail -f /dev/null`, Call{Idle: 300 * time.Millisecond}, false, sdk.Timeout, sdk.EffectChanged},
		"cancel":          {`sed '/"result"/d' "$RECORDED/text.jsonl"; exec tail -f /dev/null`, Call{}, true, sdk.Cancelled, sdk.EffectCharged},
		"not startable":   {"", Call{Setup: Setup{Command: "/no/such/claude"}}, false, sdk.ToolMissing, 0},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			log := &eventtest.Log{}
			c := tc.call
			if c.Command == "" {
				c.Setup = fake(t, tc.body)
			}
			c.WorkDir, c.Prompt = t.TempDir(), "x"
			if tc.cancel {
				go func() {
					for len(log.Usages()) == 0 {
						time.Sleep(5 * time.Millisecond)
					}
					cancel()
				}()
			}
			_, _, err := c.Run(ctx, log)
			f := sdk.AsFailure(err)
			if f == nil || f.Reason != tc.want || f.Effect != tc.effect {
				t.Errorf("got %v with effect %v", err, f.Effect)
			}
		})
	}
}

func TestRunWarnsOfAnotherVersion(t *testing.T) {
	s := fake(t, `sed 's/2\.1\.329/3.0.0/' "$RECORDED/text.jsonl"`)
	log := &eventtest.Log{}
	if _, _, err := (Call{Setup: s, WorkDir: t.TempDir(), Prompt: "x"}).Run(t.Context(), log); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(log.String(), "3.0.0 is newer than the versions this plugin was tested with") {
		t.Errorf("events:\n%s", log)
	}
}

func TestHealth(t *testing.T) {
	for _, name := range []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CONFIG_DIR"} {
		t.Setenv(name, "")
	}
	home := t.TempDir()
	t.Setenv("HOME", home)
	s := fake(t, "")
	if _, err := s.Health(t.Context(), false); sdk.AsFailure(err).Reason != sdk.NotLoggedIn {
		t.Errorf("without a login: %v", err)
	}
	if err := os.MkdirAll(filepath.Join(home, ".claude"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, ".claude/.credentials.json"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if h, err := s.Health(t.Context(), false); err != nil || !strings.HasPrefix(h.Detail, "claude 2.1.329, login in ") {
		t.Errorf("%+v %v", h, err)
	}
	t.Setenv("ANTHROPIC_AUTH_TOKEN", "tok-canary")
	if h, err := s.Health(t.Context(), false); err != nil || strings.Contains(h.Detail, "canary") || !strings.Contains(h.Detail, "ANTHROPIC_AUTH_TOKEN") {
		t.Errorf("%+v %v", h, err)
	}
	if _, err := (Setup{Command: "no-such-claude"}).Health(t.Context(), false); sdk.AsFailure(err).Reason != sdk.ToolMissing {
		t.Errorf("without the program: %v", err)
	}
}
