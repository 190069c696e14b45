package tick

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/internal/sampling"
	"github.com/paxiom/relay/judge"
)

// An interruption in any state leaves a report, no lock, no process and the base; one
// that comes when the apply has begun lets it finish.
func TestInterruptedInEveryState(t *testing.T) {
	sampling.Rare(t)
	for point, want := range map[string]judge.Code{
		"tick.PREFLIGHT":   judge.StopInterrupted,
		"tick.ORCHESTRATE": judge.StopInterrupted,
		"tick.asked":       judge.StopInterrupted,
		"tick.BUILD":       judge.StopInterrupted,
		"tick.JUDGE":       judge.StopInterrupted,
		"tick.VERIFY":      judge.StopInterrupted,
		"tick.APPLY":       judge.StopInterrupted,
		"apply.planned":    judge.StopInterrupted,
		"apply":            judge.Success,
		"apply.renamed":    judge.Success,
		"committed":        judge.Success,
		"tick.REPORT":      judge.Success,
	} {
		t.Run(point, func(t *testing.T) {
			w := newWorld(t)
			head := w.Git("rev-parse", "HEAD")
			out, _ := w.Child("", envSignal+"="+point)
			if !strings.HasPrefix(out, string(want)+" ") {
				t.Fatalf("ended with %s", out)
			}
			if want == judge.StopInterrupted && !strings.Contains(out, "interrupted by a test") {
				t.Errorf("the cause is not told: %s", out)
			}
			raw, err := os.ReadFile(filepath.Join(w.Root, ".relay/REPORT.json"))
			must(t, err)
			rep, err := report.Decode(raw)
			must(t, err)
			if rep.Code != want || (rep.Commit != "") != (want == judge.Success) {
				t.Errorf("report: %s, commit %q", rep.Code, rep.Commit)
			}
			if _, err := os.Lstat(filepath.Join(w.Root, ".relay/lock.json")); err == nil {
				t.Error("the lock is still there")
			}
			if s := w.strays(); len(s) > 0 {
				t.Errorf("processes live on: %q", s)
			}
			if (w.Git("rev-parse", "HEAD") == head) != (want != judge.Success) || w.Git("status", "--porcelain") != "" {
				t.Error("the repository is neither at the base nor at the commit")
			}
			w.settled(0, point, false)
		})
	}
}

func TestHistoryOff(t *testing.T) {
	w := newWorld(t)
	w.Write("relay.config.json", strings.Replace(w.Read("relay.config.json"), `"version":"1.0",`, `"version":"1.0","history":{"enabled":false},`, 1))
	w.Git("commit", "-qam", "no history")
	out, _ := w.Child("")
	if !strings.HasPrefix(out, "SUCCESS") {
		t.Fatal(out)
	}
	// Of the run only its line stays, so that undo and the commands that look know it.
	if left, _ := filepath.Glob(filepath.Join(w.Root, ".relay/history/2*/*")); len(left) != 1 || filepath.Base(left[0]) != "meta.json" {
		t.Errorf("kept: %v", left)
	}
	if _, err := os.Lstat(filepath.Join(w.Root, ".relay/REPORT.json")); err != nil {
		t.Error(err)
	}
}

func TestFailedBuildIsKeptAndJudged(t *testing.T) {
	w := newWorld(t)
	task := executeTask()
	task["builder"].(map[string]any)["patch"] = "--- a/src/a.txt\n+++ b/src/a.txt\n@@ -1 +1 @@\n-not there\n+two\n"
	w.script(task)
	out, _ := w.Child("")
	if !strings.HasPrefix(out, string(judge.StopBuilderOutputInvalid)) || !strings.Contains(out, "does not apply") {
		t.Errorf("a patch that does not apply: %s", out)
	}
	if w.Read("src/a.txt") != "one\n" || w.Git("status", "--porcelain") != "" {
		t.Error("the tree was touched")
	}
}
