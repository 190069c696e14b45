package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/paxiom/relay/testdata/e2e"
)

// Gemini CLI as an agent of the protocol: its edits and commands come through the
// client, or it does them by itself, and asks for permission first.
func TestE2EGeminiAsAnAgent(t *testing.T) {
	gemini := e2e.Gemini(t)
	for _, permissions := range []string{"allow", "reject"} {
		t.Run(permissions, func(t *testing.T) {
			model := e2e.Model(t, `{"gemini":[
				{"tool":{"name":"replace","input":{"file_path":"add.go","instruction":"mend","old_string":"a - b","new_string":"a + b"}}},
				{"tool":{"name":"run_shell_command","input":{"command":"echo ran > ran.txt","description":"x"}}},
				{"text":"{\"summary\":\"Add adds now.\"}","times":-1}]}`, nil)
			for name, value := range e2e.Env(t, model) {
				t.Setenv(name, value)
			}
			t.Setenv("GEMINI_API_KEY", "AIza-canary-0815")
			home := settled(t)
			w := with(t, fmt.Sprintf(`{"agent":[%q,"--acp","--skip-trust","-e","none","-m","gemini-2.5-pro"],"permissions":%q,
				"env":{"GEMINI_CLI_HOME":%q,"GOOGLE_GEMINI_BASE_URL":%q,"GEMINI_CLI_NO_RELAUNCH":"true"}}`, gemini, permissions, home, model.URL()))
			w.Ask.IdleTimeout = time.Minute
			res, f := w.Build(t)
			if f != nil {
				t.Fatalf("%v\n%s", f, w.Log)
			}
			b, err := os.ReadFile(filepath.Join(w.Repo, "add.go"))
			_, ran := os.Stat(filepath.Join(w.Repo, "ran.txt"))
			allowed := permissions == "allow"
			if err != nil || strings.Contains(string(b), "a + b") != allowed || (ran == nil) != allowed {
				t.Errorf("the file is %s, the command: %v\n%s", b, ran, w.Log)
			}
			if allowed && string(res.JSON) != `{"summary":"Add adds now."}` || !strings.Contains(w.Log.String(), "gemini-cli 0.61.") {
				t.Errorf("result %s\n%s", res.JSON, w.Log)
			}
			if told := strings.Contains(w.Log.String(), "notice the agent was not allowed"); told == allowed {
				t.Errorf("a refusal is told: %v\n%s", told, w.Log)
			}
		})
	}
}

// settled is a home of Gemini CLI that is set up for a key.
func settled(t *testing.T) string {
	t.Helper()
	home := t.TempDir()
	if err := os.Mkdir(filepath.Join(home, ".gemini"), 0o755); err != nil {
		t.Fatal(err)
	}
	settings := `{"security":{"auth":{"selectedType":"gemini-api-key"}},"privacy":{"usageStatisticsEnabled":false},"telemetry":{"enabled":false},
		"general":{"enableAutoUpdate":false,"enableAutoUpdateNotification":false},"hooksConfig":{"enabled":false}}`
	if err := os.WriteFile(filepath.Join(home, ".gemini/settings.json"), []byte(settings), 0o644); err != nil {
		t.Fatal(err)
	}
	return home
}
