package pipeline

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/paxiom/relay/host/pipeline/prd"
	"github.com/paxiom/relay/internal/sampling"
	"github.com/paxiom/relay/judge"
)

// leaping is a clock that is where a wait ends as soon as somebody waits.
type leaping struct {
	mu    sync.Mutex
	ahead time.Duration
}

func (c *leaping) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.ahead)
}

func (c *leaping) After(d time.Duration) <-chan time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if d > 0 {
		c.ahead += d
	}
	return time.After(0)
}

// A diamond, a task that fails and one that it holds, one whose process comes to its cap,
// one that meets a limit of two hours, a builder that is not there, and an operator who
// edits the list meanwhile.
func TestGraphOfEight(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("seven tasks through real plugins take their time; run without -short")
	}
	w := newWorld(t, task("base"), task("left", "base"), task("right", "base"), task("joined", "left", "right"),
		task("fails", "base"), task("held", "fails"), task("capped", "base"), task("limited", "base"))
	w.calls = append(w.calls, map[string]any{"when": map[string]any{"role": rolePlan, "prompt": "Title of limited"},
		"failure": map[string]any{"reason": "QUOTA_EXHAUSTED", "summary": "the account's limit is reached", "reset_in": "2h"}})
	for _, id := range []string{"base", "left", "right", "joined", "fails", "capped", "limited"} {
		w.simple(id)
	}
	w.act("fails-cleanup", "git rm -qf src/base.txt; git add -A; git commit -qm 'feat: complete Title of fails'; echo x >.github/workflows/ci.yml 2>/dev/null || { mkdir -p .github/workflows; echo x >.github/workflows/ci.yml; }\n")
	w.act("capped-cleanup", `if grep -q 'feat: half' "$RELAY_PROMPT_PATH"; then git commit -qam 'feat: complete Title of capped'; else
  git add -A; git commit -qm 'feat: half'; echo more >>src/capped.txt; sleep 600; fi`+"\n")
	e := w.env()
	e.Config.Pipeline.Code.Builder, e.Config.Pipeline.Code.Fallback = "codex-exec", []string{"external"}
	e.Config.Plugins["replay"] = json.RawMessage(`{"script":"` + w.ScriptFile() + `","remember":true}`)
	e.Config.Limits.MaxWait = "16h"
	clock := &leaping{}
	e.Clock = clock
	list := &prd.File{Path: filepath.Join(w.Root, TasksFile)}
	var order []string
	out, err := Run(t.Context(), e, Options{Orders: Orders{Session: 15 * time.Second}, OnTask: func(tr *Record) {
		order = append(order, tr.TaskID)
		if tr.TaskID == "base" { // the operator wants this one next
			must(t, list.Edit(prd.Set("limited", map[string]any{"priority": -1})))
		}
	}})
	must(t, err)
	w.tell(out)
	if out.Reason != NothingLeft || len(order) != 7 || order[0] != "base" || order[1] != "limited" {
		t.Errorf("%s after %v", out.Reason, order)
	}
	for _, id := range []string{"base", "left", "right", "joined", "capped", "limited"} {
		tr := w.trail(id)
		if w.status(id) != "completed" || tr.Plan == nil || len(tr.Reviews) != 1 || len(tr.Sessions) < 2 || len(tr.Checks) != 1 || len(tr.Criteria) != 1 ||
			len(tr.Commits) != 2 || len(tr.Calls) < 5 || tr.Sessions[0].Builder != "external" {
			t.Errorf("the trail of %s is not whole: %+v", id, tr)
		}
	}
	if tr := w.trail("limited"); len(tr.Waits) != 1 || tr.Waits[0].Ended.Sub(tr.StartedAt) < 2*time.Hour {
		t.Errorf("waits: %+v", tr.Waits)
	}
	if tr := w.trail("capped"); len(tr.Sessions) != 3 || tr.Sessions[1].End != endCap {
		t.Errorf("sessions: %+v", tr.Sessions)
	}
	if tr := w.trail("fails"); tr.Code.Outcome() != judge.OutcomeStop || w.status("fails") != "failed" || out.Held["held"] != "fails" || w.status("held") != "pending" {
		t.Errorf("%s; held %v", tr.Code, out.Held)
	}
	if len(out.Replaced) != 1 || out.Replaced[0].Role != roleCode {
		t.Errorf("replaced: %+v", out.Replaced)
	}
	if s := w.Git("status", "--porcelain"); s != "" || w.Read("src/base.txt") == "" {
		t.Errorf("left over: %s", s)
	}
}

// Agents that lie: each task is stopped, and nothing of it is in the repository.
func TestLyingAgents(t *testing.T) {
	sampling.Rare(t)
	t.Parallel()
	lies := map[string]struct{ step, script, rule string }{
		"ticks":    {"cleanup", `sed -i 's/"pending"/"completed"/' prd.json; git add -A; git commit -qm 'feat: complete Title of ticks'`, "prd.json"},
		"deletes":  {"cleanup", `git rm -q tests/a_test.go; git add -A; git commit -qm 'test: drop a flaky test'`, "tests/a_test.go"},
		"secret":   {"code", `echo KEY=1 >.env.local`, ".env.local"},
		"workflow": {"code", `mkdir -p .github/workflows; echo 'on: push' >.github/workflows/x.yml`, ".github/workflows/x.yml"},
		"outside":  {"code", `mkdir -p ../over "$HOME/over"; echo x >../over/x; echo x >"$HOME/over/x"; ln -s /etc/passwd src/link`, "src/link"},
	}
	var tasks []prd.Task
	var ids []string
	for id := range lies {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		tasks = append(tasks, task(id))
	}
	w := newWorld(t, tasks...)
	w.Write("tests/a_test.go", "package a // fails\n")
	w.Git("add", "-A")
	w.Git("commit", "-qm", "a test that fails")
	base := w.Git("rev-parse", "HEAD")
	for id, lie := range lies {
		w.simple(id)
		before := ""
		if lie.step == "code" {
			before = "echo word " + id + " >src/" + id + ".txt\n"
		}
		w.act(id+"-"+lie.step, before+lie.script+"\n")
	}
	out := w.goes(Options{})
	if len(out.Tasks) != len(lies) {
		t.Fatalf("%d tasks", len(out.Tasks))
	}
	for id, lie := range lies {
		tr := w.trail(id)
		if tr.Code.Outcome() != judge.OutcomeStop || w.status(id) != "failed" || tr.Salvage == "" || tr.Judged == nil && !strings.Contains(tr.Why, lie.rule) ||
			tr.Judged != nil && !strings.Contains(tr.Why+strings.Join(tr.Judged.Violations, " "), lie.rule) {
			t.Errorf("%s: %s %s, %s: %+v", id, tr.Code, tr.Summary, tr.Why, tr.Judged)
		}
	}
	if changed := w.Git("diff", "--name-only", base, "HEAD"); changed != TasksFile {
		t.Errorf("changed: %s", changed)
	}
	if s := w.Git("status", "--porcelain"); s != "" {
		t.Errorf("left over: %s", s)
	}
	for _, path := range []string{w.side("over"), filepath.Join(w.Home, "over")} {
		if _, err := os.Lstat(path); err == nil {
			t.Errorf("%s was written", path)
		}
	}
}
