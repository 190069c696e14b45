package crash

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// built is relay with the plugins that are needed, made once.
var built struct {
	once sync.Once
	dir  string
	err  error
}

func relay(t testing.TB) string {
	t.Helper()
	built.once.Do(func() {
		if built.dir, built.err = os.MkdirTemp("", "relay-crash-"); built.err != nil {
			return
		}
		built.err = os.Chmod(built.dir, 0o755)
		cmd := exec.Command("go", "run", "./internal/build", "-o", built.dir, "-plugins", "external,replay")
		cmd.Dir = "../.."
		if out, err := cmd.CombinedOutput(); err != nil {
			built.err = fmt.Errorf("%w: %s", err, out)
		}
	})
	must(t, built.err)
	return filepath.Join(built.dir, "relay")
}

func removeBuilt() {
	if built.dir != "" {
		os.RemoveAll(built.dir)
	}
}

// world is one repository whose model and builder cost no time, with a home of its own.
type world struct {
	t               testing.TB
	dir, root, home string
	base            string          // up to which commit all were looked at
	landed          map[string]bool // runs whose commits were seen
	ends, recovered int             // how often relay was ended before its time, and settled that
}

const worldConfig = `{"version": "1.0", "orchestrator": {"provider": "replay"}, "commit": {"builder_commits": "squash"},
  "builder": {"default_mode": "external", "external": {"command": "./driver.sh", "args": [], "timeout_seconds": 60, "output_file": "BUILDER_RESULT.json"}},
  "budgets": {"shared": true, "per_day": {"max_calls": 100000}, "per_milestone": {"max_ticks": 100000, "max_orchestrator_calls": 100000, "max_builder_calls": 100000, "max_verify_runs": 100000}},
  "plugins": {"replay": {"script": "@DIR@/plan.json"}}, "runner": {"stuck_after": 100},
  "verification": {"templates": [{"id": "pass", "cmd": "true", "args": []}]}}
`

const worldPlan = `{"version": 1, "calls": [{"times": -1, "usage": {"input_tokens": 1, "output_tokens": 1, "cost_microusd": 1}, "answer": {"output": {
  "task_id": "T1", "milestone_id": "M1", "task_kind": "execute", "intent": "Change two files",
  "scope": {"allowed_globs": ["src/**"], "forbidden_globs": [], "allow_new_files": true, "allow_lockfile_changes": false},
  "diff_limits": {"max_files_touched": 5, "max_lines_changed": 100},
  "verification": {"fast": ["pass"], "slow": []},
  "builder": {"mode": "external", "max_turns": 1, "instructions": "Change src."}}}}]}
`

// Both files get the same text: a commit with one of them alone was never judged.
const worldDriver = `#!/bin/sh
n=$(date +%s%N)
setsid sleep 86385.3 &
echo $n > src/a.txt
echo $n > src/b.txt
printf '%s' '{"summary":"done","files_intended":[],"commands_ran":[],"notes":[]}' > "$RELAY_OUTPUT_PATH"
`

func newWorld(t testing.TB) *world { t.Helper(); return newWorldWith(t, worldDriver) }

// newWorldWith has another builder.
func newWorldWith(t testing.TB, driver string) *world {
	t.Helper()
	dir := t.TempDir()
	w := &world{t: t, landed: map[string]bool{}, dir: dir, root: filepath.Join(dir, "repo"), home: filepath.Join(dir, "home")}
	must(t, os.MkdirAll(filepath.Join(w.root, "src"), 0o755))
	must(t, os.MkdirAll(w.home, 0o755))
	for name, text := range map[string]string{"relay.config.json": strings.ReplaceAll(worldConfig, "@DIR@", w.root), "plan.json": worldPlan,
		"driver.sh": driver, "src/a.txt": "0\n", "src/b.txt": "0\n"} {
		must(t, os.WriteFile(filepath.Join(w.root, name), []byte(text), 0o755))
	}
	for _, args := range []string{"init -q -b main", "config user.name A", "config user.email a@example.org", "config gc.auto 0", "add -A", "commit -qm base"} {
		w.git(strings.Fields(args)...)
	}
	w.base = w.git("rev-parse", "HEAD")
	if out, code := w.relay("trust", "--yes", "--quiet"); code != 0 {
		t.Fatal(out)
	}
	return w
}

func (w *world) env() []string {
	return []string{"HOME=" + w.home, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir(), "GIT_CONFIG_NOSYSTEM=1", "CI=1"}
}

func (w *world) command(args ...string) *exec.Cmd {
	cmd := exec.Command(relay(w.t), args...)
	cmd.Dir, cmd.Env = w.root, w.env()
	cmd.Stdout, cmd.Stderr = &bytes.Buffer{}, &bytes.Buffer{}
	return cmd
}

// relay runs it undisturbed.
func (w *world) relay(args ...string) (out string, code int) {
	w.t.Helper()
	cmd := w.command(args...)
	must(w.t, cmd.Start())
	timer := time.AfterFunc(2*time.Minute, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	_ = cmd.Wait() // its code says it
	return fmt.Sprint(cmd.Stdout, cmd.Stderr), cmd.ProcessState.ExitCode()
}

func (w *world) git(args ...string) string {
	w.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = w.root, w.env()
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// orphans are processes of this world.
func (w *world) orphans() (found []string) {
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, p := range all {
		env, err := os.ReadFile(p + "/environ")
		if err == nil && bytes.Contains(env, []byte("HOME="+w.home+"\x00")) {
			name, _ := os.ReadFile(p + "/cmdline")
			found = append(found, strings.ReplaceAll(string(name), "\x00", " "))
		}
	}
	return found
}

// settle starts relay again, as the operator would: the loop continues, or a tick is made.
func (w *world) settle(what string) {
	w.t.Helper()
	if left := w.orphans(); len(left) > 0 && !waitFor(5*time.Second, func() bool { left = w.orphans(); return len(left) == 0 }) {
		w.t.Errorf("%s: processes live on: %q", what, left)
	}
	out, code := w.relay("loop", "--resume", "--json")
	if code == 3 && strings.Contains(out, "no loop can be continued") {
		out, code = w.relay("run", "--json")
	}
	if code != 0 {
		w.t.Fatalf("%s: the next start ends with %d: %s", what, code, out)
	}
	if left := w.leftovers(); len(left) > 0 { // the tick had ended, and is settled by the next one
		if out, code = w.relay("run", "--json"); code != 0 {
			w.t.Fatalf("%s: the tick after that ends with %d: %s", what, code, out)
		}
	}
	w.recovered++
	w.whole(what)
}

var trailer = regexp.MustCompile(`(?m)^Relay-Run: (\S+)$`)

// whole fails unless repository, ledger, history and state folder agree.
func (w *world) whole(what string) {
	w.t.Helper()
	if dirty := w.git("status", "--porcelain"); dirty != "" {
		w.t.Errorf("%s: the tree is broken: %s", what, dirty)
	}
	head, fresh := w.git("rev-parse", "HEAD"), strings.Fields(w.git("rev-list", "--first-parent", w.base+"..HEAD"))
	for _, commit := range fresh {
		w.judged(what, commit)
	}
	if len(fresh) == 0 && head != w.base {
		w.t.Errorf("%s: the branch went back from %s to %s", what, w.base, head)
	}
	w.base = head
	w.ledger(what)
	for _, f := range w.leftovers() {
		w.t.Errorf("%s: %s is left", what, f)
	}
}

// judged fails unless a commit is one that a run of the history landed, and no other did.
func (w *world) judged(what, commit string) {
	w.t.Helper()
	message, files, _ := strings.Cut(w.git("show", "--format=%B%x00", "--name-only", commit), "\x00")
	blobs := strings.Fields(w.git("rev-parse", commit+":src/a.txt", commit+":src/b.txt"))
	run := trailer.FindStringSubmatch(message)
	if strings.TrimSpace(files) != "src/a.txt\nsrc/b.txt" || run == nil || blobs[0] != blobs[1] {
		w.t.Errorf("%s: commit %s was never judged: %q", what, commit, files)
		return
	}
	var meta struct{ Code, Commit string }
	raw, err := os.ReadFile(filepath.Join(w.root, ".git/relay/history", run[1], "meta.json"))
	if err != nil || json.Unmarshal(raw, &meta) != nil || meta.Code != "SUCCESS" || meta.Commit != commit || w.landed[run[1]] {
		w.t.Errorf("%s: the history of run %s says %s (%v), its commit is %s", what, run[1], raw, err, commit)
	}
	w.landed[run[1]] = true
}

// leftovers are boxes, journals and unfinished files.
func (w *world) leftovers() (all []string) {
	for _, glob := range []string{filepath.Join(w.home, ".local/state/relay/boxes/*"), filepath.Join(w.root, ".git/relay/journal/*"), filepath.Join(w.root, ".relay/*.tmp")} {
		found, _ := filepath.Glob(glob)
		all = append(all, found...)
	}
	return all
}

// ledger fails unless each call is there once, in the workspace and in the machine's
// account: STATE.json counts before a call is made, usage.jsonl after it.
func (w *world) ledger(what string) {
	w.t.Helper()
	var state struct {
		Budgets struct {
			Orchestrator int `json:"orchestrator_calls"`
			Builder      int `json:"builder_calls"`
		}
		Pending []any
	}
	var account struct {
		Quarters []struct {
			Spent map[string]struct{ Calls int }
		}
		Pending []any
	}
	for path, v := range map[string]any{filepath.Join(w.root, ".git/relay/STATE.json"): &state, filepath.Join(w.home, ".local/state/relay/spend/account.json"): &account} {
		raw, err := os.ReadFile(path)
		must(w.t, err)
		must(w.t, json.Unmarshal(raw, v))
	}
	raw, err := os.ReadFile(filepath.Join(w.root, ".git/relay/usage.jsonl"))
	must(w.t, err)
	seen := map[string]bool{}
	for line := range strings.Lines(string(raw)) {
		var u struct {
			CallID string `json:"call_id"`
		}
		if json.Unmarshal([]byte(line), &u) != nil || u.CallID == "" {
			continue // torn
		}
		if seen[u.CallID] {
			w.t.Errorf("%s: call %s is doubled", what, u.CallID)
		}
		seen[u.CallID] = true
	}
	charged := 0
	for _, q := range account.Quarters {
		for _, s := range q.Spent {
			charged += s.Calls
		}
	}
	if counted := state.Budgets.Orchestrator + state.Budgets.Builder; counted != len(seen) || charged != len(seen) || len(state.Pending)+len(account.Pending) > 0 {
		w.t.Errorf("%s: calls are lost or doubled: %d counted (%d pending), %d in usage.jsonl, %d in the machine's account (%d pending)",
			what, counted, len(state.Pending), len(seen), charged, len(account.Pending))
	}
}
