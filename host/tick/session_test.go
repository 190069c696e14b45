package tick

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/paxiom/relay/host/internal/hosttest"
	"github.com/paxiom/relay/host/internal/pluginenv"
	"github.com/paxiom/relay/judge"
)

// providers are the processes of the provider of this world.
func (w *world) providers() (pids []int) {
	bin, _ := hosttest.Plugins(w.T)
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, p := range all {
		env, err := os.ReadFile(p + "/environ")
		name, _ := os.ReadFile(p + "/cmdline")
		if err == nil && strings.Contains(string(env), "HOME="+w.Home+"\x00") && strings.HasPrefix(string(name), filepath.Join(bin, "relay-plugin-replay")) {
			pid, _ := strconv.Atoi(filepath.Base(p))
			pids = append(pids, pid)
		}
	}
	return pids
}

// stands waits until every thread of a process that was stopped has noticed: until then some still answer.
func stands(t *testing.T, pid int) {
	t.Helper()
	for until := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
		running := len(threads) == 0
		for _, at := range threads {
			stat, _ := os.ReadFile(at)
			_, state, _ := strings.Cut(string(stat), ") ")
			running = running || !strings.HasPrefix(state, "T")
		}
		if !running {
			return
		}
		if time.Now().After(until) {
			t.Fatalf("process %d was stopped and runs", pid)
		}
	}
}

// A provider stays up from tick to tick; one that has died, or does not answer any
// more, is restarted; each run has the words of its own part; the end leaves nothing.
func TestProviderStaysUp(t *testing.T) {
	w := newWorld(t)
	t.Setenv("HOME", w.Home)
	ask := executeTask()
	delete(ask, "builder")
	ask["control"] = map[string]any{"action": "continue", "reason": "more to do"}
	w.script(ask, ask, ask, ask)
	env, session := w.env(), &pluginenv.Session{}
	env.Loaded.Config.Runner.StuckAfter = 100 // it says the same each time
	tick := func() int {
		t.Helper()
		out, err := Run(context.Background(), env, Options{Session: session})
		must(t, err)
		if out.Report.Code != judge.Success || out.Report.Orchestrator == nil || out.Report.Orchestrator.Calls != 1 {
			t.Fatalf("%s: %s: %s", out.Report.Code, out.Report.Summary, out.Report.Why)
		}
		up := w.providers()
		if len(up) != 1 {
			t.Fatalf("processes of the provider: %v", up)
		}
		return up[0]
	}
	first := tick()
	if again := tick(); again != first {
		t.Errorf("process %d was replaced by %d", first, again)
	}
	must(t, syscall.Kill(first, syscall.SIGKILL))
	second := tick()
	must(t, syscall.Kill(second, syscall.SIGSTOP))
	stands(t, second)
	begun := time.Now()
	if third := tick(); third == second {
		t.Error("a provider that does not answer was kept")
	} else if d := time.Since(begun); d > 15*time.Second {
		t.Errorf("it took %v to replace it", d)
	}
	session.Close(context.Background())
	if up := w.providers(); len(up) > 0 {
		t.Errorf("they live on: %v", up)
	}
}
