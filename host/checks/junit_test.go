package checks

import (
	"context"
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/verify"
)

// TestNamesOfOtherRunners has checks of runners that relay has no reporter for: one leaves a
// report in JUnit's XML, the other names its tests on its output.
func TestNamesOfOtherRunners(t *testing.T) {
	ctx := context.Background()
	r := newRepo(t)
	r.write("src/list.txt", "one\ntwo\n", 0o644)
	r.write("run.sh", `case $1 in
junit)
  mkdir -p target/reports
  { echo '<testsuite>'; while read -r t; do echo "<testcase classname=\"x.$t\" name=\"t\"/>"; done <src/list.txt; echo '</testsuite>'; } >target/reports/TEST-a.xml ;;
tap) n=0; while read -r t; do n=$((n+1)); echo "ok $n - $t"; done <src/list.txt; echo 1..$n ;;
esac
`, 0o644)
	r.git("add", "-A")
	r.git("commit", "-qm", "tests")
	forged := `mkdir -p src/more; echo '<testsuite><testcase classname="x.two" name="t"/></testsuite>' >src/more/b.xml; `
	for _, tt := range []struct {
		name, how, results, build string
		want                      judge.Code
		passed                    int
	}{
		{"a report, all there", "junit", "", "echo three >>src/list.txt", judge.Success, 3},
		{"a report, one gone", "junit", "", "echo one >src/list.txt", judge.StopTestsMissing, 1},
		{"a report, one gone, and forged by the change", "junit", "", forged + "echo one >src/list.txt", judge.StopTestsMissing, 1},
		{"its output, all there", "tap", verify.TAP, "echo three >>src/list.txt", judge.Success, 3},
		{"its output, one gone", "tap", verify.TAP, "echo one >src/list.txt", judge.StopTestsMissing, 1},
		{"nothing", "none", "", "echo one >src/list.txt", judge.Success, 0},
	} {
		c := r.begin("run-1")
		r.build(c, tt.build)
		v, err := c.Judge(ctx, lawOf(judge.SquashCommits))
		must(t, err)
		if v.Code != judge.Success {
			t.Fatalf("%s: %+v", tt.name, v)
		}
		results, code := c.Verify(ctx, Checks{Env: os.Environ(), Commands: []verify.Command{{ID: tt.how, Argv: []string{"sh", "run.sh", tt.how}, Results: tt.results}}})
		if code != tt.want || len(results) != 1 || results[0].Evidence == nil || results[0].Evidence.Passed != tt.passed {
			t.Errorf("%s: %s, want %s\n%+v", tt.name, code, tt.want, results)
		}
		must(t, c.Discard())
	}
}

// TestBaseIsKnownByItsTree: another message for the same files costs no run of a check.
func TestBaseIsKnownByItsTree(t *testing.T) {
	r := newRepo(t)
	k := Checks{Env: os.Environ(), Commands: []verify.Command{{ID: "tap", Argv: []string{"sh", "-c", "echo ok 1 - $(cat /proc/sys/kernel/random/uuid); echo 1..1"}, Results: verify.TAP}}}
	names := func() []string {
		c := r.begin("run-1")
		report := c.Known(t.Context(), k, k.Commands[0])
		must(t, c.Discard())
		return slices.Sorted(maps.Keys(report.Tests))
	}
	first := names()
	r.git("commit", "-q", "--amend", "-m", "another message")
	if again := names(); len(first) != 1 || !slices.Equal(first, again) {
		t.Errorf("%q, and after an amend %q: it was run again", first, again)
	}
	r.write("src/other.txt", "other", 0o644)
	r.git("add", "-A")
	r.git("commit", "-qm", "more")
	if again := names(); slices.Equal(first, again) {
		t.Error("another tree was taken for the same")
	}
}

// TestExitCodeIsRemembered: a check without names says as much of what landed as one with names, so the next
// change's base need not be run either.
func TestExitCodeIsRemembered(t *testing.T) {
	r := newRepo(t)
	k := Checks{Env: os.Environ(), Commands: []verify.Command{{ID: "true", Argv: []string{"true"}}}}
	c := r.judged("run-1", "echo package b >src/a.go", nil)
	if _, code := c.Verify(t.Context(), k); code != judge.Success {
		t.Fatal(code)
	}
	r.write("src/a.go", "package b\n", 0o644)
	r.git("commit", "-qam", "landed")
	c.Ended("HEAD")
	must(t, c.Discard())
	if next := r.begin("run-2"); next.recall(k.Identity(k.Commands[0])) == nil {
		t.Error("the check runs once more on what it has just passed on")
	}
}
