package hosttest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/paxiom/relay/host/internal/journal"
	"github.com/paxiom/relay/judge/box"
	_ "github.com/paxiom/relay/judge/box/copies"
)

// What tells the test binary that it is a relay.
const (
	envDir      = "HOSTTEST_DIR"
	envKill     = "HOSTTEST_KILL"
	envPoints   = "HOSTTEST_POINTS"
	envBin      = "HOSTTEST_BIN"
	envManifest = "HOSTTEST_MANIFEST"
)

// OnPoint, when it is set, is told in a child of each point that it reaches.
var OnPoint func(point string)

// Main is the TestMain of a package whose test binary is a relay, too: child is what it
// does in the world that a test has started it in, and counts says which of the points
// at which a crash must be survivable are counted there; nil counts all.
func Main(m *testing.M, counts func(point string) bool, child func(w *World)) {
	box.Init()
	if dir := os.Getenv(envDir); dir != "" {
		w := &World{T: outside{}, Dir: dir, Root: filepath.Join(dir, "repo"), Home: filepath.Join(dir, "home"), bin: os.Getenv(envBin), man: os.Getenv(envManifest)}
		w.watch(counts)
		child(w)
		return
	}
	code := m.Run()
	if built.dir != "" {
		os.RemoveAll(built.dir)
	}
	os.Exit(code)
}

// watch lists the points that are reached, and ends the process with SIGKILL at the one
// that the test has named: by its number, its first of that name, or by "name:2" the
// second.
func (w *World) watch(counts func(string) bool) {
	list, err := os.OpenFile(os.Getenv(envPoints), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	Must(w.T, err)
	at := os.Getenv(envKill)
	nth, _ := strconv.Atoi(at)
	reached, times := 0, map[string]int{}
	var one sync.Mutex
	journal.Failpoint = func(point string) {
		one.Lock()
		defer one.Unlock()
		if counts == nil || counts(point) {
			reached++
			times[point]++
			fmt.Fprintln(list, point)
			if reached == nth || point == at || fmt.Sprintf("%s:%d", point, times[point]) == at {
				syscall.Kill(os.Getpid(), syscall.SIGKILL)
				time.Sleep(time.Hour)
			}
		}
		if OnPoint != nil {
			OnPoint(point)
		}
	}
}

// Child runs the test binary as a relay of this world. kill is the number or the name of
// the point at which it is killed, "" for none; set adds NAME=value.
func (w *World) Child(kill string, set ...string) (out string, state *os.ProcessState) {
	w.T.Helper()
	cmd := w.Command(kill, set...)
	b, _ := cmd.CombinedOutput()
	return strings.TrimSpace(string(b)), cmd.ProcessState
}

// Command is that of Child.
func (w *World) Command(kill string, set ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "HOME="+w.Home, envDir+"="+w.Dir, envKill+"="+kill, envPoints+"="+w.pointsFile(), envBin+"="+w.bin, envManifest+"="+w.man)
	cmd.Env = append(cmd.Env, set...)
	return cmd
}

// Killed reports whether a child was killed, as a test wanted.
func Killed(state *os.ProcessState) bool {
	ws, ok := state.Sys().(syscall.WaitStatus)
	return ok && ws.Signal() == syscall.SIGKILL
}

func (w *World) pointsFile() string { return filepath.Join(w.Dir, "points") }

// Points are those that the children reached.
func (w *World) Points() []string {
	w.T.Helper()
	b, err := os.ReadFile(w.pointsFile())
	Must(w.T, err)
	return strings.Fields(string(b))
}

// outside is a testing.TB where there is no test: in a child.
type outside struct{ testing.TB }

func (outside) Helper()                           {}
func (outside) Context() context.Context          { return context.Background() }
func (outside) Fatal(args ...any)                 { fmt.Println("FATAL", fmt.Sprint(args...)); os.Exit(9) }
func (outside) Fatalf(format string, args ...any) { outside{}.Fatal(fmt.Sprintf(format, args...)) }
