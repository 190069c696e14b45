package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
)

// terminal runs relay on a real pseudo-terminal and gives what it showed.
func terminal(t *testing.T, env []string, args ...string) string {
	t.Helper()
	home := t.TempDir()
	cmd := exec.Command(filepath.Join(binDir, "relay"), args...)
	cmd.Env = append([]string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir(), "GIT_CONFIG_NOSYSTEM=1"}, env...)
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 72})
	if err != nil {
		t.Fatal(err)
	}
	defer tty.Close()
	timer := time.AfterFunc(2*time.Minute, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	var out bytes.Buffer
	if _, err := io.Copy(&out, tty); err != nil && !errors.Is(err, syscall.EIO) { // EIO: the other end is closed
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v\n%q", err, out.String())
	}
	return out.String()
}

func TestTerminal(t *testing.T) {
	t.Run("live", func(t *testing.T) {
		t.Parallel()
		got := terminal(t, []string{"TERM=xterm-256color"}, "demo")
		for _, want := range []string{"\x1b[32m✓\x1b[0m orchestrate", "\x1b[32m✓\x1b[0m judge"} {
			if !strings.Contains(got, want) {
				t.Errorf("missing %q in %q", want, got)
			}
		}
		// Nothing is asked of the terminal and none of its modes is set, but for the cursor
		// while the region is drawn: an answer would be typed into the shell.
		for _, seq := range regexp.MustCompile(`\x1b(\[[0-9;?<=>$]*[a-zA-Z]|[^\[])`).FindAllString(got, -1) {
			if strings.ContainsAny(seq[len(seq)-1:], "hlcnqpu") && seq != "\x1b[?25l" && seq != "\x1b[?25h" {
				t.Errorf("the terminal gets %q", seq)
			}
		}
		if hidden, shown := strings.LastIndex(got, "\x1b[?25l"), strings.LastIndex(got, "\x1b[?25h"); hidden > shown {
			t.Errorf("the cursor stays hidden: %q", got)
		}
	})
	for name, env := range map[string][]string{
		"NO_COLOR": {"TERM=xterm", "NO_COLOR=1", "CI=1"}, "dumb": {"TERM=dumb"}, "CI": {"TERM=dumb", "CI=1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := terminal(t, env, "demo"); strings.ContainsRune(got, '\x1b') || !strings.Contains(got, "✓ judge") {
				t.Errorf("%q", got)
			}
		})
	}
}

// The bell of a terminal rings when a cycle waits or has a problem, and nowhere else.
func TestBell(t *testing.T) {
	w := newGateWorld(t)
	run := func(args ...string) string {
		t.Helper()
		cmd := exec.Command(filepath.Join(binDir, "relay"), args...)
		cmd.Dir = w.repo
		cmd.Env = append(w.env[:len(w.env):len(w.env)], "CI=", "TERM=xterm")
		tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 100})
		if err != nil {
			t.Fatal(err)
		}
		defer tty.Close()
		timer := time.AfterFunc(2*time.Minute, func() { _ = cmd.Process.Kill() })
		defer timer.Stop()
		var out bytes.Buffer
		if _, err := io.Copy(&out, tty); err != nil && !errors.Is(err, syscall.EIO) {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		return out.String()
	}
	for _, c := range []struct {
		args  []string
		rings bool
	}{
		{[]string{"start", "S", "--force", "--set", "notify.bell=false"}, false},
		{[]string{"start", "S", "--force"}, true},
		{[]string{"start", "S", "--force", "--with", "models.revision.rotation=[\"replay\"]", "--with", "code=[\"none/**\"]"}, true},
		{[]string{"queue"}, false},
	} {
		if out := run(c.args...); strings.Contains(out, "\a") != c.rings {
			t.Errorf("relay %v: bell %v, want %v\n%q", c.args, !c.rings, c.rings, out)
		}
	}
}
