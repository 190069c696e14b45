package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"
)

// What a person sees of a loop on a real terminal: two ticks with all that is said of them,
// and one whose check takes long, with what is under way, ended by ctrl-c.
func TestLoopScreen(t *testing.T) {
	t.Parallel()
	dir, env := sample(t, t.TempDir(), "project")
	c := openConsole(t, dir, env)
	c.Keys("clear; relay loop --mode autonomous --max-ticks 2; echo ended", "Enter")
	c.golden(t, "loop", "spent", "next: ", "\nended\n")

	dir, env = sample(t, t.TempDir(), "slow")
	for _, line := range []string{"echo sleep 600 >test.sh", "git commit -qam 'A test that takes long'"} {
		cmd := exec.Command("sh", "-ec", line)
		cmd.Dir, cmd.Env = dir, env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", line, err, out)
		}
	}
	c = openConsole(t, dir, env)
	c.Keys("clear; relay loop --mode autonomous --max-ticks 2; echo ended", "Enter")
	c.golden(t, "loop-live", "✓ judge", "  verify", "left")
	c.Keys("C-c")
	c.golden(t, "loop-interrupted", "spent", "next: ", "\nended\n")
}

// masks are what a screen has that is another one each time.
var masks = []struct {
	what *regexp.Regexp
	by   string
}{
	{regexp.MustCompile(`(?m)^\$ clear; .*\n|^\$ *\n?\z`), ""},
	{regexp.MustCompile(`\b\d{8}-\d{6}-[a-z0-9]{8}\b`), "RUN"},
	{regexp.MustCompile(`\b[0-9a-f]{12}\b`), "COMMIT"},
	{regexp.MustCompile(`\b(\d+h )?(\d+m )?\d+(\.\d+)? ?m?s\b *`), "TIME "},
	{regexp.MustCompile(`(?m) +$`), ""},
}

// golden waits until the screen is the one on file, but for what is masked; with -update it
// writes it, once it shows all of want.
func (c console) golden(t *testing.T, name string, want ...string) {
	t.Helper()
	masked := func(screen string) string {
		for _, m := range masks {
			screen = m.what.ReplaceAllString(screen, m.by)
		}
		return screen
	}
	file := filepath.Join("testdata", name+".txt")
	if *update {
		c.Shows(want...)
		time.Sleep(3 * time.Second) // budgets are read every two
		if err := os.WriteFile(file, []byte(masked(c.Screen())), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	on, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	c.Eventually("is as in "+file, func(screen string) bool { return masked(screen) == string(on) })
}
