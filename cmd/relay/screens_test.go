package main

import (
	"context"
	"flag"
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
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

// What a person sees of relay on a real terminal: the demonstration, why a tick was stopped,
// a loop, and everything on one screen, with its keys. -screens takes the pictures of the
// documentation.
func TestScreens(t *testing.T) {
	if *screensTo == "" {
		t.Skip("no -screens: `make screens` takes them")
	}
	home := t.TempDir()
	dir, env := sample(t, home, "project")
	c := openConsole(t, dir, env)
	c.Tmux("resize-window", "-x", "110", "-y", "40")
	photo(t, c.runs("relay demo", "deploy.sh was never written"), "demo")
	c.runs("relay run", "✓ judge", "verdict", "SUCCESS")
	c.runs("relay run", "STOP_SCOPE_VIOLATION_OUTSIDE_ALLOWED", "next:")
	c.Tmux("resize-window", "-x", "110", "-y", "70")
	c.runs("relay show", "deploy.sh", "verdict")
	c.Tmux("resize-window", "-x", "100", "-y", "32")

	photo(t, c.types([]string{"clear; relay watch", "Enter"}, "relay watch  project on main", "RUNS", "✓ run", "x run", "? keys"), "watch")
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

	page := filepath.Join(t.TempDir(), "report.html")
	cmd := exec.Command(filepath.Join(binDir, "relay"), "report", "--format", "html", "-o", page)
	cmd.Dir, cmd.Env = dir, env
	if out, err := cmd.CombinedOutput(); err != nil && cmd.ProcessState.ExitCode() != 1 { // 1: something waits
		t.Fatalf("%v\n%s", err, out)
	}
	picture(t, page, 1100, 1500, "report")

	other, _ := sample(t, home, "other")
	c.runs("cd " + other)
	c.runs("relay loop --mode autonomous --max-ticks 2", "tick 1", "landed", "tick 2", "STOP_SCOPE")
}

// photo is a picture of a terminal's screen.
func photo(t *testing.T, screen, name string) {
	t.Helper()
	if strings.HasPrefix(screen, "ready ") {
		_, screen, _ = strings.Cut(screen, "\n")
	}
	screen, _, _ = strings.Cut(screen, "\nover\n")
	screen = strings.TrimSpace(strings.ReplaceAll(screen, "; echo; echo over", ""))
	screen = regexp.MustCompile(`\n{3,}`).ReplaceAllString(screen, "\n\n") // rows that a short list leaves free
	text := strings.NewReplacer("✓", "<i>✓</i>", "✗", "<b>✗</b>", "SUCCESS", "<i>SUCCESS</i>").Replace(html.EscapeString(screen))
	page := filepath.Join(t.TempDir(), "screen.html")
	if err := os.WriteFile(page, []byte(`<!doctype html><meta charset="utf-8"><style>
body { margin: 0; background: #16181b; color: #e6e8eb } pre { font: 15px/20px "DejaVu Sans Mono", monospace; margin: 16px }
i { color: #57c48a; font-style: normal } b { color: #ff8a80 }</style><pre>`+text), 0o644); err != nil {
		t.Fatal(err)
	}
	picture(t, page, 1060, 20*(strings.Count(screen, "\n")+1)+32, name)
}

// picture is what a browser shows of a page.
func picture(t *testing.T, page string, width, height int, as string) {
	t.Helper()
	for _, name := range []string{"chromium-headless-shell", "chromium", "google-chrome"} {
		program, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		browser := exec.Command(program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--force-device-scale-factor=1",
			"--user-data-dir="+t.TempDir(), fmt.Sprintf("--window-size=%d,%d", width, height), "--screenshot="+filepath.Join(*screensTo, as+".png"), "file://"+page)
		if out, err := browser.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		return
	}
	t.Fatal("no browser here, so there are no pictures: `apt-get install chromium-headless-shell fonts-dejavu-core`")
}
