package crash

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/paxiom/relay/internal/sampling"
)

// stubborn is a builder that takes no signal for an answer.
const stubborn = `#!/bin/sh
trap '' INT TERM HUP
echo half > src/a.txt
setsid sleep 86384.5 &
while :; do sleep 86384.5; done
`

// slow is a builder that takes its time.
const slow = `#!/bin/sh
echo 1 > src/a.txt
echo 1 > src/b.txt
sleep 86384.5 & p=$!
sleep 2
kill $p
printf '%s' '{"summary":"done","files_intended":[],"commands_ran":[],"notes":[]}' > "$RELAY_OUTPUT_PATH"
`

// building waits until the builder is at work.
func (w *world) building() {
	w.t.Helper()
	if !waitFor(time.Minute, func() bool { return strings.Contains(strings.Join(w.orphans(), " "), "sleep 86384.5") }) {
		w.t.Fatal("the builder did not start")
	}
}

// interrupted fails unless the run ended in order.
func (w *world) interrupted(what string) {
	w.t.Helper()
	var rep struct{ Code string }
	raw, err := os.ReadFile(filepath.Join(w.root, ".git/relay/REPORT.json"))
	must(w.t, err)
	must(w.t, json.Unmarshal(raw, &rep))
	if rep.Code != "STOP_INTERRUPTED" {
		w.t.Errorf("%s: REPORT.json says %s", what, rep.Code)
	}
	if _, err := os.Lstat(filepath.Join(w.root, ".git/relay/lock.json")); err == nil {
		w.t.Errorf("%s: the lock is kept", what)
	}
	if left := append(w.leftovers(), w.orphans()...); len(left) > 0 {
		w.t.Errorf("%s: left behind: %q", what, left)
	}
	if now := w.git("rev-parse", "HEAD"); now != w.base || w.git("status", "--porcelain") != "" {
		w.t.Errorf("%s: the repository is not at its base", what)
	}
}

// moment is how long this machine takes for next to nothing: limits are told in it, so
// that a busy machine fails no test.
func (w *world) moment() time.Duration {
	begin := time.Now()
	w.relay("--version")
	return time.Since(begin)
}

func exitOf(t *testing.T, cmd *exec.Cmd, most time.Duration) (code int) {
	t.Helper()
	timer := time.AfterFunc(most, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	_ = cmd.Wait()
	return cmd.ProcessState.ExitCode()
}

// The first signal ends the call that runs within a second, whatever the builder makes
// of signals, and everything is in order afterwards.
func TestFirstSignalEndsTheCall(t *testing.T) {
	w := newWorldWith(t, stubborn)
	for sig, want := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143, syscall.SIGHUP: 129} {
		cmd := w.command("loop", "--mode", "autonomous", "--quiet")
		must(t, cmd.Start())
		w.building()
		limit := time.Second + 20*w.moment()
		begin := time.Now()
		must(t, cmd.Process.Signal(sig))
		for strings.Contains(strings.Join(w.orphans(), " "), "sleep 86384.5") && time.Since(begin) < 30*time.Second {
			time.Sleep(5 * time.Millisecond)
		}
		ended := time.Since(begin)
		code := exitOf(t, cmd, time.Minute)
		t.Logf("%v: the call ended after %v, relay after %v", sig, ended.Round(time.Millisecond), time.Since(begin).Round(time.Millisecond))
		if ended > limit || code != want {
			t.Errorf("%v: the call ended after %v (limit %v), exit code %d, want %d", sig, ended, limit, code, want)
		}
		w.interrupted(sig.String())
	}
}

// The second one ends relay at once, and what it leaves is settled by the next start.
func TestSecondSignalExitsAtOnce(t *testing.T) {
	w := newWorldWith(t, stubborn)
	cmd := w.command("loop", "--mode", "autonomous", "--quiet")
	var said bytes.Buffer
	cmd.Stderr = &said
	must(t, cmd.Start())
	w.building()
	must(t, cmd.Process.Signal(syscall.SIGINT))
	for range 50 { // until one of them finds the first one taken
		time.Sleep(200 * time.Microsecond)
		if cmd.Process.Signal(syscall.SIGTERM) != nil {
			break
		}
	}
	if code := exitOf(t, cmd, time.Minute); code != 143 {
		t.Errorf("exit code %d, want that of the second signal", code)
	}
	if !strings.Contains(said.String(), "relay recover") {
		t.Errorf("it does not say what to do with what it left: %q", said.String())
	}
	if left := w.orphans(); len(left) > 0 && !waitFor(5*time.Second, func() bool { left = w.orphans(); return len(left) == 0 }) {
		t.Errorf("processes live on: %q", left)
	}
	must(t, os.WriteFile(filepath.Join(w.root, "driver.sh"), []byte(worldDriver), 0o755))
	w.git("commit", "-qam", "a builder that ends")
	w.base = w.git("rev-parse", "HEAD")
	out, code := w.relay("run", "--json")
	if code != 0 {
		t.Fatalf("the next start ends with %d: %s", code, out)
	}
	w.whole("after two signals")
}

// screen is what a terminal showed.
type screen struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *screen) follow(tty *os.File) {
	buf := make([]byte, 4096)
	for {
		n, err := tty.Read(buf)
		s.mu.Lock()
		s.text.Write(buf[:n])
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// onTerminal starts a program as the leader of a session with a terminal of its own.
func (w *world) onTerminal(cmd *exec.Cmd) (tty *os.File, s *screen) {
	w.t.Helper()
	cmd.Stdout, cmd.Stderr = nil, nil
	cmd.Env = append(cmd.Env, "TERM=xterm")
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 80})
	must(w.t, err)
	return tty, &screen{}
}

func TestCtrlC(t *testing.T) {
	w := newWorldWith(t, stubborn)
	cmd := w.command("run")
	tty, s := w.onTerminal(cmd)
	defer tty.Close()
	go s.follow(tty)
	w.building()
	_, err := tty.Write([]byte{3})
	must(t, err)
	if code := exitOf(t, cmd, time.Minute); code != 130 {
		t.Errorf("exit code %d: %q", code, s)
	}
	w.interrupted("Ctrl-C")
	if !waitFor(5*time.Second, func() bool { return strings.Contains(s.String(), "STOP_INTERRUPTED") }) {
		t.Errorf("the verdict is not shown: %q", s)
	}
}

// A window that is closed ends the run in order, although nobody reads any more.
func TestClosedTerminal(t *testing.T) {
	w := newWorldWith(t, stubborn)
	cmd := w.command("run")
	tty, _ := w.onTerminal(cmd)
	w.building()
	must(t, tty.Close())
	if code := exitOf(t, cmd, time.Minute); code != 129 {
		t.Errorf("exit code %d", code)
	}
	w.interrupted("a closed terminal")
}

// stopped reports whether a program of this world's relay is in the state of Ctrl-Z.
func (w *world) stopped() bool {
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, p := range all {
		env, err := os.ReadFile(p + "/environ")
		line, err2 := os.ReadFile(p + "/cmdline")
		if err != nil || err2 != nil || !bytes.Contains(env, []byte("HOME="+w.home+"\x00")) || !bytes.HasPrefix(line, []byte(relay(w.t)+"\x00run\x00")) {
			continue
		}
		stat, err := os.ReadFile(p + "/stat")
		if i := bytes.LastIndexByte(stat, ')'); err == nil && i > 0 && len(stat) > i+2 && stat[i+2] == 'T' {
			return true
		}
	}
	return false
}

// Ctrl-Z stops relay, fg lets it continue, and the run comes to its end.
func TestCtrlZ(t *testing.T) {
	sampling.Rare(t)
	w := newWorldWith(t, slow)
	shell := exec.Command("bash", "--norc", "--noprofile", "-i")
	shell.Dir, shell.Env = w.root, append(w.env(), "PS1=> ", "HISTFILE=/dev/null")
	tty, s := w.onTerminal(shell)
	defer func() { _ = shell.Process.Kill(); _ = shell.Wait(); tty.Close() }()
	go s.follow(tty)
	enter := func(text string) {
		_, err := tty.Write([]byte(text))
		must(t, err)
	}
	enter(relay(t) + " run --goal x; echo ended $?\r")
	w.building()
	enter("\x1a")
	if !waitFor(10*time.Second, w.stopped) {
		t.Fatalf("relay is not stopped: %q", s)
	}
	time.Sleep(500 * time.Millisecond)
	if w.git("rev-parse", "HEAD") != w.base {
		t.Error("a stopped relay went on")
	}
	enter("fg\r")
	if !waitFor(time.Minute, func() bool { return w.git("rev-parse", "HEAD") != w.base && !w.stopped() }) {
		t.Fatalf("the run did not come to its end: %q", s)
	}
	if !waitFor(20*time.Second, func() bool { return strings.Contains(s.String(), "SUCCESS") }) {
		t.Errorf("%q", s)
	}
	w.whole("after Ctrl-Z and fg")
}

// nohup's ignored SIGHUP stays ignored.
func TestNohup(t *testing.T) {
	sampling.Rare(t)
	w := newWorldWith(t, slow)
	cmd := w.command()
	cmd.Path, cmd.Args = "/bin/sh", []string{"sh", "-c", "trap '' HUP; exec " + relay(t) + " run --quiet"}
	must(t, cmd.Start())
	w.building()
	must(t, cmd.Process.Signal(syscall.SIGHUP))
	if code := exitOf(t, cmd, time.Minute); code != 0 {
		t.Errorf("exit code %d: %s%s", code, cmd.Stdout, cmd.Stderr)
	}
	w.whole("after an ignored SIGHUP")
}

// A reader that goes away, as in `relay run | head -1`, ends nothing.
func TestReaderIsGone(t *testing.T) {
	sampling.Rare(t)
	w := newWorldWith(t, slow)
	cmd := w.command("run")
	r, wr, err := os.Pipe()
	must(t, err)
	cmd.Stdout, cmd.Stderr = wr, wr
	must(t, cmd.Start())
	wr.Close()
	r.Close()
	if code := exitOf(t, cmd, time.Minute); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if w.git("rev-parse", "HEAD") == w.base {
		t.Error("the change did not land")
	}
	w.whole("without a reader")
}
