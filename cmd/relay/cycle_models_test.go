package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/paxiom/relay/host/cycles"
	"github.com/paxiom/relay/internal/sampling"
	"github.com/paxiom/relay/testdata/e2e"
)

// The whole cycle through the real plugins of three vendors, over their APIs, against the
// model server on loopback: an audit needs the reminder, the tests of the first revision
// fail, those of the second pass.
func TestCycleThroughTheVendorsPlugins(t *testing.T) {
	sampling.Rare(t)
	repo := filepath.Join(t.TempDir(), "repo")
	model := e2e.Model(t, cycleScript, nil)
	for name, text := range map[string]string{
		"src/a.txt": "one\n", "docs/spec.md": "three is wanted\n",
		"relay.config.json": fmt.Sprintf(`{"notify":{"desktop":false},"plugins":{"claude":{"transport":"api","base_url":%q},"codex":{"transport":"api","base_url":%q},"gemini":{"transport":"api","base_url":%q}}}`,
			model.URL(), model.URL()+"/v1", model.URL()),
		"config/services/A-202.yaml": `service: {name: Sync, branch_prefix: feat/svc-202}
references: [docs/spec.md]
code: ["src/**"]
models:
  audit_a: {provider: anthropic, model: claude-opus-4-7}
  audit_b: {provider: openai, model: gpt-5}
  refinement: {provider: google, model: gemini-2.5-pro, enabled: true}
  revision: {rotation: [anthropic, openai]}
cycle:
  test_command: grep -q three src/a.txt
`,
	} {
		writeFile(t, filepath.Join(repo, name), text)
	}
	env := e2e.Env(t, model)
	env["ANTHROPIC_API_KEY"], env["OPENAI_API_KEY"], env["GEMINI_API_KEY"] = "sk-ant-canary-0815", "sk-canary-0815", "AIza-canary-0815"
	env["PATH"], env["GIT_CONFIG_NOSYSTEM"] = binDir+":"+os.Getenv("PATH"), "1"
	for _, line := range []string{"git init -q -b main", "git config user.name e2e", "git config user.email e2e@example.org", "git add -A", "git commit -q -m base", "relay trust --yes", "relay trust --yes A-202"} {
		e2eExec(t, repo, env, strings.Fields(line)...)
	}
	step := func(want string, args ...string) *cycles.Result {
		t.Helper()
		cmd := exec.Command(filepath.Join(binDir, "relay"), append(args, "--json")...)
		cmd.Dir = repo
		for k, v := range env {
			cmd.Env = append(cmd.Env, k+"="+v)
		}
		var errs strings.Builder
		cmd.Stderr = &errs
		out, _ := cmd.Output()
		res := &cycles.Result{}
		if err := json.Unmarshal(out, res); err != nil || res.Cycle == nil || string(res.Cycle.State) != want {
			t.Fatalf("relay %v: want %s\n%s%s", args, want, out, errs.String())
		}
		if strings.Contains(string(out)+errs.String(), "canary-0815") {
			t.Errorf("relay %v prints a key", args)
		}
		return res
	}
	res := step("AWAITING_REVIEW", "audit", "start", "A-202")
	id := res.Cycle.UUID
	for _, name := range []string{"claude.md", "codex.md"} {
		if _, err := os.Stat(filepath.Join(res.Dir, "audits", name)); err != nil {
			t.Error(err)
		}
	}
	if n := len(res.Cycle.Calls); n != 4 {
		t.Errorf("%d calls, want two audits, one of them twice, and a refinement", n)
	}
	if res.Cycle.Tokens["anthropic_in"] == 0 || res.Cycle.Tokens["openai_out"] == 0 || res.Cycle.Tokens["google_in"] == 0 {
		t.Errorf("tokens: %v", res.Cycle.Tokens)
	}
	res = step("AWAITING_ACCEPTANCE", "audit", "continue", id)
	if res.Cycle.Tests.Passed || res.Cycle.Revision.By != "anthropic" {
		t.Errorf("tests %+v, revised by %s", res.Cycle.Tests, res.Cycle.Revision.By)
	}
	res = step("AWAITING_REVIEW", "audit", "iterate", id)
	if res.Cycle.Findings["open"] != 1 {
		t.Errorf("findings: %v", res.Cycle.Findings)
	}
	if res = step("AWAITING_ACCEPTANCE", "audit", "continue", id); !res.Cycle.Tests.Passed {
		t.Errorf("tests %+v", res.Cycle.Tests)
	}
	step("COMPLETE", "audit", "accept", id)
	if got := string(e2eExec(t, repo, env, "git", "show", res.Cycle.Branch+":src/a.txt")); got != "three\n" {
		t.Errorf("the branch has %q", got)
	}
	if keys := exec.Command("grep", "-rl", "canary-0815", filepath.Join(repo, ".relay")); keys.Run() == nil {
		t.Error("a key lies in the workspace")
	}
}

const cycleScript = `{
 "anthropic": [
  {"match": "You audit for", "times": -1, "text": "## Critical issues\n- The word is missing in src/a.txt, one stands there.\n\n## Significant concerns\nNone.\n\n## Ambiguities\nNone.\n\n## Style and convention notes\nNone.\n\n## Action plan\n1. Write another word into src/a.txt.\n", "usage": {"input": 100, "output": 50}},
  {"match": "You revise code for", "text": "# path: src/a.txt\n` + "```" + `\ntwo\n` + "```" + `\n\n## Coverage\n- A1: src/a.txt\n", "usage": {"input": 100, "output": 50}},
  {"match": "You revise code for", "text": "# path: src/a.txt\n` + "```" + `\nthree\n` + "```" + `\n\n## Coverage\n- A1: src/a.txt\n", "usage": {"input": 100, "output": 50}}
 ],
 "openai": [
  {"match": "You audit for", "text": "Looks good to me.", "usage": {"input": 100, "output": 5}},
  {"match": "You audit for", "times": -1, "text": "## Critical issues\n- src/a.txt has one where the word is missing.\n\n## Significant concerns\nNone.\n\n## Ambiguities\nNone.\n\n## Style and convention notes\nNone.\n\n## Action plan\n1. Mend src/a.txt.\n", "usage": {"input": 100, "output": 50}}
 ],
 "gemini": [
  {"match": "You edit for", "times": -1, "text": "## Critical issues\n- [F1] The word is missing in src/a.txt. [DUPLICATE — consolidate]\n\n## Significant concerns\nNone.\n\n## Ambiguities\nNone.\n\n## Style and convention notes\nNone.\n\n## Action plan\n1. [A1] Write the word into src/a.txt.\n", "usage": {"input": 100, "output": 50}}
 ]
}`
