package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/paxiom/relay/host"
	"github.com/paxiom/relay/testdata/e2e"
)

// The whole way with the real Claude Code: init, then one run that plans, edits
// through Claude Code's own tools, is judged, verified by the check that init found, and
// committed.
func TestE2EInitAndRun(t *testing.T) {
	claude := e2e.Claude(t)
	repo := filepath.Join(t.TempDir(), "repo")
	for name, text := range map[string]string{
		"add.sh":   "# Prints the sum of two numbers.\necho $(($1 - $2))\n",
		"test.sh":  "[ \"$(sh ./add.sh 2 3)\" = 5 ]\n",
		"Makefile": "test:\n\tsh ./test.sh\n",
	} {
		writeFile(t, filepath.Join(repo, name), text)
	}
	model := e2e.Model(t, e2eScript, map[string]string{"REPO": repo})
	env := e2e.Env(t, model)
	env["ANTHROPIC_API_KEY"], env["ANTHROPIC_BASE_URL"] = "sk-test", model.URL()
	bin := t.TempDir()
	if err := os.Symlink(claude, filepath.Join(bin, "claude")); err != nil {
		t.Fatal(err)
	}
	env["PATH"] = strings.Join([]string{binDir, bin, os.Getenv("PATH")}, string(os.PathListSeparator))
	env["GIT_CONFIG_NOSYSTEM"] = "1"
	exec := func(argv ...string) []byte { return e2eExec(t, repo, env, argv...) }
	for _, line := range []string{"git init -q -b main", "git config user.name e2e", "git config user.email e2e@example.org", "git add -A", "git commit -q -m base"} {
		exec(strings.Fields(line)...)
	}

	exec("relay", "init")
	if out := exec("git", "status", "--porcelain"); len(out) > 0 {
		t.Errorf("the repository is not clean after init:\n%s", out)
	}
	exec("relay", "doctor")
	var res host.RunResult
	if err := json.Unmarshal(exec("relay", "run", "--goal", "make the failing test pass", "--json"), &res); err != nil {
		t.Fatal(err)
	}
	if res.Report == nil || res.Report.Code != "SUCCESS" || res.Report.BlastRadius.FilesTouched != 1 || len(res.Report.Verification.Runs) != 1 {
		t.Fatalf("%+v", res.Report)
	}
	if res.Report.Builder.Plugin != "claude-code" || res.Report.Orchestrator.Plugin != "claude" {
		t.Errorf("planned by %s, built by %s", res.Report.Orchestrator.Plugin, res.Report.Builder.Plugin)
	}
	if out := exec("git", "show", "--format=%B", "HEAD"); !strings.Contains(string(out), "echo $(($1 + $2))") || !strings.Contains(string(out), "Relay-Task: mend-add") {
		t.Errorf("the commit:\n%s", out)
	}
	exec("sh", "./test.sh")
	if out := exec("git", "status", "--porcelain"); len(out) > 0 {
		t.Errorf("the repository is not clean after the run:\n%s", out)
	}
}

const e2eScript = `{"anthropic": [
  {"match": "You plan for", "times": -1, "tool": {"name": "StructuredOutput", "input": {
    "task_id": "mend-add", "milestone_id": "M1", "task_kind": "execute", "intent": "Make Add add",
    "scope": {"allowed_globs": ["add.sh"], "forbidden_globs": [], "allow_new_files": false, "allow_lockfile_changes": false},
    "diff_limits": {"max_files_touched": 1, "max_lines_changed": 10},
    "verification": {"fast": ["test"], "slow": []},
    "builder": {"mode": "claude-code", "max_turns": 6, "instructions": "In add.sh print the sum."}}}},
  {"match": "You work for", "tool": {"name": "Read", "input": {"file_path": "{{REPO}}/add.sh"}}},
  {"match": "You work for", "text": "I will mend it.", "tool": {"name": "Edit", "input": {"file_path": "{{REPO}}/add.sh", "old_string": "- $2", "new_string": "+ $2"}}},
  {"match": "You work for", "times": -1, "tool": {"name": "StructuredOutput", "input": {"summary": "Add adds now.", "files_intended": ["add.sh"], "commands_ran": [], "notes": []}}}
]}`

func e2eExec(t *testing.T, dir string, env map[string]string, argv ...string) []byte {
	t.Helper()
	path := argv[0]
	if path == "relay" {
		path = filepath.Join(binDir, "relay")
	}
	cmd := exec.Command(path, argv[1:]...)
	cmd.Dir = dir
	for name, value := range env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s\n%s", strings.Join(argv, " "), err, out, stderr.String())
	}
	return out
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
