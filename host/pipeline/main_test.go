package pipeline

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/host/internal/history"
	"github.com/paxiom/relay/host/internal/hosttest"
	"github.com/paxiom/relay/host/internal/ledger"
	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/host/pipeline/prd"
)

// The test binary is relay too: it works through the task list.
func TestMain(m *testing.M) { hosttest.Main(m, nil, child) }

// world is one repository with a task list, a provider that replays answers and a builder
// that is a shell script.
type world struct {
	*hosttest.World
	calls []map[string]any
}

func must(t testing.TB, err error) { t.Helper(); hosttest.Must(t, err) }

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
	role := map[string]any{"provider": "replay", "fallback": []string{}}
	hands := map[string]any{"builder": "external", "fallback": []string{}}
	b, err := json.Marshal(map[string]any{"plugins": map[string]any{"replay": map[string]any{"script": "@SCRIPT@"}},
		"builder":  map[string]any{"external": map[string]any{"command": "@DIR@/driver.sh"}},
		"pipeline": map[string]any{"plan": role, "review": role, "criteria": role, "code": hands, "cleanup": hands}})
	must(t, err)
	list, err := prd.Format(tasks)
	must(t, err)
	w := &world{World: hosttest.New(t, map[string]string{"src/a.txt": "one\n", "relay.config.json": string(b), TasksFile: string(list)})}
	must(t, os.MkdirAll(w.side("acts"), 0o755))
	must(t, os.WriteFile(w.side("driver.sh"), []byte(driver), 0o755))
	return w
}

// side is a file beside the repository.
func (w *world) side(name string) string { return filepath.Join(w.Dir, name) }

// act is what the builder does in a step.
func (w *world) act(step, script string) {
	w.T.Helper()
	must(w.T, os.WriteFile(w.side("acts/"+step+".sh"), []byte(script), 0o644))
}

// answers adds an answer of the provider to a role, for prompts with these words.
func (w *world) answers(role, words string, answer any) {
	w.T.Helper()
	text, ok := answer.(string)
	if !ok {
		b, err := json.Marshal(answer)
		must(w.T, err)
		text = string(b)
	}
	w.calls = append(w.calls, map[string]any{"when": map[string]any{"role": role, "prompt": words}, "times": -1, "answer": map[string]any{"text": text, "model": "m"},
		"usage": map[string]any{"input_tokens": 10, "output_tokens": 5, "cost_microusd": 1000}})
	w.Script(w.calls...)
}

func (w *world) env() *Env {
	w.T.Helper()
	loaded, err := config.Load(config.Options{Root: w.Root, UserDir: filepath.Join(w.Home, "none")})
	must(w.T, err)
	ws, err := workspace.Open(w.Root, loaded.Config.WorkspaceDir)
	must(w.T, err)
	must(w.T, ws.Ensure())
	e := &Env{Root: w.Root, Config: loaded.Config, WS: ws, StateDir: filepath.Join(w.Home, "state"), DataDir: filepath.Join(w.Home, "data"), Home: w.Home, Environ: os.Environ(), Version: "test", Catalog: w.Catalog()}
	return e
}

func (w *world) status(id string) string {
	w.T.Helper()
	l, err := (&prd.File{Path: filepath.Join(w.Root, TasksFile)}).Read()
	must(w.T, err)
	return string(l.Find(id).Status)
}

func (w *world) trail(id string) *Record {
	w.T.Helper()
	t, err := newest(w.env().WS, id)
	must(w.T, err)
	if t == nil {
		w.T.Fatalf("there was no attempt at %s", id)
	}
	return t
}

// inHistory looks for an attempt among the runs, with its report and these files.
func (w *world) inHistory(t *Record, files ...string) {
	w.T.Helper()
	h := history.Open(w.env().WS.History())
	m, err := h.Get(t.RunID)
	must(w.T, err)
	raw, err := os.ReadFile(h.Path(t.RunID, "report.json"))
	must(w.T, err)
	r, err := report.Decode(raw)
	must(w.T, err)
	if m.Workflow != history.Task || m.TaskID != t.TaskID || m.Code != t.Code || m.Commit != t.Commit || m.Salvage != t.Salvage || m.Bytes == 0 {
		w.T.Errorf("%s is in the history as %+v", t.Attempt, m)
	}
	if r.Code != t.Code || r.BlastRadius.FilesTouched != t.Judged.Files || len(r.Verification.Runs) != len(t.Checks) || r.Builder == nil || r.Orchestrator == nil || r.Box == nil || len(r.States) != len(t.Steps) {
		w.T.Errorf("the report of %s is %s", t.Attempt, raw)
	}
	if len(t.Commits) > 0 && m.BaseCommit != w.Git("rev-parse", t.Commits[0]+"^") {
		w.T.Errorf("%s began on %s", t.Attempt, m.BaseCommit)
	}
	for _, name := range files {
		if b, err := os.ReadFile(h.Path(t.RunID, name)); err != nil || len(b) == 0 {
			w.T.Errorf("%s of %s: %v", name, t.Attempt, err)
		}
	}
}

// envParallel is how many tasks a child works on at a time.
const envParallel = "PIPELINE_TEST_PARALLEL"

// envSaving is how the operator saves the list in a child, and at which points: "half plan coded".
const envSaving = "PIPELINE_TEST_SAVING"

// saving has an editor that is halfway through a save at these points, or a git stash, and done a second later.
func (w *world) saving(how string) func(point string) {
	kind, points, _ := strings.Cut(how, " ")
	file := filepath.Join(w.Root, TasksFile)
	return func(point string) {
		if !slices.Contains(strings.Fields(points), strings.TrimPrefix(point, "pipeline.")) {
			return
		}
		if kind == "stash" {
			if w.Git("stash", "list") == "" && w.Git("stash") != "No local changes to save" {
				time.AfterFunc(time.Second, func() { w.Git("stash", "pop") })
			}
			return
		}
		whole, err := os.ReadFile(file)
		if _, bad := prd.Parse(whole); err != nil || bad != nil {
			return // in the middle of the save before
		}
		must(w.T, os.Remove(file))
		switch kind {
		case "half":
			must(w.T, os.WriteFile(file, whole[:len(whole)/2], 0o644))
		case "empty":
			must(w.T, os.WriteFile(file, nil, 0o644))
		case "link":
			must(w.T, os.Symlink("src/a.txt", file))
		}
		time.AfterFunc(time.Second, func() {
			os.Remove(file)
			must(w.T, os.WriteFile(file, whole, 0o644))
		})
	}
}

// once fails when something that was paid for was paid for twice.
func (w *world) once(when string) {
	w.T.Helper()
	bought := map[string]int{}
	must(w.T, ledger.Usages(w.env().WS, func(l ledger.Line) error {
		if l.Outcome == "ok" {
			task, _, _ := strings.Cut(l.CallID, ".") // whichever attempt it was
			bought[task+" "+l.Role]++
		}
		return nil
	}))
	for what, n := range bought {
		if n > 1 {
			w.T.Errorf("%s: %d calls of %s", when, n, what)
		}
	}
}

// envKey has a child make the task a under a key, or join what was made.
const envKey = "PIPELINE_TEST_KEY"

// leave and left stand for the refs of results.
func (w *world) leave(_ context.Context, t *Record, _ *report.Report) error {
	b, err := json.Marshal(Handed{Key: t.Key, Kept: t.Kept, Trail: t})
	must(w.T, err)
	return os.WriteFile(w.side("left.json"), b, 0o644)
}

func (w *world) left() *Handed {
	b, err := os.ReadFile(w.side("left.json"))
	if err != nil {
		return nil
	}
	h := &Handed{}
	must(w.T, json.Unmarshal(b, h))
	return h
}

// child makes a run in this process, which stands for relay.
func child(hw *hosttest.World) {
	w := &world{World: hw}
	n, _ := strconv.Atoi(os.Getenv(envParallel))
	if at := os.Getenv(envSaving); at != "" {
		hosttest.OnPoint = w.saving(at)
	}
	o := Options{Orders: Orders{Parallel: n}}
	switch os.Getenv(envKey) {
	case "make":
		o = Options{Orders: Orders{Only: "a", Key: "k"}, Leave: w.leave}
	case "join":
		o = Options{Orders: Orders{Join: "k"}, Results: []Handed{*w.left()}}
	}
	out, err := Run(w.T.Context(), w.env(), o)
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
	fmt.Println(out.Reason, out.Why)
}
