package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// What a model wrote stays text on the live screen: it moves no cursor, clears nothing, sets no title, turns no
// line around, and is no wider than its place.
func TestWatchShowsHostileText(t *testing.T) {
	t.Parallel()
	dir, env := sample(t, t.TempDir(), "project")
	hostile := "seen \x1b]0;owned\x07\x1b[2J\x1b[1;1H\x1b[?1049l\u009b31m\x1bP+q\x1b\\ \u202etxt.exe\u2066\u200b\u2028 <script>x</script> " + strings.Repeat("W", 600) + strings.Repeat("\u0301", 300)
	quoted, err := json.Marshal(hostile)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "model-answers.json")
	answers, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	const intent = `"intent": "Make add.sh add, so that its test passes"`
	if !strings.Contains(string(answers), intent) {
		t.Fatal("the sample has another intent")
	}
	if err := os.WriteFile(file, []byte(strings.Replace(string(answers), intent, `"intent": `+string(quoted), 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	run := exec.Command("sh", "-ec", "git commit -qam 'Hostile answers'; relay run")
	run.Dir, run.Env = dir, env
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	c := openConsole(t, dir, env)
	c.Tmux("select-pane", "-T", "mine")
	look := func(screen string) {
		t.Helper()
		for line := range strings.Lines(screen) {
			if n := len([]rune(strings.TrimRight(line, "\n"))); n > 100 {
				t.Errorf("a line of %d columns: %q", n, line)
			}
		}
		if strings.ContainsAny(screen, "\x1b\x07\u009b\u202e\u2066\u200b\u2028\u0301") {
			t.Errorf("control characters on the screen: %q", screen)
		}
		if title := strings.TrimSpace(c.Tmux("display-message", "-p", "#{pane_title}")); title != "mine" {
			t.Errorf("the title of the terminal is %q", title)
		}
	}
	look(c.types([]string{"clear; relay watch", "Enter"}, "0 need you  0 at work", "✓ run", "seen"))
	c.types([]string{"q"}, "$\n")
	look(c.runs("relay show | cut -c1-99", "seen"))
}
