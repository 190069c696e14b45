package screen

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/paxiom/relay/cmd/relay/internal/termtest"
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
	*termtest.Terminal
	t     *testing.T
	steps string
	n     int
}

// perform begins a scene on a terminal of this size.
func perform(t *testing.T, scene string, width, height int, env ...string) *stage {
	t.Helper()
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	around := []string{"PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8", "LC_ALL=C.UTF-8", "SHELL=/bin/sh", "TERM=xterm-256color", "HOME=" + dir, "TMPDIR=" + os.TempDir()}
	line := "exec env " + sceneVar + "=" + scene + " " + stepsVar + "=" + dir + " " + strings.Join(env, " ") + " " + self
	// The pane outlives the scene, so that what it leaves can be looked at.
	return &stage{t: t, steps: dir, Terminal: termtest.Open(t, width, height, "", around, "sh -c '("+line+"); echo over; sleep 120'")}
}

func (s *stage) next() {
	s.t.Helper()
	s.n++
	if err := os.WriteFile(filepath.Join(s.steps, fmt.Sprint(s.n)), nil, 0o644); err != nil {
		s.t.Fatal(err)
	}
}

// golden compares the screen with the one on file; marks says which it has to show before
// there is anything to compare.
func (s *stage) golden(name string, marks ...string) {
	s.t.Helper()
	file := filepath.Join("testdata", name+".txt")
	if *update {
		time.Sleep(time.Second / 2)
		if err := os.WriteFile(file, []byte(s.Shows(marks...)), 0o644); err != nil {
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
		if got = s.Screen(); got == string(want) {
			return
		}
	}
	s.t.Errorf("%s: the screen is\n%s\nwant\n%s", name, got, want)
}
