package tick

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/paxiom/relay/host/internal/history"
	"github.com/paxiom/relay/host/internal/hosttest"
	"github.com/paxiom/relay/host/internal/ledger"
	"github.com/paxiom/relay/internal/sampling"
	"github.com/paxiom/relay/judge"
)

// control is a task that builds nothing: the tick that settles what a crash left.
func (w *world) control() string {
	w.T.Helper()
	task := executeTask()
	delete(task, "builder")
	task["control"] = map[string]any{"action": "stop", "reason": "enough"}
	b, err := json.Marshal(task)
	must(w.T, err)
	name := filepath.Join(w.Dir, "control.json")
	must(w.T, os.WriteFile(name, b, 0o644))
	return name
}

func TestKilledAtEveryPointOfATick(t *testing.T) {
	sampling.Rare(t)
	whole := newWorld(t)
	out, _ := whole.Child("")
	if !strings.HasPrefix(out, "SUCCESS") {
		t.Fatalf("an undisturbed tick: %s", out)
	}
	points := whole.Points()
	if len(points) < 25 {
		t.Fatalf("only %d points: %v", len(points), points)
	}
	step := 1
	if testing.Short() {
		step = 6
	}
	ends := map[string]int{}
	for n := 1 + sampling.Turn(step); n <= len(points); n += step {
		ends[killTick(t, n, points[n-1])]++
	}
	t.Logf("%d points, killed at every %d: %v", len(points), step, ends)
}

// killTick kills a tick at its n-th point, makes another, and looks at what is left.
func killTick(t *testing.T, n int, point string) string {
	t.Helper()
	w := newWorld(t)
	head := w.Git("rev-parse", "HEAD")
	out, state := w.Child(strconv.Itoa(n))
	if !hosttest.Killed(state) {
		t.Fatalf("point %d (%s): not killed: %s", n, point, out)
	}
	deadline := time.Now().Add(5 * time.Second)
	for len(w.strays()) > 0 && time.Now().Before(deadline) {
		time.Sleep(20 * time.Millisecond)
	}
	if s := w.strays(); len(s) > 0 {
		t.Errorf("point %d (%s): processes live on: %q", n, point, s)
	}
	asked := strings.Contains(strings.Join(w.Points(), " "), "tick.asked")
	out, _ = w.Child("", envTask+"="+w.control())
	if !strings.HasPrefix(out, "SUCCESS") {
		t.Fatalf("point %d (%s): the next tick: %s", n, point, out)
	}
	w.settled(n, point, asked)
	if out := w.Git("status", "--porcelain"); out != "" {
		t.Errorf("point %d (%s): not clean: %s", n, point, out)
	}
	now, text := w.Git("rev-parse", "HEAD"), w.Read("src/a.txt")
	switch {
	case now == head && text == "one\n":
		return "base"
	case now != head && text == "two\n" && w.Git("rev-parse", "HEAD^") == head:
		if !strings.Contains(w.Git("notes", "--ref=relay", "list"), now) {
			t.Errorf("point %d (%s): what landed has no attestation", n, point)
		}
		return "landed"
	}
	t.Errorf("point %d (%s): neither: HEAD %s, %q", n, point, now, text)
	return "broken"
}

// settled fails unless ledger, history and state folder know the end of the run.
func (w *world) settled(n int, point string, asked bool) {
	w.T.Helper()
	r := newRun(w.env(), Options{})
	if _, err := r.checkConfig(w.T.Context()); err != nil {
		w.T.Fatal(err)
	}
	st, err := ledger.Read(r.ws)
	must(w.T, err)
	if len(st.Pending) > 0 || asked && st.Budgets.OrchestratorCalls != 1 {
		w.T.Errorf("point %d (%s): ledger %+v", n, point, st)
	}
	lines := 0
	must(w.T, ledger.Usages(r.ws, func(ledger.Line) error { lines++; return nil }))
	if want := st.Budgets.OrchestratorCalls + st.Budgets.BuilderCalls; lines != want {
		w.T.Errorf("point %d (%s): %d lines of usage for %d calls", n, point, lines, want)
	}
	runs, err := history.Open(r.ws.History()).List(0)
	must(w.T, err)
	for _, m := range runs {
		if m.Code == "" {
			w.T.Errorf("point %d (%s): run %s has no end", n, point, m.RunID)
		}
		if m.Code == judge.Success && m.TaskID == "T1" && m.Commit != "" && !strings.HasPrefix(w.Git("rev-parse", "HEAD"), m.Commit) {
			w.T.Errorf("point %d (%s): history says %s", n, point, m.Commit)
		}
	}
	left, _ := filepath.Glob(filepath.Join(w.Home, ".local/state/relay/boxes/*"))
	more, _ := filepath.Glob(filepath.Join(r.ws.Journal(), "*"))
	for _, f := range append(left, more...) {
		w.T.Errorf("point %d (%s): %s is left", n, point, f)
	}
}

// A file that the operator edits after a crash in the middle of an apply is never
// overwritten: the next tick is blocked, and recover leaves the file as it is.
func TestEditAfterACrashBlocksUntilRecover(t *testing.T) {
	w := newWorld(t)
	w.Child("")
	n := 0
	for i, p := range w.Points() {
		if p == "apply.renamed" {
			n = i + 1
		}
	}
	w = newWorld(t)
	w.Child(strconv.Itoa(n))
	head := w.Git("rev-parse", "HEAD")
	w.Write("src/a.txt", "mine\n")
	out, _ := w.Child("")
	if !strings.HasPrefix(out, string(judge.BlockedCrashRecovery)) {
		t.Fatalf("the next tick: %s", out)
	}
	raw, err := os.ReadFile(filepath.Join(w.Root, ".relay/BLOCKED.json"))
	if err != nil || !strings.Contains(string(raw), "relay recover") {
		t.Errorf("BLOCKED.json: %s, %v", raw, err)
	}
	done, err := Recover(t.Context(), w.env(), true)
	must(t, err)
	if len(done) != 1 || done[0].Conflict != "" || len(done[0].Notes) == 0 {
		t.Errorf("%+v", done)
	}
	if w.Read("src/a.txt") != "mine\n" || w.Git("rev-parse", "HEAD") != head {
		t.Error("the operator's file was touched, or HEAD")
	}
	if got := w.Git("show", "refs/relay/"+done[0].RunID+":src/a.txt"); got != "two" {
		t.Errorf("relay's version is %q", got)
	}
	w.Git("checkout", "-q", "src/a.txt")
	if out, _ = w.Child(""); !strings.HasPrefix(out, "SUCCESS") {
		t.Errorf("the tick after that: %s", out)
	}
}

// allWritten is the number of the last point of an apply: the work tree has the whole change.
func allWritten(t *testing.T) (n int) {
	w := newWorld(t)
	w.Child("")
	for i, p := range w.Points() {
		if strings.HasPrefix(p, "apply.") {
			n = i + 1
		}
	}
	return n
}

// lastRun is the newest run of the history.
func lastRun(t *testing.T, w *world) (*history.Store, history.Meta) {
	r := newRun(w.env(), Options{})
	if _, err := r.checkConfig(t.Context()); err != nil {
		t.Fatal(err)
	}
	store := history.Open(r.ws.History())
	runs, err := store.List(1)
	must(t, err)
	return store, runs[0]
}

// Where the report of what a recovery has landed can't be written, on a full disk for one, the
// next recovery writes it: the run is not told as one that was interrupted.
func TestRecoveryWhoseReportFailsIsMadeAgain(t *testing.T) {
	n := allWritten(t)
	for name, fails := range map[string]func(dir string) (mend func() error){
		"report.json": func(dir string) func() error {
			report := filepath.Join(dir, "report.json")
			must(t, os.MkdirAll(filepath.Join(report, "full"), 0o755))
			return func() error { return os.RemoveAll(report) }
		},
		"everything": func(dir string) func() error {
			must(t, os.Rename(dir, dir+".away"))
			must(t, os.Symlink(dir+".away", dir)) // nothing is written through a link
			return func() error { return errors.Join(os.Remove(dir), os.Rename(dir+".away", dir)) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.Child(strconv.Itoa(n))
			store, last := lastRun(t, w)
			mend := fails(store.Path(last.RunID, ""))
			if done, err := Recover(t.Context(), w.env(), false); err == nil {
				t.Fatalf("nothing failed: %+v", done)
			}
			must(t, mend())
			if _, err := Recover(t.Context(), w.env(), false); err != nil {
				t.Fatal(err)
			}
			m, err := store.Find(last.RunID)
			must(t, err)
			raw, err := os.ReadFile(store.Path(last.RunID, "report.json"))
			if head := w.Git("rev-parse", "HEAD"); m.Code != judge.Success || m.Commit != head || err != nil || !strings.Contains(string(raw), head) {
				t.Errorf("%+v, %v, %s", m, err, raw)
			}
			w.settled(n, name, false)
		})
	}
}

// A run that a failing disk kept from finishing its apply ends blocked. When recover has
// landed it, history says so.
func TestBlockedRunThatLandsIsToldAsLanded(t *testing.T) {
	n := allWritten(t)
	w := newWorld(t)
	head := w.Git("rev-parse", "HEAD")
	w.Child(strconv.Itoa(n))
	store, last := lastRun(t, w)
	run, err := store.Reopen(last.RunID)
	must(t, err)
	last.Code = judge.BlockedCrashRecovery
	must(t, run.Finish(last, []byte("{}"), nil))
	done, err := Recover(t.Context(), w.env(), false)
	must(t, err)
	if len(done) != 1 || !done[0].Landed || w.Git("rev-parse", "HEAD") == head {
		t.Fatalf("%+v, HEAD %s", done, w.Git("rev-parse", "HEAD"))
	}
	m, err := store.Find(last.RunID)
	must(t, err)
	if m.Code != judge.Success || m.Commit != w.Git("rev-parse", "HEAD") {
		t.Errorf("%+v", m)
	}
}
