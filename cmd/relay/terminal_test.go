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
	home := []string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir(), "GIT_CONFIG_NOSYSTEM=1"}
	out, err := onTerminal(t, "", append(home, env...), args...)
	if err != nil {
		t.Fatalf("%v\n%q", err, out)
	}
	return out
}

// onTerminal is terminal in a folder, for commands that may fail.
func onTerminal(t *testing.T, dir string, env []string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.Command(filepath.Join(binDir, "relay"), args...)
	cmd.Dir, cmd.Env = dir, env
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
	return out.String(), cmd.Wait()
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

// A diff goes through the pager of the environment, in color where that is wanted, and
// through none where the pager is cat, can't be started, or nobody would see it.
func TestPager(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "sample")
	env := []string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir(), "GIT_CONFIG_NOSYSTEM=1", "TERM=xterm"}
	terminal(t, []string{"TERM=dumb", env[0]}, "demo", dir)
	if err := os.WriteFile(filepath.Join(dir, "pager"), []byte("#!/bin/sh\nsed s/^/PAGED:/\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		env         []string
		paged, bold bool
	}{
		"PAGER":           {[]string{"PAGER=sed s/^/PAGED:/"}, true, true},
		"git's first":     {[]string{"PAGER=false", "GIT_PAGER=sed s/^/PAGED:/"}, true, true},
		"without colour":  {[]string{"PAGER=sed s/^/PAGED:/", "NO_COLOR=1"}, true, false},
		"cat":             {[]string{"PAGER=cat"}, false, true},
		"no such program": {[]string{"PAGER=/does/not/exist 2>/dev/null"}, false, true},
		"in the tree":     {[]string{"PAGER=./pager"}, false, true},
		"CI":              {[]string{"PAGER=sed s/^/PAGED:/", "CI=1"}, false, true},
		"dumb":            {[]string{"PAGER=sed s/^/PAGED:/", "TERM=dumb"}, false, false},
	} {
		out, err := onTerminal(t, dir, append(env[:len(env):len(env)], c.env...), "show", "--diff")
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if paged := strings.Contains(out, "PAGED:"); paged != c.paged {
			t.Errorf("%s: paged %v: %q", name, paged, out)
		}
		if !strings.Contains(out, "@@ ") || strings.Contains(out, "\x1b[1m") != c.bold {
			t.Errorf("%s: %q", name, out)
		}
	}
}

// The bell of a terminal rings when a cycle waits or has a problem, and nowhere else.
func TestBell(t *testing.T) {
	w := newGateWorld(t)
	for _, c := range []struct {
		args  []string
		rings bool
	}{
		{[]string{"audit", "start", "S", "--force", "--set", "notify.bell=false"}, false},
		{[]string{"audit", "start", "S", "--force"}, true},
		{[]string{"audit", "start", "S", "--force", "--with", "models.revision.rotation=[\"replay\"]", "--with", "code=[\"none/**\"]"}, true},
		{[]string{"queue"}, false},
	} {
		out, _ := onTerminal(t, w.repo, append(w.env[:len(w.env):len(w.env)], "CI=", "TERM=xterm"), c.args...) // some of them are to fail
		if strings.Contains(out, "\a") != c.rings {
			t.Errorf("relay %v: bell %v, want %v\n%q", c.args, !c.rings, c.rings, out)
		}
	}
}
