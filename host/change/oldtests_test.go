package change

import (
	"context"
	"os"
	"testing"

	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/verify"
)

// TestOldTestsDecide changes a program and its tests; the check compares the two.
func TestOldTestsDecide(t *testing.T) {
	ctx := context.Background()
	r := newRepo(t)
	r.write("src/value", "0\n", 0o644)
	r.write("src/tests/want", "1\n", 0o644)
	r.write("src/a_test.sh", "", 0o644)
	r.git("add", "-A")
	r.git("commit", "-qm", "tests")
	check := []verify.Command{{ID: "check", Argv: []string{"sh", "-c", "test -e src/tests/skip || ! test -e src/tests/want || cmp src/value src/tests/want"}}}
	for _, tt := range []struct {
		name, build string
		named       []string
		want        judge.Code
	}{
		{"an honest fix", "echo 1 >src/value", nil, judge.Success},
		{"with a new test", "echo 1 >src/value; echo 1 >src/tests/more", nil, judge.Success},
		{"the test is changed", "echo 2 >src/value; echo 2 >src/tests/want", nil, judge.StopOldTestsFail},
		{"the test is deleted", "echo 2 >src/value; rm src/tests/want", nil, judge.StopOldTestsFail},
		{"the tests become a link", "echo 2 >src/value; mkdir src/b; echo 2 >src/b/want; rm -r src/tests; ln -s b src/tests", nil, judge.StopOldTestsFail},
		{"a new file of the tests", "echo 2 >src/value; echo >src/tests/skip", nil, judge.StopOldTestsFail},
		{"the test is named", "echo 2 >src/value; echo 2 >src/tests/want", []string{"src/tests/want"}, judge.Success},
		{"another test is named", "echo 2 >src/value; echo 2 >src/tests/want", []string{"src/tests/**"}, judge.StopOldTestsFail},
	} {
		c := r.begin("run-1")
		r.build(c, tt.build)
		v, err := c.Judge(ctx, lawOf(judge.SquashCommits, tt.named...))
		must(t, err)
		if v.Code != judge.Success {
			t.Fatalf("%s: %+v", tt.name, v)
		}
		results, code := c.Verify(ctx, Checks{Env: os.Environ(), Commands: check})
		if code != tt.want || len(results) != 1 {
			t.Errorf("%s: %s, want %s\n%+v", tt.name, code, tt.want, results)
		}
		must(t, c.Discard())
	}
}
