package main

import (
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/paxiom/relay/host"
)

// testsWorld is a repository at a terminal, with one check and one task whose builder
// applies a patch.
func testsWorld(t *testing.T, check, patch string, files map[string]string) *pluginWorld {
	t.Helper()
	w := &pluginWorld{t: t, dir: t.TempDir()}
	w.repo = filepath.Join(w.dir, "repo")
	w.env = []string{"HOME=" + filepath.Join(w.dir, "home"), "PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir(), "GIT_CONFIG_NOSYSTEM=1", "TERM=dumb"}
	all := map[string]string{
		"home/.gitconfig":        "[user]\nname = a\nemail = a@example.org\n",
		"repo/relay.config.json": `{"version": "1.0", "verification": {"templates": [` + check + `]}}`,
		"task.json": `{"task_id": "T1", "milestone_id": "M1", "task_kind": "execute", "intent": "Count to three", "scope": {"allowed_globs": ["src/**", "tests/**"], "forbidden_globs": [],
			"allow_new_files": false, "allow_lockfile_changes": false}, "diff_limits": {"max_files_touched": 5, "max_lines_changed": 9}, "verification": {"fast": ["same"], "slow": []},
			"builder": {"mode": "patch", "max_turns": 1, "instructions": "Apply the patch.", "patch": ` + strconv.Quote(patch) + `}}`,
	}
	maps.Copy(all, files)
	for name, text := range all {
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
	return w
}

// A change that passes with its own tests only is shown to the person at the terminal, and
// lands with a yes.
func TestChangedTestsAreAsked(t *testing.T) {
	t.Parallel()
	patch := ""
	for _, name := range []string{"src/a.txt", "tests/want.txt"} {
		patch += "--- a/" + name + "\n+++ b/" + name + "\n@@ -1 +1 @@\n-two\n+three\n"
	}
	w := testsWorld(t, `{"id": "same", "cmd": "cmp", "args": ["tests/want.txt", "src/a.txt"]}`, patch,
		map[string]string{"repo/src/a.txt": "two\n", "repo/tests/want.txt": "two\n"})
	const question = "May it land with 1 test file changed? [y/N]"
	w.shows(w.answer(host.ExitStopped, "n\n", "run", "--task", "../task.json"), "tests/want.txt", "-two", "+three", "the check same failed with the tests of the base", question, "STOP_OLD_TESTS_FAIL")
	w.shows(w.answer(host.ExitDone, "y\n", "run", "--task", "../task.json"), question, "SUCCESS", "1 test file changed, as the operator agreed; hard-coded answers not looked for")
	w.shows(w.run(0, "git", "log", "-1", "--format=%B"), "Relay-Evidence: verified by exit code only; 1 test file changed, as the operator agreed;")
	w.shows(w.run(0, "relay", "show"), "what the change does to tests:", "+three")
}

// A test that no longer runs is named to the person at the terminal; the change lands with a
// yes, which is said.
func TestMissingTestsAreAsked(t *testing.T) {
	t.Parallel()
	w := testsWorld(t, `{"id": "same", "cmd": "sh", "args": ["tests/run.sh"], "results": "tap"}`, "--- a/tests/list.txt\n+++ b/tests/list.txt\n@@ -1,2 +1 @@\n one\n-two\n",
		map[string]string{"repo/src/a.txt": "two\n", "repo/tests/list.txt": "one\ntwo\n", "repo/tests/run.sh": "sed 's/^/ok /' tests/list.txt\necho 1..$(wc -l < tests/list.txt)\n"})
	const question = "May it land without 1 test? [y/N]"
	w.shows(w.answer(host.ExitStopped, "n\n", "run", "--task", "../task.json"), "tests/list.txt", "-two", "the check same no longer runs 1 test", "two#1 did not run", question, "STOP_TESTS_MISSING")
	w.shows(w.answer(host.ExitDone, "y\n", "run", "--task", "../task.json"), question, "SUCCESS", "verified: 1 test by name, 0 new, 1 missing, as the operator agreed;")
	w.shows(w.run(0, "git", "log", "-1", "--format=%B"), "Relay-Evidence: verified: 1 test by name, 0 new, 1 missing, as the operator agreed;")
	shown := w.run(0, "relay", "show")
	w.shows(shown, "what the change does to tests:", "-two", "all held")
}
