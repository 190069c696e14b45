package main

import (
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
)

// A run on a terminal that is ended from outside says how it came out, below the states
// that it had, and leaves the terminal as it was.
func TestTerminalIsEnded(t *testing.T) {
	t.Parallel()
	dir, env := sample(t, t.TempDir(), "project")
	prepare := exec.Command("sh", "-ec", "echo sleep 600 >test.sh; git commit -qam 'A test that takes long'")
	prepare.Dir, prepare.Env = dir, env
	if out, err := prepare.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cmd := exec.Command(filepath.Join(binDir, "relay"), "run")
	cmd.Dir, cmd.Env = dir, append(env, "TERM=xterm-256color")
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 100})
	if err != nil {
		t.Fatal(err)
	}
	defer tty.Close()
	timer := time.AfterFunc(2*time.Minute, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	got, sent := "", false
	for chunk := make([]byte, 4096); ; {
		n, err := tty.Read(chunk)
		got += string(chunk[:n])
		if !sent && strings.Contains(got, "✓\x1b[0m judge") && strings.Contains(got, "verify") {
			sent = true
			if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
		}
		if err != nil { // EIO: the other end is closed
			break
		}
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 143 {
		t.Errorf("it ended with %v", err)
	}
	if hidden, shown := strings.LastIndex(got, "\x1b[?25l"), strings.LastIndex(got, "\x1b[?25h"); hidden < 0 || hidden > shown {
		t.Errorf("the cursor stays hidden: %q", got)
	}
	end := got[max(0, strings.LastIndex(got, "\x1b[?25h")):]
	if !strings.Contains(end, "STOP_INTERRUPTED") || !strings.Contains(end, "next:") || !strings.HasSuffix(end, "\n") {
		t.Errorf("the end is %q", end)
	}
}
