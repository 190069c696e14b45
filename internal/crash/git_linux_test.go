package crash

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// ways are how a call of git fails; $git is the real one. The last two say less than there is.
var ways = []string{"exit 128", "exit 1", "kill -9 $$", `"$git" "$@" | head -c 9; exit 1`, `"$git" "$@" | head -c 9; exit 0`}

// workflow is one that a call of git fails in.
type workflow struct {
	name   string
	config string            // laid into the world's, before its last brace
	files  map[string]string // besides the world's
	before [][]string        // commands that come before, undisturbed
	victim func(w *world) []string
	refs   string // where its work lands
}

// Beside what the task is about the builder makes a file that git ignores. The scope would
// let it pass: an answer of git that is not there must not.
const ignoring = worldDriver + "mkdir -p dist\necho out > dist/out.bin\n"

func (f workflow) world(t *testing.T) *world {
	w := newWorldWith(t, ignoring)
	plan := strings.Replace(worldPlan, `["src/**"]`, `["**"]`, 1)
	if p := f.files["plan.json"]; p != "" {
		plan = p
	}
	config := strings.ReplaceAll(worldConfig, "@DIR@", w.root)
	files := map[string]string{".gitignore": "dist/\n", "plan.json": plan, "relay.config.json": strings.TrimSuffix(strings.TrimSpace(config), "}") + f.config + "}\n"}
	for name, text := range f.files {
		if name != "plan.json" {
			files[name] = text
		}
	}
	for name, text := range files {
		must(t, os.MkdirAll(filepath.Join(w.root, filepath.Dir(name)), 0o755))
		must(t, os.WriteFile(filepath.Join(w.root, name), []byte(text), 0o644))
	}
	w.git("add", "-A")
	w.git("commit", "-qm", "workflow")
	w.base = w.git("rev-parse", "HEAD")
	for _, args := range append([][]string{{"trust", "--yes", "--quiet"}}, f.before...) {
		if out, code := w.relay(args...); code > 1 {
			t.Fatalf("relay %v ends with %d: %s", args, code, out)
		}
	}
	return w
}

// gitThatFails is a folder for PATH with a git that fails at its n-th call, and the file that
// has a line for each call.
func gitThatFails(t *testing.T, n int, how string) (dir, calls string) {
	real, err := exec.LookPath("git")
	must(t, err)
	dir = t.TempDir()
	calls = filepath.Join(dir, "calls")
	must(t, os.WriteFile(filepath.Join(dir, "git"), fmt.Appendf(nil, "#!/bin/sh\ngit=%s\necho >> %s\nif [ $(wc -l < %s) = %d ]; then :; %s\nfi\nexec \"$git\" \"$@\"\n",
		real, calls, calls, n, how), 0o755))
	return dir, calls
}

func count(t *testing.T, calls string) int {
	b, err := os.ReadFile(calls)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.Count(string(b), "\n")
}

// Whatever call of git fails, and however, in a tick, a pipeline and an audit cycle: what
// was judged lands as a whole, or nothing does, and it is said.
func TestGitFailsAnywhere(t *testing.T) {
	begin, all := time.Now(), kills(t)
	texts := func(role, text string) string {
		return fmt.Sprintf(`{"times": -1, "when": {"role": %q}, "answer": %s}`, role, text)
	}
	for _, f := range []workflow{
		{name: "tick", victim: func(*world) []string { return []string{"run", "--json"} }, refs: "main"},
		{name: "pipeline", victim: func(*world) []string { return []string{"pipeline", "run", "--json"} }, refs: "main",
			config: `, "pipeline": {"plan": {"provider": "replay"}, "review": {"provider": "replay", "fallback": []}, "code": {"builder": "external", "fallback": []}, "cleanup": {"builder": "external"}}`,
			files: map[string]string{
				"prd.json": `{"tasks": [{"id": "one", "title": "One", "status": "pending", "validation": {"command": "grep -q . src/a.txt"}}]}`,
				"driver.sh": strings.ReplaceAll(ignoring, `{"summary":"done","files_intended":[],"commands_ran":[],"notes":[]}' >`, "$said' >") +
					"case $(cat \"$RELAY_TASK_PATH\") in\n*'\"step\":\"cleanup\"'*) echo '{\"summary\":\"done\",\"memory\":\"\",\"findings\":[],\"notes\":[]}' ;;\n" +
					"*) echo '{\"summary\":\"coded\",\"files_intended\":[],\"commands_ran\":[],\"notes\":[]}' ;;\nesac > \"$RELAY_OUTPUT_PATH\"\n",
				"plan.json": `{"version": 1, "calls": [` + texts("plan", `{"output": {"approach": "write it", "steps": [], "checks": [], "risks": [], "question": ""}}`) + ", " +
					texts("review", `{"output": {"summary": "looked", "findings": []}}`) + `]}`,
			}},
		{name: "cycle", before: [][]string{{"trust", "--yes", "--quiet", "S"}, {"audit", "start", "S"}}, refs: "--branches=relay/*",
			victim: func(w *world) []string {
				found, err := filepath.Glob(filepath.Join(w.root, ".git/relay/cycles/*/state.json"))
				if err != nil || len(found) != 1 {
					w.t.Fatalf("no cycle was begun: %v %v", found, err)
				}
				return []string{"audit", "continue", filepath.Base(filepath.Dir(found[0])), "--json"}
			},
			files: map[string]string{
				"config/services/S.yaml": "code: [\"src/**\"]\nmodels:\n  audit_a: {provider: replay, model: one}\n  audit_b: {enabled: false}\n  revision: {rotation: [external]}\n",
				"plan.json": `{"version": 1, "calls": [` + texts("audit_a", `{"text": "## Critical issues\n- two is wrong in src/a.txt\n\n## Significant concerns\nNone.\n\n## Ambiguities\nNone.\n\n`+
					`## Style and convention notes\nNone.\n\n## Action plan\n1. Mend src/a.txt.\n"}`) + `]}`,
			}},
	} {
		t.Run(f.name, func(t *testing.T) {
			// The undisturbed one says how many calls there are, and what its tree looks like.
			dir, calls := gitThatFails(t, 0, "")
			t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
			w := f.world(t)
			made := count(t, calls)
			if out, code := w.relay(f.victim(w)...); code > 1 || w.landedOn(f.refs) != 1 {
				t.Fatalf("undisturbed it ends with %d, %d changes landed: %s", code, w.landedOn(f.refs), out)
			}
			n := count(t, calls) - made
			picks := min(all, n)
			if f.name != "tick" {
				picks = min(all/2, n)
			}
			landed := 0
			for i := range picks {
				at := pick(i, picks, n)
				for k, how := range ways {
					if all < 300 && k != i%len(ways) {
						continue
					}
					landed += f.failAt(t, at, how)
				}
			}
			fmt.Printf("%s: %d of %d calls of git failed, %d landed all the same (%s)\n", f.name, picks, n, landed, time.Since(begin).Round(time.Second))
		})
	}
}

// failAt plays the workflow with one call of git that fails, and once more without.
func (f workflow) failAt(t *testing.T, at int, how string) int {
	w := f.world(t)
	victim := f.victim(w)
	dir, _ := gitThatFails(t, at, how)
	path := os.Getenv("PATH")
	t.Setenv("PATH", dir+":"+path)
	out, code := w.relay(victim...)
	t.Setenv("PATH", path)
	what := fmt.Sprintf("%q at call %d", how, at)
	landed := w.landedOn(f.refs)
	if f.name != "cycle" && code == 0 && landed == 0 {
		t.Errorf("%s: nothing landed, and that was no error: %s", what, out)
	}
	if strings.Contains(out, "panic:") || code < 0 {
		t.Errorf("%s: it ended with %d: %s", what, code, out)
	}
	if strings.Contains(out, "`git reset -q` fixes it") { // the index was to be told last
		w.git("reset", "-q")
	}
	switch f.name { // a landing that was cut off is settled by the next start
	case "tick":
		w.settle(what)
	default: // what was paid for and waits continues where it stood
		if strings.Contains(out, "relay task retry one") {
			w.relay("task", "retry", "one")
		}
		again, code := w.relay(f.next(victim)...)
		if strings.Contains(again, "relay audit continue ") { // it failed before the approval counted
			again, code = w.relay(victim...)
		}
		if code < 0 || code > 3 {
			t.Errorf("%s: the next start ends with %d: %s", what, code, again)
		}
		if n := w.landedOn(f.refs); n != 1 {
			t.Errorf("%s: %d changes have landed in the end: %s\n%s", what, n, out, again)
		}
	}
	if dirty := w.git("status", "--porcelain", "--", "src", "dist"); dirty != "" {
		t.Errorf("%s: the work tree is half written: %s\n%s", what, dirty, out)
	}
	w.landedOn(f.refs)
	return landed
}

// next is the command that continues after the victim.
func (f workflow) next(victim []string) []string {
	if f.name == "cycle" {
		return []string{"audit", "resume", victim[2], "--json"}
	}
	return victim
}

// landedOn counts the changes of runs that a ref has after the base, and fails unless
// each is the whole of what was judged and no more.
func (w *world) landedOn(ref string) (n int) {
	w.t.Helper()
	for _, commit := range strings.Fields(w.git("rev-list", ref, "^"+w.base)) {
		files := strings.Fields(w.git("show", "--format=", "--name-only", commit))
		files = slices.DeleteFunc(files, func(name string) bool { return name == "prd.json" || strings.HasPrefix(name, ".relay/pipeline/") })
		if len(files) == 0 {
			continue // what a pipeline writes down
		}
		n++
		if !slices.Equal(files, []string{"src/a.txt", "src/b.txt"}) || w.git("rev-parse", commit+":src/a.txt") != w.git("rev-parse", commit+":src/b.txt") {
			w.t.Errorf("commit %s was never judged: %q", commit, files)
		}
	}
	return n
}
