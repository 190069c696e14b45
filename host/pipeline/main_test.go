package pipeline

import (
	"bytes"
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

	"github.com/paxiom/relay/host/internal/catalog"
	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/host/internal/journal"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/host/pipeline/prd"
	"github.com/paxiom/relay/judge/box"
)

// The test binary is relay too: with these set it makes one run and says how it ended.
const (
	envRoot   = "PIPELINE_TEST_ROOT"
	envKill   = "PIPELINE_TEST_KILL" // SIGKILL itself at the n-th point
	envPoints = "PIPELINE_TEST_POINTS"
	envBin    = "PIPELINE_TEST_BIN"
	envMan    = "PIPELINE_TEST_MANIFEST"
)

func TestMain(m *testing.M) {
	box.Init()
	if root := os.Getenv(envRoot); root != "" {
		child(root)
		return
	}
	code := m.Run()
	if binaries.dir != "" {
		os.RemoveAll(binaries.dir)
	}
	os.Exit(code)
}

// binaries are the plugins, compiled once.
var binaries struct {
	once          sync.Once
	dir, manifest string
	err           error
}

func plugins(t testing.TB) (dir, manifest string) {
	t.Helper()
	binaries.once.Do(func() {
		if binaries.dir, binaries.err = os.MkdirTemp("", "relay-pipeline-"); binaries.err != nil {
			return
		}
		os.Chmod(binaries.dir, 0o755)
		for _, name := range []string{"replay", "external"} {
			if out, err := exec.Command("go", "build", "-o", filepath.Join(binaries.dir, "relay-plugin-"+name), "../../plugins/"+name).CombinedOutput(); err != nil {
				binaries.err = fmt.Errorf("%w: %s", err, out)
				return
			}
		}
		out, err := exec.Command("go", "run", "../internal/catalog/mkmanifest", binaries.dir).Output()
		binaries.manifest, binaries.err = strings.TrimSpace(string(out)), err
	})
	if binaries.err != nil {
		t.Fatal(binaries.err)
	}
	return binaries.dir, binaries.manifest
}

// world is one repository with a task list, a provider that replays answers and a builder
// that is a shell script.
type world struct {
	t                    testing.TB
	root, home, bin, man string
	calls                []map[string]any
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// driver does what acts/<task>-<step>-<round>.sh, or without the round, says, and then
// tells that it is done.
const driver = `#!/bin/sh
acts=$(dirname "$0")/acts
field() { sed -n "s/.*\"$1\":\"\{0,1\}\([^\",}]*\).*/\1/p" "$RELAY_TASK_PATH"; }
task=$(field task_id) step=$(field step) round=$(field round)
export acts task step round
if [ "$step" = cleanup ]; then
  out='{"summary":"cleaned '$task'","memory":"knows '$task'","findings":[],"notes":[]}'
else
  out='{"summary":"coded '$task'","files_intended":[],"commands_ran":[],"notes":[]}'
fi
for act in "$acts/$task-$step-$round.sh" "$acts/$task-$step.sh"; do
  [ -f "$act" ] && { . "$act"; break; }
done
printf '%s' "$out" >"$RELAY_OUTPUT_PATH"
`

func newWorld(t testing.TB, tasks ...prd.Task) *world {
	t.Helper()
	w := &world{t: t}
	w.bin, w.man = plugins(t)
	dir := t.TempDir()
	w.root, w.home = filepath.Join(dir, "repo"), filepath.Join(dir, "home")
	must(t, os.MkdirAll(w.home, 0o755))
	must(t, os.MkdirAll(w.side("acts"), 0o755))
	must(t, os.WriteFile(w.side("driver.sh"), []byte(driver), 0o755))
	w.write("src/a.txt", "one\n")
	role := map[string]any{"provider": "replay", "fallback": []string{}}
	hands := map[string]any{"builder": "external", "fallback": []string{}}
	b, err := json.Marshal(map[string]any{"plugins": map[string]any{"replay": map[string]any{"script": w.side("script.json")}},
		"builder":  map[string]any{"external": map[string]any{"command": w.side("driver.sh")}},
		"pipeline": map[string]any{"plan": role, "review": role, "criteria": role, "code": hands, "cleanup": hands}})
	must(t, err)
	w.write("relay.config.json", string(b))
	text, err := prd.Format(tasks)
	must(t, err)
	w.write(TasksFile, string(text))
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"config", "user.name", "Ada"}, {"config", "user.email", "ada@example.org"}, {"add", "-A"}, {"commit", "-qm", "base"}} {
		w.git(args...)
	}
	return w
}

// side is a file beside the repository.
func (w *world) side(name string) string { return filepath.Join(filepath.Dir(w.root), name) }

func (w *world) write(name, text string) {
	w.t.Helper()
	path := filepath.Join(w.root, name)
	must(w.t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(w.t, os.WriteFile(path, []byte(text), 0o644))
}

func (w *world) read(name string) string {
	w.t.Helper()
	b, err := os.ReadFile(filepath.Join(w.root, name))
	must(w.t, err)
	return string(b)
}

// act is what the builder does in a step.
func (w *world) act(step, script string) {
	w.t.Helper()
	must(w.t, os.WriteFile(w.side("acts/"+step+".sh"), []byte(script), 0o644))
}

// answers adds an answer of the provider to a role, for prompts with these words.
func (w *world) answers(role, words string, answer any) {
	w.t.Helper()
	text, ok := answer.(string)
	if !ok {
		b, err := json.Marshal(answer)
		must(w.t, err)
		text = string(b)
	}
	w.calls = append(w.calls, map[string]any{"when": map[string]any{"role": role, "prompt": words}, "times": -1, "answer": map[string]any{"text": text, "model": "m"},
		"usage": map[string]any{"input_tokens": 10, "output_tokens": 5, "cost_microusd": 1000}})
	w.script()
}

func (w *world) script() {
	b, err := json.Marshal(map[string]any{"version": 1, "calls": w.calls})
	must(w.t, err)
	must(w.t, os.WriteFile(w.side("script.json"), b, 0o644))
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

func (w *world) env() *Env {
	w.t.Helper()
	loaded, err := config.Load(config.Options{Root: w.root, UserDir: filepath.Join(w.home, "none")})
	must(w.t, err)
	ws, err := workspace.Open(w.root, loaded.Config.WorkspaceDir)
	must(w.t, err)
	must(w.t, ws.Ensure())
	e := &Env{Root: w.root, Config: loaded.Config, WS: ws, StateDir: filepath.Join(w.home, "state"), DataDir: filepath.Join(w.home, "data"), Home: w.home, Environ: os.Environ(), Version: "test"}
	e.Catalog, err = catalog.Load(catalog.Options{Executable: filepath.Join(w.bin, "relay"), CacheDir: filepath.Join(w.home, "cache"), InstallDir: filepath.Join(w.home, "install"), Manifest: w.man})
	must(w.t, err)
	return e
}

func (w *world) status(id string) string {
	w.t.Helper()
	l, err := (&prd.File{Path: filepath.Join(w.root, TasksFile)}).Read()
	must(w.t, err)
	return string(l.Find(id).Status)
}

func (w *world) trail(id string) *Trail {
	w.t.Helper()
	t, err := newest(w.env().WS, id)
	must(w.t, err)
	if t == nil {
		w.t.Fatalf("there was no attempt at %s", id)
	}
	return t
}

// child makes a run in this process, which stands for relay.
func child(root string) {
	t := &fatal{}
	w := &world{t: t, root: root, home: filepath.Join(filepath.Dir(root), "home"), bin: os.Getenv(envBin), man: os.Getenv(envMan)}
	kill, _ := strconv.Atoi(os.Getenv(envKill))
	list, err := os.OpenFile(os.Getenv(envPoints), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	must(t, err)
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
	}
	out, err := Run(context.Background(), w.env(), Options{})
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
	fmt.Println(out.Reason, out.Why)
}

// fatal is a testing.TB outside of a test.
type fatal struct{ testing.TB }

func (*fatal) Helper() {}
func (*fatal) Fatal(args ...any) {
	fmt.Println(append([]any{"fatal:"}, args...)...)
	os.Exit(1)
}
func (f *fatal) Fatalf(format string, args ...any) { f.Fatal(fmt.Sprintf(format, args...)) }
func (*fatal) Context() context.Context            { return context.Background() }

// run starts the child.
func (w *world) run(kill int) (out string, state *os.ProcessState) {
	w.t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), envRoot+"="+w.root, envKill+"="+strconv.Itoa(kill), envPoints+"="+w.side("points"), envBin+"="+w.bin, envMan+"="+w.man)
	var b bytes.Buffer
	cmd.Stdout, cmd.Stderr = &b, &b
	_ = cmd.Run()
	return strings.TrimSpace(b.String()), cmd.ProcessState
}
