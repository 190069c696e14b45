package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/paxiom/relay/cmd/relay/internal/termtest"
)

var screensTo = flag.String("screens", "", "write what TestScreens sees to this `folder`")

// console is a real terminal with a shell in it.
type console struct{ *termtest.Terminal }

func openConsole(t *testing.T, dir string, env []string) console {
	t.Helper()
	return console{termtest.Open(t, 100, 32, dir, env, "sh")}
}

// types keys and gives the screen once it shows all of want.
func (c console) types(keys []string, want ...string) string {
	c.Keys(keys...)
	return c.Shows(want...)
}

var prompts atomic.Int32

// runs a command on an empty screen; it has ended when the prompt is back.
func (c console) runs(line string, want ...string) string {
	ready := fmt.Sprintf("ready %d", prompts.Add(1)) // the screen before looks alike otherwise
	c.types([]string{"clear; echo " + ready, "Enter"}, ready+"\n$")
	return c.types([]string{line + "; echo; echo over", "Enter"}, append(want, "\nover\n")...)
}

// sample is the repository of the demonstration, trusted, in a home of its own.
func sample(t *testing.T, home, name string) (dir string, env []string) {
	t.Helper()
	dir = filepath.Join(home, name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := makeSample(context.Background(), dir); err != nil {
		t.Fatal(err)
	}
	env = []string{"HOME=" + home, "PATH=" + binDir + ":" + os.Getenv("PATH"), "TERM=xterm-256color", "LC_ALL=C.UTF-8", "TMPDIR=" + os.TempDir(), "GIT_CONFIG_NOSYSTEM=1", "PS1=$ ", "ENV=", "SHELL=/bin/sh"}
	for _, args := range [][]string{{"trust", "--yes"}} {
		cmd := exec.Command(filepath.Join(binDir, "relay"), args...)
		cmd.Dir, cmd.Env = dir, env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("relay %v: %v\n%s", args, err, out)
		}
	}
	return dir, env
}

// What a person sees of relay on a real terminal: a tick that lands, one that is stopped,
// why, a loop, and everything on one screen, with its keys. -screens keeps it for the
// documentation.
func TestScreens(t *testing.T) {
	if *screensTo == "" {
		t.Skip("no -screens: `make screens` takes them")
	}
	home := t.TempDir()
	dir, env := sample(t, home, "project")
	c := openConsole(t, dir, env)
	keep := func(name, screen string) {
		screen, _, _ = strings.Cut(screen, "\nover\n")
		if *screensTo == "" {
			return
		}
		if strings.HasPrefix(screen, "ready ") {
			_, screen, _ = strings.Cut(screen, "\n")
		}
		screen = strings.ReplaceAll(strings.ReplaceAll(screen, "; echo; echo over", ""), home, "~")
		if err := os.WriteFile(filepath.Join(*screensTo, name+".txt"), []byte(strings.TrimSpace(screen)+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	keep("run", c.runs("relay run", "✓ judge", "verdict", "SUCCESS"))
	keep("stopped", c.runs("relay run", "STOP_SCOPE_VIOLATION_OUTSIDE_ALLOWED", "next:"))
	c.Tmux("resize-window", "-x", "110", "-y", "70")
	keep("show", c.runs("relay show", "deploy.sh", "verdict"))
	c.Tmux("resize-window", "-x", "100", "-y", "32")

	watch := c.types([]string{"clear; relay watch", "Enter"}, "relay watch  project on main", "RUNS", "✓ run", "x run", "? keys")
	keep("watch", watch)
	c.types([]string{"d"}, "diff of ", "+++ b/deploy.sh")
	c.types([]string{"q"}, "RUNS")
	c.types([]string{"Enter"}, "STOP_SCOPE_VIOLATION_OUTSIDE_ALLOWED", "q back")
	c.types([]string{"q", "q"}, "$\n")
	if got := strings.TrimSpace(c.Tmux("display-message", "-p", "#{cursor_flag} #{alternate_on}")); got != "1 0" {
		t.Errorf("cursor shown, alternate screen: %s", got)
	}

	if got := c.runs("TERM=dumb relay watch", "RUNS"); strings.Contains(got, "? keys") {
		t.Errorf("a screen on a terminal that can't:\n%s", got)
	}
	if got := c.runs("relay watch | cat", "RUNS"); strings.Contains(got, "? keys") {
		t.Errorf("a screen in a pipe:\n%s", got)
	}

	other, _ := sample(t, home, "other")
	c.runs("cd " + other)
	keep("loop", c.runs("relay loop --mode autonomous --max-ticks 2", "tick 1", "landed", "tick 2", "STOP_SCOPE"))
	if *screensTo != "" {
		picture(t, dir, env, filepath.Join(*screensTo, "report.png"))
	}
}

// picture is the report as a page in a browser.
func picture(t *testing.T, dir string, env []string, to string) {
	t.Helper()
	page := filepath.Join(t.TempDir(), "report.html")
	cmd := exec.Command(filepath.Join(binDir, "relay"), "report", "--format", "html", "-o", page)
	cmd.Dir, cmd.Env = dir, env
	if out, err := cmd.CombinedOutput(); err != nil && cmd.ProcessState.ExitCode() != 1 { // 1: something waits
		t.Fatalf("%v\n%s", err, out)
	}
	for _, name := range []string{"chromium-headless-shell", "chromium", "google-chrome"} {
		program, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		browser := exec.Command(program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--force-device-scale-factor=1",
			"--user-data-dir="+t.TempDir(), fmt.Sprintf("--window-size=%d,%d", 1100, 1300), "--screenshot="+to, "file://"+page)
		if out, err := browser.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		return
	}
	t.Log("no browser here, so there is no picture of the report: `apt-get install chromium-headless-shell fonts-dejavu-core`")
}
