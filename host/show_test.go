package host

import (
	"fmt"
	"strings"
	"testing"

	"github.com/paxiom/relay/host/cycle"
	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/host/pipeline"
	"github.com/paxiom/relay/host/pipeline/answer"
	"github.com/paxiom/relay/judge"
)

func TestSplitDiff(t *testing.T) {
	patch := "diff --git a/src/a.txt b/src/a.txt\n--- a/src/a.txt\n+++ b/src/a.txt\n@@ -1,2 +1,3 @@\n one\n-two\n+diff --git a/x b/x\n++++ b/evil\n" +
		"diff --git a/new b/new\nnew file mode 100644\n--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+x\n" +
		"diff --git a/old name b/old name\ndeleted file mode 100644\n--- a/old name\t\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n" +
		"diff --git \"a/\\303\\274\\n\" \"b/\\303\\274\\n\"\nold mode 100644\nnew mode 100755\n" +
		"diff --git a/bin b/bin\nBinary files a/bin and b/bin differ\n"
	var got []string
	text := ""
	for _, f := range SplitDiff(patch) {
		got = append(got, fmt.Sprintf("%q +%d/-%d", f.Path, f.Added, f.Deleted))
		text += f.Text
	}
	want := `"src/a.txt" +2/-1, "new" +1/-0, "old name" +0/-1, "ü\n" +0/-0, "bin" +0/-0`
	if strings.Join(got, ", ") != want || text != patch {
		t.Errorf("%s\nwant %s\nthe text is the same: %v", strings.Join(got, ", "), want, text == patch)
	}
	files := SplitDiff(patch)
	attach(files, []report.RuleHit{{Code: "A", Path: "new", Rule: "is new"}, {Code: "B", Path: "bin"}, {Code: "C", Rule: "touches 5 files"}})
	if len(files[0].Rules) != 0 || len(files[1].Rules) != 1 || files[1].Rules[0].Rule != "is new" || len(files[4].Rules) != 1 {
		t.Errorf("%+v", files)
	}
}

func FuzzSplitDiff(f *testing.F) {
	f.Add("diff --git a/x b/x\n@@ -1 +1 @@\n-a\n+b\n")
	f.Add("diff --git \"a/\\\" \"b/\n--- \n+++ x")
	f.Fuzz(func(t *testing.T, patch string) {
		text := ""
		for _, file := range SplitDiff(patch) {
			text += file.Text
		}
		if !strings.HasSuffix(patch, text) {
			t.Errorf("%q became %q", patch, text)
		}
	})
}

// The same for an attempt at a task and for a cycle's revision.
func TestLooksOfOthers(t *testing.T) {
	hits := []report.RuleHit{{Code: string(judge.StopForbidden), Path: ".env"}}
	task := func(code judge.Code, j *pipeline.Judged, ok bool, verdicts ...string) *TaskAttempt {
		tr := &TaskAttempt{Code: code, Judged: j, Sessions: []pipeline.Session{{Name: "code-1-1"}}}
		tr.Task.Validation.Command, tr.Task.AcceptanceCriteria = []string{"go", "test"}, []string{"one", "two"}
		if j != nil && j.Code == judge.Success {
			tr.Checks = []pipeline.Check{{Command: tr.Task.Validation.Command}, {OK: ok, ExitCode: 1, Command: tr.Task.Validation.Command}}
		}
		for _, v := range verdicts {
			tr.Criteria = append(tr.Criteria, pipeline.Criterion{Text: "it", Verdict: answer.Verdict{Verdict: v}})
		}
		return tr
	}
	held := &pipeline.Judged{Code: judge.Success}
	ofA := func(f *cycle.RevisionFacts, tests *cycle.TestFacts, problem *cycle.Problem) *Cycle {
		c := &Cycle{Revision: f, Tests: tests, Problem: problem}
		c.ConfigSnapshot.Cycle.TestCommand = []string{"make", "test"}
		return c
	}
	for name, c := range map[string]struct {
		looks []RuleLook
		want  string
	}{
		"a task under way":        {ofTask(task("", nil, true)).looks(), ""},
		"a task that landed":      {ofTask(task(judge.Success, held, true, answer.Yes, answer.Yes)).looks(), "14 held"},
		"a task in a wrong place": {ofTask(task(judge.StopForbidden, &pipeline.Judged{Code: judge.StopForbidden, Rules: hits}, false)).looks(), "7 held, decided no forbidden path, name or kind of file, not reached 6"},
		"its command fails":       {ofTask(task(judge.StopVerifyFailedSlow, held, false)).looks(), "10 held, decided the validation command passes, not reached 3"},
		"a criterion is not met":  {ofTask(task(judge.StopVerifyFailedSlow, held, true, answer.Yes, answer.No)).looks(), "13 held, decided every acceptance criterion is met"},
		"no plan":                 {ofTask(&TaskAttempt{Code: judge.BlockedOrchestrator}).looks(), ""},
		"no revision yet":         {ofCycle(ofA(nil, nil, nil)).looks(), ""},
		"a revision that landed":  {ofCycle(ofA(&cycle.RevisionFacts{Code: judge.Success}, &cycle.TestFacts{Passed: true}, nil)).looks(), "12 held"},
		"its tests fail":          {ofCycle(ofA(&cycle.RevisionFacts{Code: judge.Success}, &cycle.TestFacts{}, nil)).looks(), "11 held, decided the service's tests pass"},
		"a revision stopped":      {ofCycle(ofA(&cycle.RevisionFacts{Code: judge.StopForbidden, Rules: hits}, nil, nil)).looks(), "8 held, decided no forbidden path, name or kind of file, not reached 3"},
		"a reviser that hangs":    {ofCycle(ofA(nil, nil, &cycle.Problem{Code: judge.StopBuilderTimeout})).looks(), "1 held, decided the builder ended within its time, not reached 10"},
		"a cycle without a model": {ofCycle(ofA(nil, nil, &cycle.Problem{Code: judge.BlockedAuth})).looks(), ""},
	} {
		n, left, text := 0, 0, ""
		for _, l := range c.looks {
			switch l.State {
			case RuleHeld:
				n++
			case RuleNotReached:
				left++
			default:
				text += fmt.Sprintf(", %s %s", l.State, l.Rule)
			}
		}
		if len(c.looks) > 0 {
			text = fmt.Sprintf("%d held", n) + text
		}
		if left > 0 {
			text += fmt.Sprintf(", not reached %d", left)
		}
		if text != c.want {
			t.Errorf("%s: %q, want %q", name, text, c.want)
		}
	}
}

// What relay show suggests is more than to look at the run.
func TestOnward(t *testing.T) {
	for next, want := range map[string]string{
		"`relay show` lists every broken rule":                 "",
		"`relay show` names the paths; widen the task's scope": "widen the task's scope",
		"`relay show`, then ask for a smaller step":            "ask for a smaller step",
		"`git status`, then commit or stash":                   "`git status`, then commit or stash",
	} {
		if got := onward(next); got != want {
			t.Errorf("%q: %q, want %q", next, got, want)
		}
	}
}

// Why a run ended, rule by rule: what decided, what was broken as well, what nobody looked
// at any more.
func TestLooks(t *testing.T) {
	states := func(names ...string) (all []report.StateTime) {
		for _, n := range names {
			all = append(all, report.StateTime{State: n})
		}
		return all
	}
	built := states("ORCHESTRATE", "BUILD", "JUDGE", "REPORT")
	checked := states("ORCHESTRATE", "BUILD", "JUDGE", "VERIFY", "REPORT")
	valid, bad := true, false
	failed := report.Verification{Runs: []report.VerifyRun{{TemplateID: "old", Phase: "fast", ExitCode: 1, Finding: "failed_before"}, {TemplateID: "unit", Phase: "fast", ExitCode: 2}}}
	hits := []report.RuleHit{{Code: string(judge.StopOutsideAllowed), Path: "a"}, {Code: string(judge.StopNewFile), Path: "b"}}
	for name, c := range map[string]struct {
		r    *Report
		want string // decided; broken; not reached
	}{
		"no report":         {nil, ""},
		"blocked":           {&Report{Code: judge.BlockedLockHeld, States: states("LOCK")}, ""},
		"interrupted":       {&Report{Code: judge.StopInterrupted, States: states("ORCHESTRATE", "BUILD")}, ""},
		"success":           {&Report{Code: judge.Success, BuilderOutputValid: &valid, States: states("ORCHESTRATE", "BUILD", "JUDGE", "VERIFY", "APPLY", "REPORT")}, "15 held"},
		"nothing to build":  {&Report{Code: judge.Success, States: states("ORCHESTRATE")}, ""},
		"out of scope":      {&Report{Code: judge.StopOutsideAllowed, Rules: hits, States: built}, "7 held, decided STOP_SCOPE_VIOLATION_OUTSIDE_ALLOWED, broken STOP_SCOPE_VIOLATION_NEW_FILE, not reached 6"},
		"a failed check":    {&Report{Code: judge.StopVerifyFailedFast, BuilderOutputValid: &valid, Verification: failed, States: checked}, "11 held, decided STOP_VERIFY_FAILED_FAST, not reached 3"},
		"moved at the end":  {&Report{Code: judge.StopHeadMoved, BuilderOutputValid: &valid, States: checked}, "13 held, decided STOP_HEAD_MOVED, not reached 1"},
		"out of time":       {&Report{Code: judge.StopBuilderTimeout, States: states("ORCHESTRATE", "BUILD", "REPORT")}, "1 held, decided STOP_BUILDER_TIMEOUT, not reached 13"},
		"an unknown check":  {&Report{Code: judge.StopVerifyTainted, States: states("ORCHESTRATE", "REPORT")}, "0 held, decided STOP_VERIFY_TAINTED, not reached 14"},
		"a wrong answer":    {&Report{Code: judge.StopBuilderOutputInvalid, BuilderOutputValid: &bad, States: built}, "10 held, decided STOP_BUILDER_OUTPUT_INVALID, not reached 4"},
		"one that may be":   {&Report{Code: judge.Success, BuilderOutputValid: &bad, States: checked}, "14 held"},
		"a refused patch":   {&Report{Code: judge.StopBuilderOutputInvalid, States: states("ORCHESTRATE", "BUILD", "REPORT")}, "2 held, decided STOP_BUILDER_OUTPUT_INVALID, not reached 12"},
		"a question writes": {&Report{Code: judge.StopQuestionChanged, Task: report.Task{TaskKind: "question"}, States: built}, "9 held, decided STOP_QUESTION_SIDE_EFFECTS, not reached 6"},
	} {
		held, left, text := 0, 0, ""
		for _, l := range ofRun(c.r).looks() {
			switch l.State {
			case RuleHeld:
				held++
			case RuleNotReached:
				left++
			default:
				text += fmt.Sprintf(", %s %s", l.State, l.Code)
			}
		}
		if len(ofRun(c.r).looks()) > 0 {
			text = fmt.Sprintf("%d held", held) + text
		}
		if left > 0 {
			text += fmt.Sprintf(", not reached %d", left)
		}
		if text != c.want {
			t.Errorf("%s: %q, want %q", name, text, c.want)
		}
	}
	if l := ofRun(&Report{Code: judge.StopVerifyFailedFast, BuilderOutputValid: &valid, Verification: failed, States: checked}).looks(); l[len(l)-4].Hits[0].Rule != "the check unit failed with exit status 2" || len(l[len(l)-4].Hits) != 1 {
		t.Errorf("%+v", l[len(l)-4].Hits)
	}
}
