package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/paxiom/relay/host"
)

// A change that passes with its own tests only is shown to the person at the terminal, and
// lands with a yes.
func TestChangedTestsAreAsked(t *testing.T) {
	t.Parallel()
	w := &pluginWorld{t: t, dir: t.TempDir()}
	w.repo = filepath.Join(w.dir, "repo")
	w.env = []string{"HOME=" + filepath.Join(w.dir, "home"), "PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir(), "GIT_CONFIG_NOSYSTEM=1", "TERM=dumb"}
	patch := ""
	for _, name := range []string{"src/a.txt", "tests/want.txt"} {
		patch += "--- a/" + name + "\\n+++ b/" + name + "\\n@@ -1 +1 @@\\n-two\\n+three\\n"
	}
	for name, text := range map[string]string{
		"home/.gitconfig":        "[user]\nname = a\nemail = a@example.org\n",
		"repo/src/a.txt":         "two\n",
		"repo/tests/want.txt":    "two\n",
		"repo/relay.config.json": `{"version": "1.0", "verification": {"templates": [{"id": "same", "cmd": "cmp", "args": ["tests/want.txt", "src/a.txt"]}]}}`,
		"task.json": `{"task_id": "T1", "milestone_id": "M1", "task_kind": "execute", "intent": "Count to three", "scope": {"allowed_globs": ["src/**", "tests/**"], "forbidden_globs": [],
			"allow_new_files": false, "allow_lockfile_changes": false}, "diff_limits": {"max_files_touched": 5, "max_lines_changed": 9}, "verification": {"fast": ["same"], "slow": []},
			"builder": {"mode": "patch", "max_turns": 1, "instructions": "Apply the patch.", "patch": "` + patch + `"}}`,
	} {
		file := filepath.Join(w.dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"git", "init", "-q"}, {"git", "add", "-A"}, {"git", "commit", "-q", "-m", "base"}, {"relay", "trust", "--yes"}} {
		w.run(0, args[0], args[1:]...)
	}
	const question = "May it land with 1 test file changed? [y/N]"
	w.shows(w.answer(host.ExitStopped, "n\n", "run", "--task", "../task.json"), "tests/want.txt", "-two", "+three", "the check same failed with the tests of the base", question, "STOP_OLD_TESTS_FAIL")
	w.shows(w.answer(host.ExitDone, "y\n", "run", "--task", "../task.json"), question, "SUCCESS", "1 test file changed, as the operator agreed; hard-coded answers not looked for")
	w.shows(w.run(0, "git", "log", "-1", "--format=%B"), "Relay-Evidence: verified by exit code only; 1 test file changed, as the operator agreed;")
	w.shows(w.run(0, "relay", "show"), "what the change does to tests:", "+three")
}
