package checks

import (
	"context"
	"os"
	"os/exec"
	"testing"

	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/verify"
)

// TestBytecode changes a module of which the work tree has an older compilation that Python
// believes: as it believes any that has the size and the second of the source.
func TestBytecode(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed")
	}
	ctx := context.Background()
	r := newRepo(t)
	r.write(".gitignore", "__pycache__/\n", 0o644)
	r.write("src/value.py", "N = 1\n", 0o644)
	r.write("src/other.py", "N = 1\n", 0o644)
	compile := exec.Command(python, "-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash", "src")
	compile.Dir = r.root
	if out, err := compile.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	r.git("add", "-A")
	r.git("commit", "-qm", "modules")
	for check, want := range map[string]judge.Code{
		"import value; assert value.N == 2":                                          judge.Success,
		"import value; assert value.N == 1":                                          judge.StopVerifyFailedFast,
		"import other, os; assert other.N == 1 and os.path.exists(other.__cached__)": judge.Success,
	} {
		c := r.begin("run-1")
		r.build(c, "echo 'N = 2' >src/value.py")
		v, err := c.Judge(ctx, lawOf(judge.SquashCommits))
		must(t, err)
		if v.Code != judge.Success {
			t.Fatalf("%+v", v)
		}
		results, code := c.Verify(ctx, Checks{Env: append(os.Environ(), "PYTHONPATH=src"), Commands: []verify.Command{{ID: "check", Argv: []string{python, "-c", check}}}})
		if code != want {
			t.Errorf("%s: %s, want %s\n%s", check, code, want, results[0].Output)
		}
		must(t, c.Discard())
	}
}
