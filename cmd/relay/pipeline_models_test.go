package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/paxiom/relay/host"
	"github.com/paxiom/relay/host/pipelines"
	"github.com/paxiom/relay/internal/sampling"
	"github.com/paxiom/relay/testdata/e2e"
)

// A graph of eight tasks through the real plugins of three vendors, over their APIs, against
// the model server on loopback: a diamond, a task whose builder leaves its fence and one
// that it holds, a limit that is waited for until the operator wakes it, a builder that is
// not there, and one task that stands alone.
func TestPipelineThroughTheVendorsPlugins(t *testing.T) {
	sampling.Rare(t)
	t.Parallel()
	model := e2e.Model(t, pipelineScript, nil)
	role := func(provider, model string) map[string]any {
		return map[string]any{"provider": provider, "model": model, "fallback": []string{}}
	}
	config, err := json.Marshal(map[string]any{
		"plugins": map[string]any{"claude": map[string]any{"transport": "api", "base_url": model.URL()},
			"codex": map[string]any{"transport": "api", "base_url": model.URL() + "/v1"}, "gemini": map[string]any{"transport": "api", "base_url": model.URL()}},
		"builder": map[string]any{"external": map[string]any{"command": "./hands.sh"}},
		"pipeline": map[string]any{"plan": role("anthropic", "claude-opus-4-7"), "review": role("openai", "gpt-5"), "criteria": role("google", "gemini-2.5-pro"),
			"code": map[string]any{"builder": "codex-exec", "fallback": []string{"external"}}, "cleanup": map[string]any{"builder": "external", "fallback": []string{}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	var tasks []map[string]any
	for _, line := range strings.Split("base;left base;right base;joined left right;fails base;held fails;limited base;alone", ";") {
		words := strings.Fields(line)
		tasks = append(tasks, map[string]any{"id": words[0], "title": "Title of " + words[0], "status": "pending", "priority": len(words) - 1, "depends_on": words[1:],
			"acceptance_criteria": []string{"the word is there"}, "validation": map[string]any{"command": "grep -q word src/" + words[0] + ".txt"}})
	}
	list, err := json.Marshal(map[string]any{"tasks": tasks})
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{repo: filepath.Join(t.TempDir(), "repo"), model: model}
	for name, text := range map[string]string{"relay.config.json": string(config), "prd.json": string(list), "src/a.txt": "one\n", "hands.sh": pipelineHands} {
		writeFile(t, filepath.Join(b.repo, name), text)
	}
	if err := os.Chmod(filepath.Join(b.repo, "hands.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	env := e2e.Env(t, model)
	env["ANTHROPIC_API_KEY"], env["OPENAI_API_KEY"], env["GEMINI_API_KEY"] = "sk-ant-canary-0815", "sk-canary-0815", "AIza-canary-0815"
	env["PATH"], env["GIT_CONFIG_NOSYSTEM"] = binDir+":"+os.Getenv("PATH"), "1"
	b.home, b.canary = env["HOME"], "canary-0815"
	for k, v := range env {
		b.env = append(b.env, k+"="+v)
	}
	for _, line := range []string{"git init -q -b main", "git config user.name e2e", "git config user.email e2e@example.org", "git add -A", "git commit -q -m base", "relay trust --yes"} {
		e2eExec(t, b.repo, env, strings.Fields(line)...)
	}

	run, out := b.start(t, "pipeline", "run", "--json")
	until(t, "the limit to be met", func() bool {
		return strings.Contains(string(b.relay(t, "queue", "--json")), `"id": "limited"`) || run.ended()
	})
	b.relay(t, "wake")
	until(t, "the run to end", run.ended)
	var res pipelines.RunResult
	if err := json.Unmarshal(out.Bytes(), &res); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if res.Counts["completed"] != 6 || res.Counts["failed"] != 1 || res.Counts["pending"] != 1 || res.Held["held"] != "fails" || res.ExitCode != 2 {
		t.Fatalf("%v, held %v, exit code %d\n%s", res.Counts, res.Held, res.ExitCode, out)
	}
	if len(res.Replaced) != 1 || res.Replaced[0].Role != "code" || !strings.HasPrefix(res.Replaced[0].From, "codex-exec") {
		t.Errorf("replaced: %+v", res.Replaced)
	}
	var order []string
	for _, task := range res.Tasks {
		order = append(order, task.TaskID)
		b.wholeTrail(t, task)
	}
	if at := func(id string) int { return slices.Index(order, id) }; at("joined") < at("left") || at("joined") < at("right") || at("left") < at("base") {
		t.Errorf("the order was %v", order)
	}
	if text := e2eGit(t, b.repo, "ls-files", "src", ".github"); text != "src/a.txt\nsrc/alone.txt\nsrc/base.txt\nsrc/joined.txt\nsrc/left.txt\nsrc/limited.txt\nsrc/right.txt\n" {
		t.Errorf("the branch has\n%s", text)
	}
	b.noCanary(t, out.Bytes())
}

// wholeTrail: each role was had by its own vendor, and what came of it is told.
func (b *bench) wholeTrail(t *testing.T, task *host.TaskAttempt) {
	t.Helper()
	if task.TaskID == "fails" {
		if !strings.HasPrefix(string(task.Code), "STOP_SCOPE") || task.Salvage == "" || len(task.Commits) > 0 {
			t.Errorf("fails: %s, %s, %v", task.Code, task.Salvage, task.Commits)
		}
		return
	}
	did := map[string]string{}
	for _, c := range task.Calls {
		did[c.Role] = c.Provider
	}
	if fmt.Sprint(did) != "map[cleanup:external code:external criteria:gemini plan:claude review:codex]" {
		t.Errorf("%s: %v", task.TaskID, did)
	}
	if task.Code != "SUCCESS" || len(task.Reviews) == 0 || len(task.Checks) == 0 || len(task.Criteria) != 1 || task.Criteria[0].Verdict.Verdict != "yes" || len(task.Commits) == 0 {
		t.Errorf("the trail of %s is not whole: %+v", task.TaskID, task)
	}
	if waited := len(task.Waits) > 0; waited != (task.TaskID == "limited") {
		t.Errorf("%s waited: %v", task.TaskID, task.Waits)
	}
}

const pipelineHands = `#!/bin/sh
id=$(sed -n 's/.*"task_id":"\([a-z]*\)".*/\1/p' "$RELAY_TASK_PATH")
if grep -q '"step":"cleanup"' "$RELAY_TASK_PATH"; then
  git add -A && git commit -qm "feat: complete Title of $id"
  echo '{"summary":"cleaned","memory":"","findings":[],"notes":[]}' >"$RELAY_OUTPUT_PATH"
else
  echo "a word" >"src/$id.txt"
  [ "$id" != fails ] || { mkdir -p .github/workflows; echo 'on: push' >.github/workflows/ci.yml; }
  echo '{"summary":"coded","files_intended":[],"commands_ran":[],"notes":[]}' >"$RELAY_OUTPUT_PATH"
fi
`

const pipelineScript = `{
 "anthropic": [
  {"match": "Title of limited", "error": {"status": 429, "headers": {"retry-after": "7200"}, "body": {"type": "error", "error": {"type": "rate_limit_error", "message": "slow down"}}}},
  {"match": "You plan for", "times": -1, "text": "{\"approach\":\"write the word\",\"steps\":[],\"checks\":[],\"risks\":[],\"question\":\"\"}"}
 ],
 "openai": [{"match": "You review for", "times": -1, "text": "{\"summary\":\"one word\",\"findings\":[]}"}],
 "gemini": [{"match": "You check for", "times": -1, "text": "{\"criteria\":[{\"criterion\":1,\"verdict\":\"yes\",\"why\":\"it was run\",\"evidence\":[{\"kind\":\"command\",\"file\":\"\",\"line\":0,\"command\":\"grep -r word src\",\"quote\":\"a word\"}]}]}"}]
}`
