package pipeline

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/hosttest"
	"github.com/paxiom/relay/host/internal/ledger"
	"github.com/paxiom/relay/host/internal/progress"
	"github.com/paxiom/relay/host/pipeline/prd"
	"github.com/paxiom/relay/internal/sampling"
	"github.com/paxiom/relay/judge"
)

// go runs the pipeline in this process and gives the tasks that came to an end.
func (w *world) goes(o Options) *Outcome {
	w.T.Helper()
	out, err := Run(w.T.Context(), w.env(), o)
	must(w.T, err)
	for _, tr := range out.Tasks {
		w.T.Logf("%s: %s %s: %s %v", tr.TaskID, tr.Code, tr.Summary, tr.Why, tr.Notes)
	}
	return out
}

// A task that breaks a rule is thrown away, what depends on it is held, the others continue.
func TestFailedTaskHoldsItsDependents(t *testing.T) {
	sampling.Rare(t)
	t.Parallel()
	w := newWorld(t, task("bad"), task("after", "bad"), task("good"))
	w.simple("bad")
	w.simple("good")
	w.act("bad-code", "echo KEY=1 >.env.local; echo word bad >src/bad.txt; sed -i s/pending/completed/ prd.json\n")
	head := w.Git("rev-parse", "HEAD")
	out := w.goes(Options{})
	bad := w.trail("bad")
	if bad.Code.Outcome() != judge.OutcomeStop || len(bad.Judged.Violations) < 2 || bad.Salvage == "" || w.status("bad") != "failed" {
		t.Errorf("%+v", bad)
	}
	if w.status("after") != "pending" || out.Held["after"] != "bad" || w.status("good") != "completed" {
		t.Errorf("%+v", out)
	}
	if _, err := os.Stat(filepath.Join(w.Root, "src/bad.txt")); err == nil {
		t.Error("what was stopped landed")
	}
	if got := w.Git("log", "--format=%s", "--reverse", head+"..HEAD"); !strings.HasPrefix(got, "chore: bad failed\nfeat: add good\n") || w.Git("status", "--porcelain") != "" {
		t.Errorf("the history is\n%s", got)
	}
	w.inHistory(bad, "diff.patch")
	w.inHistory(w.trail("good"), "diff.patch", "verify.log")
	w.act("bad-code", "echo word bad >src/bad.txt\n")
	must(t, (&prd.File{Path: filepath.Join(w.Root, TasksFile)}).Edit(prd.SetStatus("bad", prd.Pending, time.Time{}, "")))
	w.simple("after")
	if out = w.goes(Options{}); w.status("bad") != "completed" || w.status("after") != "completed" || len(out.Held) > 0 {
		t.Errorf("running again: %+v", out)
	}
}

// A finding is dealt with by a fresh process, and the review comes again only while it
// finds something new.
func TestFindingsGetAnOutcome(t *testing.T) {
	t.Parallel()
	w := newWorld(t, task("a"))
	flaw := map[string]any{"severity": "major", "file": "src/a.txt", "line": 1, "claim": "it says too little", "evidence": "word a"}
	w.answers(roleReview, "Round: 2", review())
	w.answers(roleReview, "round 2", review())
	w.answers(roleReview, "it says too little", review())
	w.simple("a")
	w.calls = append([]map[string]any{}, w.calls...)
	for i := range w.calls {
		when := w.calls[i]["when"].(map[string]any)
		if when["role"] == roleReview && when["prompt"] == "Title of a" {
			w.calls[i]["answer"] = map[string]any{"text": text(t, review(flaw)), "model": "m"}
		}
	}
	w.Script(w.calls...)
	w.act("a-cleanup-1", `git add -A; git commit -qm 'fix: say more'; out='{"summary":"s","memory":"","findings":[{"id":"F1","outcome":"fixed","why":"says more"}],"notes":[]}'`+"\n")
	w.goes(Options{})
	tr := w.trail("a")
	if tr.Code != judge.Success || len(tr.Reviews) != 2 || len(tr.Findings) != 1 || tr.Findings[0].Outcome != "fixed" || len(tr.Sessions) != 2 {
		t.Errorf("%+v", tr)
	}
	if md := w.Read(".relay/pipeline/plans/a_review.md"); !strings.Contains(md, "it says too little") || !strings.Contains(md, "says more") {
		t.Errorf("the review is\n%s", md)
	}
}

// What was refuted is not found again, and every question is asked in a process of its own:
// the script that a provider plays starts over with each.
func TestRefutedIsNotFoundAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, task("a"))
	flaw := map[string]any{"severity": "major", "file": "src/a.txt", "line": 1, "claim": "it says too little", "evidence": "word a"}
	w.simple("a")
	w.calls = append([]map[string]any{{"when": map[string]any{"role": roleReview}, "times": 1, "answer": map[string]any{"text": text(t, review(flaw)), "model": "m"}}}, w.calls...)
	w.Script(w.calls...)
	w.act("a-cleanup", `git add -A; git commit -qm 'feat: add a'; out='{"summary":"s","memory":"","findings":[{"id":"F1","outcome":"refuted","why":"one word is asked for"}],"notes":[]}'`+"\n")
	w.goes(Options{})
	tr := w.trail("a")
	if tr.Code != judge.Success || len(tr.Reviews) != 2 || len(tr.Findings) != 1 || tr.Findings[0].Outcome != "refuted" || len(tr.Sessions) != 2 {
		t.Fatalf("%+v", tr)
	}
	if r := tr.Reviews[1]; r.Found != 1 || r.New != 0 || !strings.Contains(strings.Join(tr.Notes, "\n"), "repeats F1, which was refuted") {
		t.Errorf("the second review: %+v, %q", r, tr.Notes)
	}
}

// What nobody can prove waits for the operator, while the rest continues.
func TestUnsureWaitsForTheOperator(t *testing.T) {
	sampling.Rare(t)
	t.Parallel()
	w := newWorld(t, task("a"), task("b"))
	w.answers(roleCriteria, "Title of a", met("src/a.txt", 1, "a quote that is not there"))
	w.simple("a")
	w.simple("b")
	out := w.goes(Options{})
	if len(out.Waiting) != 1 || out.Waiting[0] != "a" || w.status("a") != "pending" || w.status("b") != "completed" {
		t.Fatalf("%+v", out)
	}
	if q, err := os.ReadFile(w.env().WS.Queue()); err != nil || !strings.Contains(string(q), "relay task answer a yes") {
		t.Errorf("the queue is %q, %v", q, err)
	}
	if out = w.goes(Options{}); len(out.Tasks) != 0 {
		t.Errorf("it continues without an answer: %+v", out.Tasks)
	}
	trail := dir(w.env().WS, tasksDir, w.trail("a").Attempt, trailFile)
	asked, err := os.ReadFile(trail)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Answer(w.env().WS, "a", true, "I looked", time.Now(), nil); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(trail, asked, 0o644); err != nil { // as a relay reads it that answers at the same time
		t.Fatal(err)
	}
	_, err = Answer(w.env().WS, "a", false, "", time.Now(), nil)
	if f, ok := diag.As(err); !ok || !strings.Contains(f.What, "has its answer already") || !strings.Contains(f.Why, `yes "I looked"; the first answer holds`) {
		t.Errorf("the second answer: %v", err)
	}
	w.goes(Options{})
	tr := w.trail("a")
	if w.status("a") != "completed" || !tr.Criteria[0].ByOperator || len(tr.Commits) == 0 {
		t.Errorf("%+v", tr)
	}
	if n := len(tr.Calls); n != 5 {
		t.Errorf("%d calls were paid for", n)
	}
	if !strings.Contains(w.Git("log", "--format=%s"), "feat: add a") || w.Read("src/b.txt") == "" || w.Git("status", "--porcelain") != "" {
		t.Errorf("the history is\n%s", w.Git("log", "--format=%s"))
	}
}

// A process that is ended at its cap is followed by a fresh one, which is told how git
// stands.
func TestCapIsFollowedByAFreshProcess(t *testing.T) {
	sampling.Rare(t)
	t.Parallel()
	w := newWorld(t, task("a"))
	w.simple("a")
	w.act("a-cleanup", `if grep -q 'feat: half' "$RELAY_PROMPT_PATH"; then git commit -qam 'feat: complete Title of a'; else
  git add -A; git commit -qm 'feat: half'; echo more >>src/a.txt; sleep 600; fi`+"\n")
	w.goes(Options{Orders: Orders{Session: 10 * time.Second}})
	tr := w.trail("a")
	if tr.Code != judge.Success || len(tr.Sessions) != 3 || tr.Sessions[1].End != endCap || tr.Sessions[2].End != endDone || tr.Sessions[2].Commits != 2 {
		t.Errorf("%+v", tr)
	}
}

// Who is missing is replaced for the rest of the run, and the report says so.
func TestMissingBuilderIsReplaced(t *testing.T) {
	t.Parallel()
	w := newWorld(t, task("a"))
	w.simple("a")
	e := w.env()
	e.Config.Pipeline.Code.Builder, e.Config.Pipeline.Code.Fallback = "codex-exec", []string{"external"}
	out, err := Run(t.Context(), e, Options{})
	must(t, err)
	if w.status("a") != "completed" || len(out.Replaced) != 1 || out.Replaced[0].Role != roleCode || out.Replaced[0].To != "external" {
		t.Errorf("%+v", out)
	}
}

// A list that is broken in the middle of an edit is waited for.
func TestBrokenListIsWaitedFor(t *testing.T) {
	sampling.Rare(t)
	t.Parallel()
	w := newWorld(t, task("a"), task("b"))
	w.simple("a")
	w.simple("b")
	e := w.env()
	var whole []byte
	var said sync.Once
	path := filepath.Join(w.Root, TasksFile)
	e.Observer = progress.Func(func(ev progress.Event) {
		if ev.Kind == progress.Notice && strings.Contains(ev.Text, "can't be read as it is") {
			said.Do(func() { must(t, os.WriteFile(path, whole, 0o644)) })
		}
	})
	out, err := Run(t.Context(), e, Options{OnTask: func(tr *Record) {
		if tr.TaskID == "a" {
			var err error
			whole, err = os.ReadFile(path)
			must(t, err)
			must(t, os.WriteFile(path, whole[:len(whole)/2], 0o644))
		}
	}})
	if err != nil || w.status("b") != "completed" {
		t.Errorf("%+v, %v", out, err)
	}
}

// A run that is killed at any point is finished by the next one, with the same commits,
// and no answer is bought twice.
func TestKilledAtManyPoints(t *testing.T) {
	sampling.Rare(t)
	t.Parallel()
	whole := newWorld(t, task("a"))
	whole.simple("a")
	if out, _ := whole.Child(""); out != "done" {
		t.Fatalf("an undisturbed run: %s", out)
	}
	points := whole.Points()
	step := len(points) / 12
	if testing.Short() {
		step = len(points) / 3
	}
	for n := 1 + step/2; n <= len(points); n += step {
		w := newWorld(t, task("a"))
		w.simple("a")
		if out, state := w.Child(strconv.Itoa(n)); !hosttest.Killed(state) {
			t.Fatalf("point %d (%s): not killed: %s", n, points[n-1], out)
		}
		if out, _ := w.Child(""); out != "done" {
			t.Fatalf("point %d (%s): the next run says %s", n, points[n-1], out)
		}
		if got := w.Git("log", "--reverse", "--format=%s"); w.status("a") != "completed" || got != "base\nfeat: add a\nfeat: complete Title of a\nchore: a completed" {
			t.Errorf("point %d (%s): %s, the history is\n%s", n, points[n-1], w.status("a"), got)
		}
		w.once(fmt.Sprintf("point %d (%s)", n, points[n-1]))
	}
	t.Logf("%d points", len(points))
}

// A builder that had finished when relay was killed is neither run nor paid again: what it
// said is stored, and what it made is in its box.
func TestFinishedBuilderIsPaidOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, task("a"))
	w.simple("a")
	if out, state := w.Child("pipeline.stored:2"); !hosttest.Killed(state) { // the first is the plan's
		t.Fatalf("not killed: %s", out)
	}
	if out, _ := w.Child(""); out != "done" {
		t.Fatal(out)
	}
	w.once("killed")
	tr, codes := w.trail("a"), 0
	must(t, ledger.Usages(w.env().WS, func(l ledger.Line) error {
		if l.Role == roleCode {
			codes++
		}
		return nil
	}))
	if w.status("a") != "completed" || tr.Attempt != "a.1" || codes != 1 || len(tr.Calls) != 5 || tr.Sessions[0].Summary != "coded a" || strings.Contains(fmt.Sprint(tr.Notes), "twice") {
		t.Errorf("%d calls for the code: %+v", codes, tr)
	}
}

// Killed between the making of a box and the look at the checks' programs, a run begins with
// a new box: nothing was built in the first one, and what it would be held to is not known.
func TestKilledBeforeTheBoxIsReady(t *testing.T) {
	t.Parallel()
	w := newWorld(t, task("a"))
	w.simple("a")
	if out, state := w.Child("attempt.box:1"); !hosttest.Killed(state) {
		t.Fatalf("not killed: %s", out)
	}
	if out, _ := w.Child(""); out != "done" {
		t.Fatal(out)
	}
	if tr := w.trail("a"); w.status("a") != "completed" || tr.Attempt != "a.1" {
		t.Errorf("%s %s: %s", tr.Attempt, tr.Code, tr.Why)
	}
	w.once("killed")
}

func TestInterruptedRunGoesOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, task("a"))
	w.simple("a")
	ctx, cancel := context.WithCancel(t.Context())
	e := w.env()
	e.Observer = progress.Func(func(ev progress.Event) {
		if ev.Kind == progress.Entered && strings.HasSuffix(ev.State, "CLEANUP-1-1") {
			cancel()
		}
	})
	if out, err := Run(ctx, e, Options{}); err != nil || out.Reason != Interrupted {
		t.Fatalf("%+v, %v", out, err)
	}
	if w.Git("status", "--porcelain") != "" {
		t.Error("the checkout is not as it was")
	}
	w.goes(Options{})
	if tr := w.trail("a"); w.status("a") != "completed" || tr.Attempt != "a.1" {
		t.Errorf("%+v", tr)
	}
}

// What an editor has half saved is never committed, and never written over: the run waits for the rest.
// A task whose end git stash takes out of the list has ended all the same.
func TestHalfSavedList(t *testing.T) {
	sampling.Rare(t)
	t.Parallel()
	for _, kind := range []string{"half", "empty", "gone", "link", "stash"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, task("one"), task("two", "one"))
			w.simple("one")
			w.simple("two")
			head := w.Git("rev-parse", "HEAD")
			if out, state := w.Child("", envSaving+"="+kind+" plan marked recorded"); !state.Success() || w.status("one") != "completed" || w.status("two") != "completed" {
				t.Fatalf("%s, one %s, two %s", out, w.status("one"), w.status("two"))
			}
			w.once(kind)
			for _, c := range strings.Fields(w.Git("rev-list", head+"..HEAD")) {
				if mode := w.Git("ls-tree", c, TasksFile); !strings.HasPrefix(mode, "100644 ") {
					t.Errorf("%s has %q", w.Git("log", "-1", "--format=%s", c), mode)
				} else if _, err := prd.Parse([]byte(w.Git("show", c+":"+TasksFile))); err != nil {
					t.Errorf("%s has a list that is none: %v", w.Git("log", "-1", "--format=%s", c), err)
				}
			}
		})
	}
}
