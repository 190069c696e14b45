package screen

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/paxiom/relay/cmd/relay/internal/termtest"
)

func init() {
	scenes["panic"] = func() { sceneWatch(&fake{root: "/work/project"}) } // res is nil
	scenes["forks"] = func() {
		Suspendable()
		null, err := os.Open(os.DevNull)
		if err != nil {
			panic(err)
		}
		var most unix.Rlimit
		_ = unix.Getrlimit(unix.RLIMIT_NOFILE, &most)
		for range min(most.Cur, 100_000) - 100 { // each is copied by a fork, which takes longer for it
			_, _ = unix.FcntlInt(null.Fd(), unix.F_DUPFD_CLOEXEC, 0)
		}
		for {
			cmd := exec.Command("true")
			cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			_ = cmd.Run()
		}
	}
	scenes["noflsh"] = func() {
		// When ctrl-z is typed the kernel drops what the terminal has not read yet, for every
		// program: on a busy machine lines would be missing here.
		stty := exec.Command("stty", "noflsh")
		stty.Stdin = os.Stdin
		if err := stty.Run(); err != nil {
			panic(err)
		}
		sceneRun()
	}
}

// shell is a terminal with a shell that can stop what it runs, and with a scene to play.
func shell(t *testing.T, scene string) *stage {
	t.Helper()
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	env := []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C.UTF-8", "SHELL=/bin/sh", "TERM=xterm-256color", "HOME=" + dir, "TMPDIR=" + os.TempDir(), "PS1=$ ", "ENV=", sceneVar + "=" + scene, stepsVar + "=" + dir, "SCENE=" + self}
	s := &stage{t: t, steps: dir, Terminal: termtest.Open(t, 80, 20, "", env, "sh")}
	s.Shows("$")
	s.Keys("$SCENE", "Enter")
	return s
}

// Stopped by ctrl-z, the region is gone before the shell asks for a command, and there
// again when the shell gives the terminal back; in the background there is none.
func TestLiveStopped(t *testing.T) {
	t.Parallel()
	s := shell(t, "run")
	s.Shows("12.3 s", "dollars")
	for _, round := range []string{"one", "two"} {
		s.Keys("C-z")
		got := s.Eventually("has a prompt", func(got string) bool { return strings.Contains(got, "topped") && strings.HasSuffix(got, "$\n") })
		if strings.Contains(got, "dollars") || !strings.Contains(got, "\n[1]") {
			t.Fatalf("the region stays:\n%s", got)
		}
		s.Keys("clear; echo "+round, "Enter")
		s.Eventually("is cleared", func(got string) bool { return got == round+"\n$\n" })
		s.Keys("fg", "Enter")
		if got = s.Shows("12.3 s", "dollars"); strings.Count(got, "dollars") != 1 || !strings.HasPrefix(got, round+"\n$ fg\n") {
			t.Fatalf("after fg:\n%s", got)
		}
	}
	s.Keys("C-z")
	s.Eventually("has a prompt", func(got string) bool { return strings.HasSuffix(got, "$\n") && !strings.Contains(got, "dollars") })
	s.Keys("clear; bg", "Enter")
	s.next()
	got := s.Shows("! a line that stays")
	s.Keys("echo mine", "Enter")
	if got += s.Shows("mine"); strings.Contains(got, "dollars") {
		t.Errorf("a region in the background:\n%s", got)
	}
	s.Keys("fg", "Enter")
	s.Shows("12.3 s", "dollars")
	s.next()
	s.Shows("✓ build")
	s.next()
	s.Eventually("is left", func(got string) bool { return strings.HasSuffix(got, "it is done\n$\n") })
}

// A process that is starting another one stops, too.
func TestStoppedInAFork(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), sceneVar+"=forks", stepsVar+"="+t.TempDir())
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	group := -cmd.Process.Pid
	defer func() { _ = unix.Kill(group, unix.SIGKILL); _ = cmd.Wait() }()
	time.Sleep(time.Second)
	for round := range 40 {
		_ = unix.Kill(group, unix.SIGTSTP)
		var ws unix.WaitStatus
		pid, end := 0, time.Now().Add(10*time.Second)
		for ; pid == 0 && time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
			if pid, err = unix.Wait4(cmd.Process.Pid, &ws, unix.WUNTRACED|unix.WNOHANG, nil); err != nil {
				t.Fatal(err)
			}
		}
		if pid == 0 || !ws.Stopped() {
			t.Fatalf("round %d: the process does not stop: %x", round, ws)
		}
		_ = unix.Kill(group, unix.SIGCONT)
		time.Sleep(time.Duration(20+round) * time.Millisecond)
	}
}

// Nobody could have a process continue that has no shell above it: it does so by itself, and
// has its region again.
func TestLiveStoppedByNobody(t *testing.T) {
	t.Parallel()
	s := perform(t, "noflsh", 80, 14)
	s.Shows("12.3 s", "dollars")
	s.Keys("C-z")
	s.next()
	if got := s.Shows("a line that stays", "dollars"); strings.Count(got, "dollars") != 1 {
		t.Errorf("%s", got)
	}
	s.next()
	s.next()
	s.Shows("it is done", "over")
}

// The whole screen is left to the shell and comes back.
func TestWatchStopped(t *testing.T) {
	t.Parallel()
	s := shell(t, "watch")
	s.Shows("NEEDS YOU")
	s.Keys("C-z")
	got := s.Shows("topped", "$")
	if strings.Contains(got, "NEEDS YOU") || s.modes() != "1 0 0" {
		t.Errorf("%s\n%s", s.modes(), got)
	}
	s.Keys("fg", "Enter")
	s.Shows("NEEDS YOU", "? keys")
	s.Keys("q")
	s.Eventually("is left", func(string) bool { return s.modes() == "1 0 0" })
}

// modes of the terminal: cursor shown, alternate screen, keys of its own.
func (s *stage) modes() string {
	return strings.TrimSpace(s.Tmux("display-message", "-p", "#{cursor_flag} #{alternate_on} #{keypad_cursor_flag}"))
}

// Whatever ends relay watch that it can notice leaves the terminal as it was.
func TestWatchEnds(t *testing.T) {
	t.Parallel()
	for name, signal := range map[string]unix.Signal{"panic": 0, "term": unix.SIGTERM, "hup": unix.SIGHUP} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scene := "watch"
			if signal == 0 {
				scene = "panic"
			}
			s := shell(t, scene)
			if signal == 0 { // what it says and the stack come in either order
				s.Eventually("says why", func(got string) bool {
					return strings.Contains(got, "program experienced a panic") || strings.Contains(got, "tea.go:")
				})
			} else {
				s.Shows("NEEDS YOU")
				b, _ := os.ReadFile(filepath.Join(s.steps, "pid"))
				if pid, err := strconv.Atoi(string(b)); err != nil || unix.Kill(pid, signal) != nil {
					t.Fatalf("no process %q can be killed", b)
				}
			}
			s.Eventually("is left", func(got string) bool { return s.modes() == "1 0 0" && strings.HasSuffix(got, "$\n") })
			s.Keys("echo hel''lo", "Enter")
			s.Shows("hello")
		})
	}
}
