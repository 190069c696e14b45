package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/paxiom/relay/host/setup"
	"github.com/paxiom/relay/testdata/e2e"
)

// doctor --live asks the model once, says what that cost, and counts it like any call.
func TestDoctorLive(t *testing.T) {
	repo := filepath.Join(t.TempDir(), "repo")
	model := e2e.Model(t, `{"anthropic":[{"text":"ready","usage":{"input":1000,"output":10}}]}`, nil)
	writeFile(t, filepath.Join(repo, "relay.config.json"), fmt.Sprintf(`{"version":"1.0","builder":{"default_mode":"patch"},
		"models":{"orchestrator_model":"claude-sonnet-4-5"},"plugins":{"claude":{"transport":"api","base_url":%q}}}`, model.URL()))
	env := e2e.Env(t, model)
	env["ANTHROPIC_API_KEY"], env["PATH"], env["GIT_CONFIG_NOSYSTEM"] = e2eKey, binDir+":"+os.Getenv("PATH"), "1"
	for _, line := range []string{"git init -q -b main", "git config user.name e2e", "git config user.email e2e@example.org", "git add -A", "git commit -q -m base", "relay trust --yes"} {
		e2eExec(t, repo, env, strings.Fields(line)...)
	}
	paid := func() string {
		b, _ := os.ReadFile(filepath.Join(repo, ".git", "relay", "usage.jsonl")) // none before the first paid call
		return string(b)
	}
	e2eExec(t, repo, env, "relay", "doctor")
	if paid() != "" {
		t.Errorf("doctor has spent something: %s", paid())
	}
	out := e2eExec(t, repo, env, "relay", "doctor", "--live", "--json")
	var d setup.DoctorResult
	if err := json.Unmarshal(out, &d); err != nil || !d.OK {
		t.Fatalf("%v\n%s", err, out)
	}
	if !strings.Contains(string(out), "claude-sonnet-4-5 answered in ") || !strings.Contains(string(out), "$0.0031") && !strings.Contains(string(out), "$0.0032") {
		t.Errorf("it is not said what it cost:\n%s", out)
	}
	if strings.Contains(string(out), e2eKey) {
		t.Error("the key is told")
	}
	if lines := paid(); strings.Count(lines, "\n") != 1 || !strings.Contains(lines, `"role":"doctor"`) {
		t.Errorf("usage.jsonl: %s", lines)
	}
}
