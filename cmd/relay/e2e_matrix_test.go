package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/paxiom/relay/host"
	"github.com/paxiom/relay/internal/sampling"
	"github.com/paxiom/relay/testdata/e2e"
	"github.com/paxiom/relay/testdata/fakemodel"
)

// matrixVariable names a file that gets the matrix of what passed.
const matrixVariable = "RELAY_E2E_MATRIX"

// TestE2EMatrix lets every way to a model go through everything that can happen to it,
// each through relay itself: a real repository, real plugins in their boxes, the real
// program where there is one, and a model server on loopback.
//
// Besides its outcome each run is held to the same rules: the repository is as it was or
// has the one commit; the plugin has its own key and no other, and no key is on any
// command line or in anything that is left; nothing runs on; nobody but loopback is
// asked. Ways over an API need no program, and are tried without `make test-e2e` too, as far
// as they are quick; so with -short `make test-e2e` leaves them out, and plays every fifth case
// of a program, the others with the next ROTATE.
func TestE2EMatrix(t *testing.T) {
	sampling.Rare(t)
	whole := os.Getenv(matrixVariable) != ""
	w := watch(t)
	var mu sync.Mutex
	results := map[string]string{}
	keep := func(t *testing.T, way way, name string) {
		mu.Lock()
		defer mu.Unlock()
		results[way.String()+name] = map[bool]string{true: "FAIL", false: "pass"}[t.Failed()]
		if t.Skipped() {
			results[way.String()+name] = "skip"
		}
	}
	n := sampling.Turn(5)
	left := func() bool { n++; return testing.Short() && whole && n%5 != 0 }
	t.Run("ways", func(t *testing.T) {
		for _, way := range ways {
			if testing.Short() && whole && way.program == nil {
				continue
			}
			for _, c := range matrixCases {
				if !way.has(c) || left() {
					continue
				}
				t.Run(fmt.Sprintf("%v/%s", way, c.name), func(t *testing.T) {
					t.Parallel()
					defer keep(t, way, c.name)
					if c.slow && !whole {
						t.Skip("it waits for retries or limits on silence; `make test-e2e` does")
					}
					runCase(t, way, c, w)
				})
			}
			if way.role != "orchestrate" {
				continue
			}
			if !left() {
				t.Run(fmt.Sprintf("%s %s cycle", way.vendor, way.transport), func(t *testing.T) {
					t.Parallel()
					runCycle(t, way, w, keep)
				})
			}
			if !left() {
				t.Run(fmt.Sprintf("%s %s pipeline", way.vendor, way.transport), func(t *testing.T) {
					t.Parallel()
					runPipeline(t, way, w, keep)
				})
			}
		}
	})
	table := matrixTable(results)
	t.Log("\n" + table)
	if path := os.Getenv(matrixVariable); path != "" {
		writeFile(t, path, table)
	}
}

// matrixTable is one line for each way, one column for each case.
func matrixTable(results map[string]string) string {
	var b bytes.Buffer
	tw := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	line := []string{"provider", "transport", "role"}
	for _, c := range matrixCases {
		line = append(line, c.name)
	}
	fmt.Fprintln(tw, strings.Join(line, "\t"))
	for _, w := range ways {
		rows := []string{w.role}
		switch {
		case w.role == "orchestrate":
			rows = append(append(rows, cycleRoles...), pipelineAsked...)
		case w.transport == "cli":
			rows = append(rows, pipelineBuilt...)
		}
		for _, w.role = range rows {
			line = []string{w.vendor, w.transport, w.role}
			for _, c := range matrixCases {
				line = append(line, cmp.Or(results[w.String()+c.name], "-"))
			}
			fmt.Fprintln(tw, strings.Join(line, "\t"))
		}
	}
	tw.Flush()
	return b.String()
}

// bench is the repository and the environment of one case.
type bench struct {
	way    way
	repo   string
	env    []string
	home   string
	model  *fakemodel.Server
	canary string // the plugin's own key
}

func runCase(t *testing.T, w way, c matrixCase, seen *watcher) {
	b := newBench(t, w, c)
	args := []string{"run", "--json", "--goal", "make it add"}
	if w.role == "build" {
		args = []string{"run", "--json", "--task", filepath.Join(b.home, "task.json")}
	}
	cmd := exec.Command(filepath.Join(binDir, "relay"), args...)
	cmd.Dir, cmd.Env = b.repo, b.env
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if c.kill {
		until(t, "the model to be asked", func() bool { return b.model.Arrived() > 0 })
		b.killWorkers(t)
	}
	err := cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	b.judge(t, c, cmd.ProcessState.ExitCode(), stdout.Bytes(), stderr.Bytes())
	b.noCanary(t, stdout.Bytes(), stderr.Bytes())
	seen.hold(t, b)
}

func newBench(t *testing.T, w way, c matrixCase) *bench {
	return furnish(t, w, c, c.script(w, "patch"), nil)
}

// furnish makes the repository, with more files where they are needed, and the
// environment in which a model answers by the script.
func furnish(t *testing.T, w way, c matrixCase, script string, files map[string]string) *bench {
	b := &bench{way: w, repo: filepath.Join(t.TempDir(), "repo"), canary: newCanary()}
	b.model = e2e.Model(t, script, map[string]string{"REPO": b.repo})
	server := b.model.URL()
	if c.refused {
		server = closedPort(t)
	}
	env := e2e.Env(t, b.model)
	b.home = env["HOME"]
	keyFile := filepath.Join(b.home, "key")
	writeFile(t, keyFile, b.canary+"\n")
	if err := os.Chmod(keyFile, 0o600); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(b.home, "task.json"), matrixTask(w.plugin))
	keyVar := w.keyVar
	if other := w.keyFor[c.name]; other != "" {
		keyVar = other
	}
	for name, text := range w.home {
		writeFile(t, filepath.Join(b.home, name), text)
	}
	for name, text := range files {
		writeFile(t, filepath.Join(b.repo, name), text)
	}
	provider, builder := w.plugin, "patch"
	if w.role == "build" {
		provider, builder = "replay", w.plugin
	}
	writeFile(t, filepath.Join(b.repo, "plan.json"), `{"version":1,"calls":[{"times":-1,"answer":{"output":`+matrixTask(w.plugin)+`}}]}`)
	writeFile(t, filepath.Join(b.repo, "add.sh"), "echo $(($1 - $2))\n")
	writeFile(t, filepath.Join(b.repo, "relay.config.json"), fmt.Sprintf(`{"version":"1.0",
		"orchestrator":{"provider":%q,"max_parse_retries_per_tick":0,"idle_timeout_seconds":%[2]d,"timeout_seconds":120},
		"builder":{"default_mode":%[3]q,"idle_timeout_seconds":%[2]d,"timeout_seconds":120},
		"models":{"orchestrator_model":%[4]q,"builder_model":%[4]q,"orchestrator_fallback_model":"","builder_fallback_model":""},
		"notify":{"desktop":false},"plugins":{%[5]q:{%[6]s,"keys":{%[7]q:"file:~/key"}},"replay":{"script":%[8]q}}}`,
		provider, idleSeconds(w, c), builder, w.model, w.plugin, w.settings(t, server), keyVar, filepath.Join(b.repo, "plan.json")))
	env["PATH"], env["GIT_CONFIG_NOSYSTEM"] = binDir+":"+os.Getenv("PATH"), "1"
	for _, v := range ways { // what lies around in relay's environment is not for this plugin
		env[v.keyVar] = foreignKey
	}
	for _, line := range []string{"git init -q -b main", "git config user.name e2e", "git config user.email e2e@example.org", "git add -A", "git commit -q -m base", "relay trust --yes"} {
		e2eExec(t, b.repo, env, strings.Fields(line)...)
	}
	for name, value := range env {
		b.env = append(b.env, name+"="+value)
	}
	return b
}

// idleSeconds is short where silence is what is tried. The programs give a silent API up
// within two fifths of it, twice or three times.
func idleSeconds(w way, c matrixCase) int {
	if c.name == "hang" {
		return 6
	}
	return 40
}

func closedPort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return "http://" + l.Addr().String()
}

// judge compares the run with what the case has to come to.
func (b *bench) judge(t *testing.T, c matrixCase, exit int, stdout, stderr []byte) {
	t.Helper()
	want := c.outcome(b.way)
	res := new(host.RunResult)
	if err := json.Unmarshal(stdout, res); err != nil || res.Report == nil {
		t.Fatalf("%v\n%s\n%s", err, stdout, stderr)
	}
	if string(res.Report.Code) != want.code || exit != want.exit || !strings.Contains(string(stdout), want.says) {
		t.Errorf("code %s, exit %d; wanted %+v\n%s", res.Report.Code, exit, want, stdout)
	}
	worker := res.Report.Orchestrator
	if b.way.role == "build" {
		worker = res.Report.Builder
	}
	if worker == nil || worker.Plugin != b.way.plugin {
		t.Errorf("worked by %+v", worker)
	} else if c.resets {
		at, err := time.Parse(time.RFC3339, worker.ResetAt)
		if err != nil || at.Before(time.Now()) {
			t.Errorf("it is not said until when: %q", worker.ResetAt)
		}
	}
	mended := want.code == "SUCCESS"
	status := exec.Command("git", "status", "--porcelain")
	status.Dir = b.repo
	out, err := status.CombinedOutput()
	text, _ := os.ReadFile(filepath.Join(b.repo, "add.sh"))
	if err != nil || len(out) > 0 || strings.Contains(string(text), "+ $2") != mended {
		t.Errorf("the repository: %v\n%s\n%s", err, out, text)
	}
}

// noCanary looks for the keys in everything that relay printed and left: files, objects
// of git, its state on the machine.
func (b *bench) noCanary(t *testing.T, printed ...[]byte) {
	t.Helper()
	look := func(where string, text []byte) {
		for _, key := range []string{b.canary, foreignKey} {
			if bytes.Contains(text, []byte(key)) {
				t.Errorf("a key is in %s", where)
			}
		}
	}
	for _, text := range printed {
		look("what was printed", text)
	}
	for _, dir := range []string{b.repo, filepath.Join(b.home, ".local"), filepath.Join(b.home, ".cache"), filepath.Join(b.home, ".config")} {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) || err == nil && !d.Type().IsRegular() {
				return nil
			}
			text, rerr := os.ReadFile(path)
			look(path, text)
			return errors.Join(err, rerr)
		})
		if err != nil {
			t.Error(err)
		}
	}
	log := exec.Command("sh", "-c", "git for-each-ref; git log --all -p --format=fuller; git cat-file --batch-all-objects --batch")
	log.Dir = b.repo
	text, err := log.Output()
	if err != nil {
		t.Error(err)
	}
	look("git's objects", text)
}
