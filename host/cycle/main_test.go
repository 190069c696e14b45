package cycle

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
	"github.com/paxiom/relay/host/internal/daylog"
	"github.com/paxiom/relay/host/internal/journal"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/judge/box"
)

// The test binary is relay too: with these set it drives one cycle to its end.
const (
	envRoot   = "CYCLE_TEST_ROOT"
	envKill   = "CYCLE_TEST_KILL"   // SIGKILL itself at the n-th point
	envPoints = "CYCLE_TEST_POINTS" // file that lists the points reached
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
		if binaries.dir, binaries.err = os.MkdirTemp("", "relay-cycle-"); binaries.err != nil {
			return
		}
		os.Chmod(binaries.dir, 0o755)
		for _, name := range []string{"replay", "patch"} {
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

// world is one repository with a service, and models that answer the same whenever they
// are asked the same.
type world struct {
	t                    testing.TB
	root, home, bin, man string
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

const serviceYAML = `references: [docs/spec.md]
code: ["src/**"]
models:
  audit_a: {provider: replay, model: one}
  audit_b: {provider: replay, model: two}
  refinement: {provider: replay, enabled: true}
  revision: {rotation: [replay]}
cycle:
  test_command: [grep, -q, three, src/a.txt]
  max_iterations: 3
`

// sections is an answer with the five sections.
func sections(critical, action string) string {
	return "## Critical issues\n- " + critical + "\n\n## Significant concerns\nNone.\n\n## Ambiguities\nNone.\n\n## Style and convention notes\nNone.\n\n## Action plan\n1. " + action + "\n"
}

// answers are calls of a replay script that can be played as often as one likes.
func answers() []map[string]any {
	call := func(when map[string]any, text string) map[string]any {
		return map[string]any{"when": when, "times": -1, "answer": map[string]any{"text": text, "model": "m"}, "usage": map[string]any{"input_tokens": 10, "output_tokens": 5, "cost_microusd": 1000}}
	}
	var out []map[string]any
	for n, word := range []string{"", "second", "three"} {
		if n == 0 {
			continue
		}
		iteration := fmt.Sprintf("This is iteration %d", n)
		out = append(out,
			call(map[string]any{"role": "audit_a", "prompt": iteration}, sections("the word "+word+" is missing in src/a.txt", "Write "+word+" into src/a.txt.")),
			call(map[string]any{"role": "audit_b", "prompt": iteration}, sections("src/a.txt lacks the word "+word, "Put "+word+" into src/a.txt.")),
			call(map[string]any{"role": "refinement", "prompt": "word " + word}, sections("[F1] the word "+word+" is missing", "[A1] Write "+word+" into src/a.txt.")),
			call(map[string]any{"role": "revision", "prompt": "Write " + word}, "# path: src/a.txt\n```\none\n"+word+"\n```\n\n## Coverage\n- A1: src/a.txt\n"))
	}
	return out
}

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{t: t}
	w.bin, w.man = plugins(t)
	dir := t.TempDir()
	w.root, w.home = filepath.Join(dir, "repo"), filepath.Join(dir, "home")
	must(t, os.MkdirAll(w.home, 0o755))
	w.write("src/a.txt", "one\n")
	w.write("docs/spec.md", "three is wanted\n")
	w.write("config/services/S.yaml", serviceYAML)
	b, err := json.Marshal(map[string]any{"plugins": map[string]any{"replay": map[string]any{"script": filepath.Join(dir, "script.json")}}})
	must(t, err)
	w.write("relay.config.json", string(b))
	w.script(answers())
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"config", "user.name", "Ada"}, {"config", "user.email", "ada@example.org"}, {"add", "-A"}, {"commit", "-qm", "base"}} {
		w.git(args...)
	}
	return w
}

func (w *world) write(name, text string) {
	w.t.Helper()
	path := filepath.Join(w.root, name)
	must(w.t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(w.t, os.WriteFile(path, []byte(text), 0o644))
}

func (w *world) script(calls []map[string]any) {
	w.t.Helper()
	b, err := json.Marshal(map[string]any{"version": 1, "calls": calls})
	must(w.t, err)
	must(w.t, os.WriteFile(filepath.Join(filepath.Dir(w.root), "script.json"), b, 0o644))
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
	must(w.t, ws.MkdirAll(ws.Logs()))
	e := &Env{Root: w.root, Config: loaded.Config, WS: ws, StateDir: filepath.Join(w.home, "state"), DataDir: filepath.Join(w.home, "data"), Home: w.home, Environ: os.Environ(), Version: "test"}
	e.Log = func(uuid, service, text string) { _ = daylog.Append(ws.Logs(), e.now(), uuid, service, text) }
	e.Catalog, err = catalog.Load(catalog.Options{Executable: filepath.Join(w.bin, "relay"), CacheDir: filepath.Join(w.home, "cache"), InstallDir: filepath.Join(w.home, "install"), Manifest: w.man})
	must(w.t, err)
	return e
}

func (w *world) service(id string, with ...string) *config.LoadedService {
	w.t.Helper()
	s, err := config.LoadService(config.Options{Root: w.root}, id, with)
	must(w.t, err)
	return s
}

func (w *world) start(with ...string) *Record {
	w.t.Helper()
	r, err := Start(w.t.Context(), w.env(), StartOptions{Service: w.service("S", with...)}, nil)
	must(w.t, err)
	return r
}

// drive takes the only cycle of the world one command further; done says that it ended.
func (w *world) drive(ctx context.Context) (done bool, err error) {
	e := w.env()
	all, err := ids(e.WS)
	must(w.t, err)
	if len(all) == 0 {
		_, err = Start(ctx, e, StartOptions{Service: w.service("S"), Force: true}, nil)
		return false, err
	}
	id := all[0]
	r, err := Resume(ctx, e, id, nil)
	if err != nil {
		if r, rerr := ReadRecord(e.WS, id); rerr == nil && r.State == Complete && !strings.Contains(err.Error(), "interrupted") {
			return true, nil
		}
		return false, err
	}
	switch {
	case r.State == AwaitingReview:
		_, err = Continue(ctx, e, id, nil)
	case r.State == AwaitingAcceptance && r.Iteration == 1:
		_, err = Decide(ctx, e, id, DecideIterate, false)
	case r.State == AwaitingAcceptance:
		_, err = Decide(ctx, e, id, DecideAccept, false)
	}
	return r.State.Ended(), err
}

// child drives a cycle in this process, which stands for relay.
func child(root string) {
	t := &fatal{}
	w := &world{t: t, root: root, home: filepath.Join(filepath.Dir(root), "home"), bin: os.Getenv("CYCLE_TEST_BIN"), man: os.Getenv("CYCLE_TEST_MANIFEST")}
	kill, _ := strconv.Atoi(os.Getenv(envKill))
	list, err := os.OpenFile(os.Getenv(envPoints), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	must(t, err)
	reached := 0
	var one sync.Mutex
	journal.Failpoint = func(point string) {
		one.Lock()
		defer one.Unlock()
		if !strings.HasPrefix(point, "cycle.") && !strings.HasPrefix(point, "apply") && point != "committed" && !strings.HasPrefix(point, "ledger.") {
			return
		}
		reached++
		fmt.Fprintln(list, point)
		if reached == kill {
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}
	for n := 0; n < 20; n++ {
		done, err := w.drive(context.Background())
		if err != nil {
			fmt.Println("error:", err)
			os.Exit(1)
		}
		if done {
			fmt.Println("done")
			return
		}
	}
	fmt.Println("error: it never ends")
	os.Exit(1)
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
	cmd.Env = append(os.Environ(), envRoot+"="+w.root, envKill+"="+strconv.Itoa(kill), envPoints+"="+w.points(), "CYCLE_TEST_BIN="+w.bin, "CYCLE_TEST_MANIFEST="+w.man)
	var b bytes.Buffer
	cmd.Stdout, cmd.Stderr = &b, &b
	_ = cmd.Run()
	return strings.TrimSpace(b.String()), cmd.ProcessState
}

func (w *world) points() string { return filepath.Join(filepath.Dir(w.root), "points") }
