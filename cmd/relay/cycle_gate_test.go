package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/paxiom/relay/internal/sampling"
)

// gateWorld is a repository with one cycle, driven by the built relay.
type gateWorld struct {
	t         *testing.T
	dir, repo string
	env       []string
	id        string
}

func newGateWorld(t *testing.T) *gateWorld {
	t.Helper()
	dir := t.TempDir()
	w := &gateWorld{t: t, dir: dir, repo: filepath.Join(dir, "repo")}
	w.env = append(os.Environ(), "HOME="+filepath.Join(dir, "home"), "XDG_CONFIG_HOME=", "XDG_STATE_HOME=", "XDG_DATA_HOME=", "XDG_CACHE_HOME=", "RELAY_TRUST=", "CI=1",
		"PATH="+binDir+":"+os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "TERM=dumb", "EDITOR=true", "VISUAL=")
	doc := func(text string) string {
		return "## Critical issues\n- " + text + "\n\n## Significant concerns\nNone.\n\n## Ambiguities\nNone.\n\n## Style and convention notes\nNone.\n\n## Action plan\n1. Mend src/a.txt.\n"
	}
	script, err := json.Marshal(map[string]any{"version": 1, "calls": []map[string]any{
		{"when": map[string]any{"role": "audit_a"}, "times": -1, "answer": map[string]any{"text": doc("one is wrong")}},
		{"when": map[string]any{"role": "revision"}, "times": -1, "answer": map[string]any{"text": "# path: src/a.txt\n```\ntwo\n```\n"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"home/.gitconfig":             "[user]\n\tname = A\n\temail = a@example.org\n[init]\n\tdefaultBranch = main\n",
		"script.json":                 string(script),
		"repo/src/a.txt":              "one\n",
		"repo/relay.config.json":      fmt.Sprintf(`{"orchestrator": {"provider": "replay"}, "builder": {"default_mode": "patch"}, "notify": {"desktop": false}, "plugins": {"replay": {"script": %q}}}`, filepath.Join(dir, "script.json")),
		"repo/config/services/S.yaml": "code: [\"src/**\"]\nmodels:\n  audit_a: {provider: replay}\n  audit_b: {enabled: false}\n  revision: {rotation: [replay]}\ncycle:\n  test_command: [\"true\"]\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range []string{"git init -q", "git add -A", "git commit -qm base", "relay trust --yes", "relay trust --yes S"} {
		w.must(0, strings.Fields(args)...)
	}
	out := w.must(1, "relay", "audit", "start", "S", "--json")
	var res struct {
		Cycle struct {
			UUID string `json:"uuid"`
		} `json:"cycle"`
	}
	if err := json.Unmarshal([]byte(out), &res); err != nil {
		t.Fatal(err)
	}
	w.id = res.Cycle.UUID
	return w
}

// run gives a program's output on stdout and its exit code.
func (w *gateWorld) run(env []string, args ...string) (string, int) {
	w.t.Helper()
	cmd := exec.CommandContext(w.t.Context(), args[0], args[1:]...)
	if args[0] == "relay" {
		cmd.Path, cmd.Err = filepath.Join(binDir, "relay"), nil
	}
	cmd.Dir, cmd.Env = w.repo, append(w.env[:len(w.env):len(w.env)], env...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.WaitDelay = 10 * time.Second
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		w.t.Fatalf("%v: %v", args, err)
	}
	return out.String() + map[bool]string{true: "", false: errs.String()}[out.Len() > 0], cmd.ProcessState.ExitCode()
}

func (w *gateWorld) must(code int, args ...string) string {
	w.t.Helper()
	out, got := w.run(nil, args...)
	if got != code {
		w.t.Fatalf("%v: exit code %d, want %d\n%s", args, got, code, out)
	}
	return out
}

// stands is what may not move: the state by relay's word, the branch, and what was asked.
func (w *gateWorld) stands() string {
	w.t.Helper()
	branch, _ := w.run(nil, "git", "for-each-ref", "--format=%(refname) %(objectname)", "refs/heads/relay/s-"+w.id[:6], "refs/relay")
	usage, err := os.ReadFile(filepath.Join(w.repo, ".relay/usage.jsonl"))
	if err != nil {
		w.t.Fatal(err)
	}
	var r struct {
		State     string `json:"state"`
		Iteration int    `json:"iteration"`
	}
	b, err := os.ReadFile(filepath.Join(w.repo, ".relay/cycles", w.id, "state.json"))
	if err == nil {
		err = json.Unmarshal(b, &r)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return fmt.Sprintf("%s in iteration %d, %d revisions, %s", r.State, r.Iteration, strings.Count(string(usage), `"role":"revision"`), branch)
}

// decisions are the commands that a gate is there for; demo and completion have nothing
// to do with a repository.
var decisions = map[string]string{"continue": "AWAITING_REVIEW", "accept": "AWAITING_ACCEPTANCE", "iterate": "AWAITING_ACCEPTANCE", "abort": "any", "demo": "any"}

// Every command of the program, with every flag that needs no value, in every state that
// waits: only the decision that the state is there for moves a cycle. With -short it is every
// fourth command line.
func TestEveryCommandAtAGate(t *testing.T) {
	sampling.Rare(t)
	t.Parallel()
	w := newGateWorld(t)
	for _, state := range []string{"AWAITING_REVIEW", "AWAITING_ACCEPTANCE"} {
		before := w.stands()
		if !strings.HasPrefix(before, state) {
			t.Fatalf("%s, want %s", before, state)
		}
		tried, lines := 0, commandLines(w.id)
		if testing.Short() {
			lines = sampling.Every(4, lines)
		}
		for _, args := range lines {
			name := args[0]
			if name == "audit" {
				name = args[1]
			}
			if in := decisions[name]; in == "any" || in == state {
				continue
			}
			_, _ = w.run(nil, append([]string{"relay", "--no-input"}, args...)...)
			tried++
			if now := w.stands(); now != before {
				t.Fatalf("relay %v: %s became %s", args, before, now)
			}
		}
		t.Logf("%s: %d command lines", state, tried)
		if state == "AWAITING_REVIEW" {
			w.must(1, "relay", "audit", "continue", w.id)
		}
	}
	w.must(0, "relay", "audit", "accept", w.id)
}

// commandLines gives each command bare, with the cycle's id, and with the id and each of
// its switches.
func commandLines(id string) [][]string {
	a, _, _ := testApp(nil)
	var out [][]string
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		path := strings.Fields(c.CommandPath())[1:]
		// plugin dev ends by Ctrl-C alone.
		if len(path) > 0 && c.Runnable() && !c.HasSubCommands() && path[0] != "loop" && c.CommandPath() != "relay plugin dev" {
			line := func(args ...string) []string { return append(append([]string{}, path...), args...) }
			out = append(out, line(), line(id), line("S"))
			for _, f := range switches(c) {
				out = append(out, line(id, f))
			}
		}
		for _, child := range c.Commands() {
			visit(child)
		}
	}
	visit(newRootCmd(a))
	return out
}

// What no process of its own is needed for is tried by host/cycle: every key there is. Here
// keys come over the ways that people use: the environment, --set, and files.
func TestKeysAtAGate(t *testing.T) {
	t.Parallel()
	w := newGateWorld(t)
	before := w.stands()
	var env []string
	args := []string{"relay"}
	for _, kv := range []string{"notify.bell=false", "commit.on_success=false", "cycles.max_worktrees=1", "limits.max_wait=0s", "history.enabled=false", "budgets.per_cycle.max_cost_usd=9"} {
		key, value, _ := strings.Cut(kv, "=")
		env = append(env, "RELAY_"+strings.ToUpper(strings.ReplaceAll(key, ".", "_"))+"="+value)
		args = append(args, "--set", kv)
	}
	for _, way := range []struct {
		env  []string
		args []string
	}{{env, []string{"relay"}}, {nil, args}, {[]string{"RELAY_CYCLE_MAX_ITERATIONS=1", "RELAY_CYCLE_AUTO_ITERATE_ON_TEST_FAILURE=true"}, []string{"relay"}}} {
		if out, code := w.run(way.env, append(way.args, "audit", "resume", w.id)...); code != 1 { // it waits as before
			t.Errorf("%v %v: exit code %d\n%s", way.env, way.args, code, out)
		}
	}
	if now := w.stands(); now != before {
		t.Fatalf("%s became %s", before, now)
	}
	service := filepath.Join(w.repo, "config/services/S.yaml")
	for _, text := range []string{"cycle: {acceptance_required: false}\n", "gates: {skip: true}\n", "cycle: {auto_accept: true, max_iterations: 1}\n"} {
		if err := os.WriteFile(service, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		_, _ = w.run(nil, "relay", "audit", "resume", w.id)
		if out, code := w.run(nil, "relay", "audit", "service", "check", "S"); code != 3 {
			t.Errorf("%q is accepted: %s", text, out)
		}
		if now := w.stands(); now != before {
			t.Fatalf("%s: %s became %s", text, before, now)
		}
	}
}

func switches(c *cobra.Command) []string {
	var out []string
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if f.Value.Type() == "bool" && f.Name != "help" && f.Name != "tail" {
			out = append(out, "--"+f.Name)
		}
	})
	return out
}
