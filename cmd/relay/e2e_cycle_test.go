package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/paxiom/relay/host"
	"github.com/paxiom/relay/host/cycles"
)

// cycleRoles are what a provider does in an audit cycle; one cycle shows all of them.
var cycleRoles = []string{"audit", "refine", "revise"}

const cyclePlan = "## Critical issues\n- %sadd.sh takes the numbers from each other.\n\n## Significant concerns\nNone.\n\n## Ambiguities\nNone.\n\n" +
	"## Style and convention notes\nNone.\n\n## Action plan\n1. %sAdd them in add.sh.\n"

// cycleTurns are the answers of a model that does everything in a cycle.
func cycleTurns(api string) string {
	var turns []string
	for match, text := range map[string]string{
		"You audit for":       fmt.Sprintf(cyclePlan, "", ""),
		"You edit for":        fmt.Sprintf(cyclePlan, "[F1] ", "[A1] "),
		"You revise code for": "# path: add.sh\n```\necho $(($1 + $2))\n```\n\n## Coverage\n- A1: add.sh\n",
	} {
		turn, _ := json.Marshal(map[string]any{"match": match, "text": text, "times": -1})
		turns = append(turns, string(turn))
	}
	return fmt.Sprintf(`{%q:[%s]}`, api, strings.Join(turns, ","))
}

// runCycle lets one provider audit, refine and revise, from the first command to the
// second gate, and keeps what came of each role.
func runCycle(t *testing.T, w way, seen *watcher, keep func(*testing.T, way, string)) {
	defer func() {
		for _, w.role = range cycleRoles {
			keep(t, w, "good")
		}
	}()
	b := furnish(t, w, matrixCases[0], cycleTurns(w.api), map[string]string{"config/services/add.yaml": fmt.Sprintf(`code: ["*.sh"]
models:
  audit_a: {provider: %[1]s, model: %[2]s}
  audit_b: {enabled: false}
  refinement: {provider: %[1]s, model: %[2]s, enabled: true}
  revision: {rotation: [%[1]s]}
cycle:
  test_command: ["sh", "-c", "test $(sh ./add.sh 2 3) = 5"]
`, w.plugin, w.model)})
	b.must(t, "trust", "--yes", "add")
	var res cycles.Result
	step := func(state string, args ...string) {
		t.Helper()
		out := b.must(t, append(args, "--json")...)
		if err := json.Unmarshal(out, &res); err != nil || res.Cycle == nil || string(res.Cycle.State) != state {
			t.Fatalf("relay %v: want %s\n%s", args, state, out)
		}
	}
	step("AWAITING_REVIEW", "audit", "start", "add")
	step("AWAITING_ACCEPTANCE", "audit", "continue", res.Cycle.UUID)
	asked := map[string]string{}
	for _, c := range res.Cycle.Calls {
		asked[c.Role] = c.Provider
	}
	if len(asked) != 3 || asked["audit_a"] != w.plugin || asked["refinement"] != w.plugin || asked["revision"] != w.plugin {
		t.Errorf("asked: %v", asked)
	}
	if !res.Cycle.Tests.Passed {
		t.Errorf("tests: %+v", res.Cycle.Tests)
	}
	if text := e2eGit(t, b.repo, "show", res.Cycle.Branch+":add.sh"); !strings.Contains(text, "+ $2") {
		t.Errorf("the branch has %q", text)
	}
	b.noCanary(t)
	seen.hold(t, b)
}

// must runs a command that ends well or waits for the operator, and gives what it
// prints; no key is in it.
func (b *bench) must(t *testing.T, args ...string) []byte {
	t.Helper()
	cmd := exec.Command(filepath.Join(binDir, "relay"), args...)
	cmd.Dir, cmd.Env = b.repo, b.env
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if code := cmd.ProcessState.ExitCode(); code != host.ExitDone && code != host.ExitWaiting {
		t.Fatalf("relay %v: %v\n%s\n%s", args, err, stdout.String(), stderr.String())
	}
	if strings.Contains(stdout.String()+stderr.String(), b.canary) {
		t.Errorf("relay %v prints the key", args)
	}
	return stdout.Bytes()
}

func e2eGit(t *testing.T, repo string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = repo
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %v: %v", args, err)
	}
	return string(out)
}
