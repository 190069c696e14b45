package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/paxiom/relay/host"
	"github.com/paxiom/relay/testdata/e2e"
)

// The whole way with OpenAI's models: the task comes through the program or the API,
// the real Codex edits inside the box, and what it did is judged, verified and
// committed.
func TestE2ECodex(t *testing.T) {
	for _, transport := range []string{"cli", "api"} {
		t.Run(transport, func(t *testing.T) {
			codex := e2e.Codex(t)
			repo := filepath.Join(t.TempDir(), "repo")
			writeFile(t, filepath.Join(repo, "add.sh"), "echo $(($1 - $2))\n")
			model := e2e.Model(t, e2eCodexScript, nil)
			writeFile(t, filepath.Join(repo, "relay.config.json"), fmt.Sprintf(`{"version":"1.0","orchestrator":{"provider":"openai"},
				"builder":{"default_mode":"codex-exec"},"models":{"orchestrator_model":"gpt-5.5","builder_model":"gpt-5.5","orchestrator_fallback_model":"","builder_fallback_model":""},
				"plugins":{"codex":{"transport":%q,"command":%q},"codex-exec":{"command":%q}}}`, transport, codex, codex))
			env := e2e.Env(t, model)
			env["OPENAI_API_KEY"], env["OPENAI_BASE_URL"] = "sk-canary-0815", model.URL()+"/v1"
			env["PATH"], env["GIT_CONFIG_NOSYSTEM"] = binDir+":"+os.Getenv("PATH"), "1"
			exec := func(argv ...string) []byte { return e2eExec(t, repo, env, argv...) }
			for _, line := range []string{"git init -q -b main", "git config user.name e2e", "git config user.email e2e@example.org", "git add -A", "git commit -q -m base", "relay trust --yes"} {
				exec(strings.Fields(line)...)
			}
			out := exec("relay", "run", "--goal", "make it add", "--json")
			var res host.RunResult
			if err := json.Unmarshal(out, &res); err != nil {
				t.Fatal(err)
			}
			if res.Report == nil || res.Report.Code != "SUCCESS" || res.Report.BlastRadius.FilesTouched != 1 {
				t.Fatalf("%s", out)
			}
			if res.Report.Builder.Plugin != "codex-exec" || res.Report.Orchestrator.Plugin != "codex" {
				t.Errorf("planned by %s, built by %s", res.Report.Orchestrator.Plugin, res.Report.Builder.Plugin)
			}
			if got := exec("sh", "./add.sh", "2", "3"); string(got) != "5\n" {
				t.Errorf("2 and 3 are %s", got)
			}
			if strings.Contains(string(out), "sk-canary-0815") {
				t.Error("the key is in the report")
			}
		})
	}
}

const e2eCodexScript = `{"openai": [
  {"match": "You plan for", "times": -1, "text": "{\"task_id\":\"mend-add\",\"milestone_id\":\"M1\",\"task_kind\":\"execute\",\"intent\":\"Make Add add\",\"question\":null,\"scope\":{\"allowed_globs\":[\"add.sh\"],\"forbidden_globs\":[],\"allow_new_files\":false,\"allow_lockfile_changes\":false},\"diff_limits\":{\"max_files_touched\":1,\"max_lines_changed\":10},\"verification\":{\"fast\":[],\"slow\":[]},\"builder\":{\"mode\":\"codex-exec\",\"max_turns\":6,\"instructions\":\"In add.sh print the sum.\"}}"},
  {"match": "You work for", "tool": {"name": "exec_command", "input": {"cmd": "sed -i 's/- $2/+ $2/' add.sh"}}},
  {"match": "You work for", "times": -1, "text": "{\"summary\":\"It adds.\",\"files_intended\":[\"add.sh\"],\"commands_ran\":[],\"notes\":[]}"}
]}`
