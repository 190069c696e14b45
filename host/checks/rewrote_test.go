package checks

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/box"
	"github.com/paxiom/relay/verify"
)

// TestRewrittenWhileItRan has a check whose code changes what it is compared with.
func TestRewrittenWhileItRan(t *testing.T) {
	for _, tt := range []struct {
		name, build string
		want        judge.Code
	}{
		{"nothing is rewritten", "echo 2 >src/value", judge.Success},
		{"a file beside the tests", "echo 'echo 2 >tests/cache; echo 2 >value' >src/code", judge.Success},
		{"a snapshot is added", "echo 'echo 2 >>tests/a.snap' >src/code", judge.Success},
		{"what the base rewrites too", "echo 'echo 2 >tests/log.txt' >src/code", judge.Success},
		{"what the tests compare with", "echo 'cat value >tests/want' >src/code", judge.StopVerifyFailedFast},
		{"a new one of these", "mkdir -p src/tests; echo 2 >src/tests/more; echo 'echo 3 >src/tests/more' >src/code", judge.StopVerifyFailedFast},
		{"a snapshot is replaced", "echo 'echo 2 >tests/a.snap' >src/code", judge.StopVerifyFailedFast},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRepo(t)
			for name, text := range map[string]string{"src/code": "", "src/value": "1\n", "value": "1\n", "tests/want": "2\n", "tests/a.snap": "1\n", "tests/log.txt": "", "run.sh": ". ./src/code\ndate +%N >tests/log.txt\n"} {
				r.write(name, text, 0o644)
			}
			r.git("add", "-A")
			r.git("commit", "-qm", "tests")
			c := r.begin("run-1")
			defer func() { must(t, c.Discard()) }()
			if c.Box().Means() != box.Overlay {
				t.Skip("skipped: only an overlay tells what was written")
			}
			r.build(c, tt.build)
			v, err := c.Judge(context.Background(), lawOf(judge.SquashCommits))
			must(t, err)
			if v.Code != judge.Success {
				t.Fatalf("%+v", v)
			}
			results, code := c.Verify(context.Background(), Checks{Env: os.Environ(), Commands: []verify.Command{{ID: "test", Argv: []string{"sh", "run.sh"}}}})
			if code != tt.want || code != judge.Success && !strings.Contains(results[0].Evidence.Why(), "was changed while") {
				t.Errorf("%s, want %s: %+v", code, tt.want, results)
			}
		})
	}
}
