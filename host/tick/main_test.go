package tick

import (
	"context"
	"encoding/json"
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

	"github.com/paxiom/relay/host/internal/catalog"
	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/host/internal/journal"
	"github.com/paxiom/relay/host/internal/trust"
	"github.com/paxiom/relay/judge/box"
)

// The test binary is relay too: with these set it makes one tick and says how it ended.
const (
	envRoot   = "TICK_TEST_ROOT"
	envKill   = "TICK_TEST_KILL"   // SIGKILL itself at the n-th point
	envPoints = "TICK_TEST_POINTS" // file that lists the points reached
	envTask   = "TICK_TEST_TASK"   // file with a task; "" asks the provider
	envSignal = "TICK_TEST_SIGNAL" // cancel at this point, as a signal would
)

func TestMain(m *testing.M) {
	box.Init()
	if root := os.Getenv(envRoot); root != "" {
		child(root)
		return
	}
	code := m.Run()
	if built.dir != "" {
		os.RemoveAll(built.dir)
	}
	os.Exit(code)
}

// built are the plugins, compiled once.
var built struct {
	once     sync.Once
	dir      string
	manifest string
	err      error
}

// plugins gives the folder of the built plugins and their manifest.
func plugins(t testing.TB) (dir, manifest string) {
	t.Helper()
	built.once.Do(func() {
		if built.dir, built.err = os.MkdirTemp("", "relay-tick-"); built.err != nil {
			return
		}
		os.Chmod(built.dir, 0o755)
		for _, name := range []string{"replay", "patch"} {
			out, err := exec.Command("go", "build", "-o", filepath.Join(built.dir, "relay-plugin-"+name), "../../plugins/"+name).CombinedOutput()
			if err != nil {
				built.err = fmt.Errorf("%w: %s", err, out)
				return
			}
		}
		out, err := exec.Command("go", "run", "../internal/catalog/mkmanifest", built.dir).Output()
		built.manifest, built.err = strings.TrimSpace(string(out)), err
	})
	if built.err != nil {
		t.Fatal(built.err)
	}
	return built.dir, built.manifest
}

// world is one repository with everything that a tick needs.
type world struct {
	t               testing.TB
	root, home, bin string
	manifest        string
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

const baseConfig = `{"version":"1.0","orchestrator":{"provider":"replay"},"builder":{"default_mode":"patch"},
 "scope":{"default_allowed_globs":["src/**"]},
 "verification":{"templates":[{"id":"changed","cmd":"grep","args":["-q","two","src/a.txt"]}]},
 "plugins":{"replay":{"script":"@SCRIPT@"}}}`

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{t: t}
	w.bin, w.manifest = plugins(t)
	dir := t.TempDir()
	w.root, w.home = filepath.Join(dir, "repo"), filepath.Join(dir, "home")
	must(t, os.MkdirAll(filepath.Join(w.root, "src"), 0o755))
	must(t, os.MkdirAll(w.home, 0o755))
	w.write("src/a.txt", "one\n")
	w.write("relay.config.json", strings.ReplaceAll(baseConfig, "@SCRIPT@", filepath.Join(dir, "script.json")))
	w.script(executeTask())
	w.git("init", "-q", "-b", "main")
	w.git("config", "user.name", "Ada")
	w.git("config", "user.email", "ada@example.org")
	w.git("add", "-A")
	w.git("commit", "-qm", "base")
	return w
}

func (w *world) write(name, text string) {
	w.t.Helper()
	must(w.t, os.WriteFile(filepath.Join(w.root, name), []byte(text), 0o644))
}

func (w *world) read(name string) string {
	w.t.Helper()
	b, err := os.ReadFile(filepath.Join(w.root, name))
	must(w.t, err)
	return string(b)
}

func (w *world) git(args ...string) string {
	w.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = w.root
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
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
	w.t.Helper()
	var calls []map[string]any
	for _, a := range answers {
		answer := map[string]any{"output": a}
		if text, ok := a.(string); ok {
			answer = map[string]any{"text": text}
		}
		calls = append(calls, map[string]any{"answer": answer, "usage": map[string]any{"input_tokens": 10, "output_tokens": 5, "cost_microusd": 100}})
	}
	w.rawScript(calls...)
}

func (w *world) rawScript(calls ...map[string]any) {
	w.t.Helper()
	b, err := json.Marshal(map[string]any{"version": 1, "calls": calls})
	must(w.t, err)
	must(w.t, os.WriteFile(filepath.Join(filepath.Dir(w.root), "script.json"), b, 0o644))
}

// env is what ticks of this world stand on.
func (w *world) env() *Env {
	w.t.Helper()
	state := filepath.Join(w.home, ".local", "state", "relay")
	env := &Env{Dir: w.root, Root: w.root, StateDir: state, Home: w.home, Trust: trust.Open(state), Environ: os.Environ(), Version: "test"}
	env.Loaded, env.LoadErr = config.Load(config.Options{Root: w.root, UserDir: filepath.Join(w.home, "none")})
	if env.LoadErr == nil {
		if digest, _ := trust.Needed(env.Loaded); digest != "" {
			must(w.t, env.Trust.Add(w.root, digest))
		}
	}
	var err error
	env.Catalog, err = catalog.Load(catalog.Options{Executable: filepath.Join(w.bin, "relay"), CacheDir: filepath.Join(w.home, "cache"),
		InstallDir: filepath.Join(w.home, "install"), Manifest: w.manifest})
	must(w.t, err)
	return env
}

// child makes one tick in this process, which stands for relay.
func child(root string) {
	t := &fatal{}
	w := &world{t: t, root: root, home: filepath.Join(filepath.Dir(root), "home"), bin: os.Getenv("TICK_TEST_BIN"), manifest: os.Getenv("TICK_TEST_MANIFEST")}
	kill, _ := strconv.Atoi(os.Getenv(envKill))
	list, err := os.OpenFile(os.Getenv(envPoints), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	must(t, err)
	ctx, cancel := context.WithCancelCause(context.Background())
	reached := 0
	var one sync.Mutex
	journal.Failpoint = func(point string) {
		one.Lock()
		defer one.Unlock()
		reached++
		fmt.Fprintln(list, point)
		if reached == kill {
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
		if point == os.Getenv(envSignal) {
			cancel(fmt.Errorf("interrupted by a test"))
		}
	}
	var o Options
	if file := os.Getenv(envTask); file != "" {
		o.Task, err = os.ReadFile(file)
		must(t, err)
	}
	begin := time.Now()
	out, err := Run(ctx, w.env(), o)
	must(t, err)
	fmt.Println(out.Report.Code, time.Since(begin).Milliseconds(), out.Report.Summary, out.Report.Why)
}

// fatal is a testing.TB outside a test.
type fatal struct{ testing.TB }

func (*fatal) Helper()                   {}
func (*fatal) Fatal(args ...any)         { fmt.Println("FATAL", fmt.Sprint(args...)); os.Exit(9) }
func (*fatal) Fatalf(f string, a ...any) { fmt.Printf("FATAL "+f+"\n", a...); os.Exit(9) }

// run makes a tick in a child process. set adds NAME=value.
func (w *world) run(set ...string) (out string, state *os.ProcessState) {
	w.t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), envRoot+"="+w.root, "HOME="+w.home, "TICK_TEST_BIN="+w.bin, "TICK_TEST_MANIFEST="+w.manifest,
		envPoints+"="+filepath.Join(filepath.Dir(w.root), "points"))
	cmd.Env = append(cmd.Env, set...)
	b, _ := cmd.CombinedOutput()
	return strings.TrimSpace(string(b)), cmd.ProcessState
}

// points are those that the last runs reached.
func (w *world) points() []string {
	w.t.Helper()
	b, err := os.ReadFile(filepath.Join(filepath.Dir(w.root), "points"))
	must(w.t, err)
	return strings.Fields(string(b))
}

// strays are processes that run a plugin of ours for this world.
func (w *world) strays() []string {
	var found []string
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, p := range all {
		env, err := os.ReadFile(p + "/environ")
		if err == nil && strings.Contains(string(env), "HOME="+w.home) {
			name, _ := os.ReadFile(p + "/cmdline")
			found = append(found, strings.ReplaceAll(string(name), "\x00", " "))
		}
	}
	return found
}
