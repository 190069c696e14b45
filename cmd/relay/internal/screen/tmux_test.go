package screen

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write the golden screens")

// The test program is also what runs on the terminal: it plays the scene that this
// variable names, and takes its steps when the test says so.
const (
	sceneVar = "RELAY_TEST_SCENE"
	stepsVar = "RELAY_TEST_STEPS"
)

func TestMain(m *testing.M) {
	if name := os.Getenv(sceneVar); name != "" {
		scenes[name]()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// step waits until the test asks for the next step of the scene.
func step(n int) {
	file := filepath.Join(os.Getenv(stepsVar), fmt.Sprint(n))
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(file); err == nil {
			return
		}
	}
	os.Exit(3)
}

// stage is a scene on a real terminal.
type stage struct {
	t      *testing.T
	socket string
	steps  string
	n      int
}

// perform begins a scene on a terminal of this size.
func perform(t *testing.T, scene string, width, height int, env ...string) *stage {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("tmux is not installed, so there is no terminal to look at")
	}
	dir, err := os.MkdirTemp("", "screen") // a socket's path has to be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	s := &stage{t: t, socket: filepath.Join(dir, "s"), steps: dir}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	line := "exec env " + sceneVar + "=" + scene + " " + stepsVar + "=" + dir + " " + strings.Join(env, " ") + " " + self
	// The pane outlives the scene, so that what it leaves can be looked at.
	s.tmux("new-session", "-d", "-x", fmt.Sprint(width), "-y", fmt.Sprint(height), "sh -c '("+line+"); echo over; sleep 120'")
	t.Cleanup(func() { _ = exec.Command("tmux", "-S", s.socket, "kill-server").Run() })
	return s
}

func (s *stage) tmux(args ...string) string {
	s.t.Helper()
	cmd := exec.Command("tmux", append([]string{"-S", s.socket, "-f", "/dev/null"}, args...)...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8", "LC_ALL=C.UTF-8", "SHELL=/bin/sh", "TERM=xterm-256color", "HOME=" + s.steps, "TMPDIR=" + os.TempDir()}
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("tmux %v: %v\n%s", args, err, out)
	}
	return string(out)
}

func (s *stage) next() {
	s.t.Helper()
	s.n++
	if err := os.WriteFile(filepath.Join(s.steps, fmt.Sprint(s.n)), nil, 0o644); err != nil {
		s.t.Fatal(err)
	}
}

func (s *stage) keys(keys ...string) {
	s.t.Helper()
	s.tmux(append([]string{"send-keys"}, keys...)...)
}

func (s *stage) screen() string {
	s.t.Helper()
	return strings.TrimRight(s.tmux("capture-pane", "-p"), "\n") + "\n"
}

// eventually waits until the screen is as wanted.
func (s *stage) eventually(what string, ok func(string) bool) string {
	s.t.Helper()
	var got string
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(30 * time.Millisecond) {
		if got = s.screen(); ok(got) {
			return got
		}
	}
	s.t.Fatalf("the screen never %s:\n%s", what, got)
	return ""
}

func (s *stage) shows(want ...string) string {
	s.t.Helper()
	return s.eventually(fmt.Sprintf("shows %q", want), func(got string) bool {
		for _, w := range want {
			if !strings.Contains(got, w) {
				return false
			}
		}
		return true
	})
}

// golden compares the screen with the one on file; marks says which it has to show before
// there is anything to compare.
func (s *stage) golden(name string, marks ...string) {
	s.t.Helper()
	file := filepath.Join("testdata", name+".txt")
	if *update {
		time.Sleep(time.Second / 2)
		if err := os.WriteFile(file, []byte(s.shows(marks...)), 0o644); err != nil {
			s.t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		s.t.Fatal(err)
	}
	var got string
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(30 * time.Millisecond) {
		if got = s.screen(); got == string(want) {
			return
		}
	}
	s.t.Errorf("%s: the screen is\n%s\nwant\n%s", name, got, want)
}
