package tick

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/host/internal/hosttest"
	"github.com/paxiom/relay/host/internal/trust"
)

// The test binary is relay too: it makes one tick and says how it ended.
func TestMain(m *testing.M) { hosttest.Main(m, nil, child) }

// What a child is told besides.
const (
	envTask   = "TICK_TEST_TASK"   // file with a task; "" asks the provider
	envSignal = "TICK_TEST_SIGNAL" // cancel at this point, as a signal would
)

// world is one repository with everything that a tick needs.
type world struct{ *hosttest.World }

func must(t testing.TB, err error) { t.Helper(); hosttest.Must(t, err) }

const baseConfig = `{"version":"1.0","orchestrator":{"provider":"replay"},"builder":{"default_mode":"patch"},
 "scope":{"default_allowed_globs":["src/**"]},
 "verification":{"templates":[{"id":"changed","cmd":"grep","args":["-q","two","src/a.txt"]}]},
 "plugins":{"replay":{"script":"@SCRIPT@"}}}`

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{hosttest.New(t, map[string]string{"src/a.txt": "one\n", "relay.config.json": baseConfig})}
	w.script(executeTask())
	return w
}

// executeTask is a task whose patch makes one.txt say two.
func executeTask() map[string]any {
	return map[string]any{"task_id": "T1", "milestone_id": "M1", "task_kind": "execute", "intent": "say two",
		"scope":        map[string]any{"allowed_globs": []string{"src/**"}, "forbidden_globs": []string{}, "allow_new_files": false, "allow_lockfile_changes": false},
		"diff_limits":  map[string]any{"max_files_touched": 5, "max_lines_changed": 50},
		"verification": map[string]any{"fast": []string{"changed"}, "slow": []string{}},
		"builder": map[string]any{"mode": "patch", "max_turns": 1, "instructions": "apply it",
			"patch": "--- a/src/a.txt\n+++ b/src/a.txt\n@@ -1 +1 @@\n-one\n+two\n"}}
}

// script makes the provider answer with these tasks, in order; a string is sent as it is.
func (w *world) script(answers ...any) {
	w.T.Helper()
	var calls []map[string]any
	for _, a := range answers {
		answer := map[string]any{"output": a}
		if text, ok := a.(string); ok {
			answer = map[string]any{"text": text}
		}
		calls = append(calls, map[string]any{"answer": answer, "usage": map[string]any{"input_tokens": 10, "output_tokens": 5, "cost_microusd": 100}})
	}
	w.Script(calls...)
}

// env is what ticks of this world stand on.
func (w *world) env() *Env {
	w.T.Helper()
	state := filepath.Join(w.Home, ".local", "state", "relay")
	env := &Env{Dir: w.Root, Root: w.Root, StateDir: state, Home: w.Home, Trust: trust.Open(state), Environ: os.Environ(), Version: "test"}
	env.Loaded, env.LoadErr = config.Load(config.Options{Root: w.Root, UserDir: filepath.Join(w.Home, "none")})
	if env.LoadErr == nil {
		if digest, _ := trust.Needed(env.Loaded); digest != "" {
			must(w.T, env.Trust.Add(w.Root, digest, nil))
		}
	}
	env.Catalog = w.Catalog()
	return env
}

// child makes one tick in this process, which stands for relay.
func child(hw *hosttest.World) {
	w := &world{hw}
	ctx, cancel := context.WithCancelCause(w.T.Context())
	hosttest.OnPoint = func(point string) {
		if point == os.Getenv(envSignal) {
			cancel(fmt.Errorf("interrupted by a test"))
		}
	}
	var o Options
	var err error
	if file := os.Getenv(envTask); file != "" {
		o.Task, err = os.ReadFile(file)
		must(w.T, err)
	}
	begin := time.Now()
	out, err := Run(ctx, w.env(), o)
	must(w.T, err)
	fmt.Println(out.Report.Code, time.Since(begin).Milliseconds(), out.Report.Summary, out.Report.Why)
}

// strays are processes that run a plugin of ours for this world.
func (w *world) strays() []string {
	var found []string
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, p := range all {
		env, err := os.ReadFile(p + "/environ")
		if err == nil && strings.Contains(string(env), "HOME="+w.Home) {
			name, _ := os.ReadFile(p + "/cmdline")
			found = append(found, strings.ReplaceAll(string(name), "\x00", " "))
		}
	}
	return found
}
