package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// A run that begins is seen, with what it does; one that is killed is gone, though it says
// nothing any more, and what is to be done about it stands on top. Files of a live run that
// nobody could have written take nothing from the screen.
func TestWatchSeesRunsComeAndGo(t *testing.T) {
	t.Parallel()
	dir, env := sample(t, t.TempDir(), "project")
	for _, line := range []string{"echo sleep 600 >test.sh", "git commit -qam 'A test that takes long'", "mkdir -p .git/relay/live", "echo '{\"pid\": 1' >.git/relay/live/1.json", "echo [] >.git/relay/live/x.json"} {
		cmd := exec.Command("sh", "-ec", line)
		cmd.Dir, cmd.Env = dir, env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", line, err, out)
		}
	}
	c := openConsole(t, dir, env)
	c.types([]string{"clear; relay watch", "Enter"}, "0 need you  0 at work", "nothing has run here yet")
	run := exec.Command(filepath.Join(binDir, "relay"), "run")
	run.Dir, run.Env = dir, env
	run.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	c.Shows("1 at work", "WORKING", "* run", "verify")
	c.types([]string{"l"}, "log  (1-", "done: judge")
	c.types([]string{"q"}, "WORKING")
	if err := run.Process.Signal(os.Kill); err != nil {
		t.Fatal(err)
	}
	_ = run.Wait()
	c.Shows("1 need you  0 at work", "! crash", "was cut off in the middle of a change", "… run", "unfinished")
	c.types([]string{"g"}, "> ! crash", "next: relay recover")
	c.types([]string{"q"}, "$\n")
}
