package termtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// patience is how long a screen may take to be as wanted.
const patience = 2 * time.Minute

// Terminal is one window of one tmux server. It ends with its test.
type Terminal struct {
	t      testing.TB
	socket string
	env    []string
}

// Open opens a terminal of this size in a folder; "" is the test's own. env is the whole
// environment of what runs in it. Without tmux the test is skipped.
func Open(t testing.TB, width, height int, dir string, env []string, command string) *Terminal {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("tmux is not installed, so there is no terminal to look at")
	}
	socket, err := os.MkdirTemp("", "term") // a socket's path has to be short
	if err != nil {
		t.Fatal(err)
	}
	m := &Terminal{t: t, socket: filepath.Join(socket, "s"), env: env}
	t.Cleanup(func() {
		_ = exec.Command("tmux", "-S", m.socket, "kill-server").Run()
		os.RemoveAll(socket)
	})
	args := []string{"new-session", "-d", "-x", fmt.Sprint(width), "-y", fmt.Sprint(height)}
	if dir != "" {
		args = append(args, "-c", dir)
	}
	m.Tmux(append(args, command)...)
	return m
}

// Tmux gives a command of tmux to the server.
func (m *Terminal) Tmux(args ...string) string {
	m.t.Helper()
	cmd := exec.Command("tmux", append([]string{"-S", m.socket, "-f", "/dev/null"}, args...)...)
	cmd.Env = m.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		m.t.Fatalf("tmux %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// Keys types keys, by tmux's names for them.
func (m *Terminal) Keys(keys ...string) {
	m.t.Helper()
	m.Tmux(append([]string{"send-keys"}, keys...)...)
}

// Screen is what can be seen, without empty lines at the end.
func (m *Terminal) Screen() string {
	m.t.Helper()
	return strings.TrimRight(m.Tmux("capture-pane", "-p"), "\n ") + "\n"
}

// Eventually waits until the screen is as wanted.
func (m *Terminal) Eventually(what string, ok func(string) bool) string {
	m.t.Helper()
	var got string
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(30 * time.Millisecond) {
		if got = m.Screen(); ok(got) {
			return got
		}
	}
	m.t.Fatalf("the screen never %s:\n%s", what, got)
	return ""
}

// Shows waits until the screen has all of these.
func (m *Terminal) Shows(want ...string) string {
	m.t.Helper()
	return m.Eventually(fmt.Sprintf("shows %q", want), func(got string) bool {
		for _, w := range want {
			if !strings.Contains(got, w) {
				return false
			}
		}
		return true
	})
}
