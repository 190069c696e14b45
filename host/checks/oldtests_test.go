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

// judged is a change that has passed the judge.
func (r *repo) judged(name, build string, named []string) *checked {
	r.t.Helper()
	c := r.begin("run-1")
	r.build(c, build)
	v, err := c.Judge(context.Background(), lawOf(judge.SquashCommits, named...))
	must(r.t, err)
	if v.Code != judge.Success {
		r.t.Fatalf("%s: %+v", name, v)
	}
	return c
}

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
		c := r.judged(tt.name, tt.build, tt.named)
		results, code := c.Verify(ctx, Checks{Env: os.Environ(), Commands: check})
		if code != tt.want || len(results) != 1 {
			t.Errorf("%s: %s, want %s\n%+v", tt.name, code, tt.want, results)
		}
		must(t, c.Discard())
	}
}

// TestOldPartsDecide has tests in the file of the code: each is a line of its own.
func TestOldPartsDecide(t *testing.T) {
	ctx := context.Background()
	r := newRepo(t)
	r.write("src/own.x", "code 1\ntest 1\n", 0o644)
	r.git("add", "-A")
	r.git("commit", "-qm", "tests")
	check := []verify.Command{{ID: "check", Argv: []string{"sh", "-c", `test "$(grep -h code src/*.x | cut -c6-)" = "$(grep -h test src/*.x | cut -c6-)"`}}}
	putBack := func(_ string, base func() string, now string) (func(Checks, *box.Box) error, bool) {
		_, was, _ := strings.Cut(base(), "test")
		code, is, ok := strings.Cut(now, "test")
		if was == is {
			return nil, true
		}
		return func(k Checks, b *box.Box) error {
			p, err := everything{}.Start(b, box.Proc{Argv: []string{"sh", "-c", `printf %s "$1" >src/own.x`, "sh", code + "test" + was}, Env: k.Env})
			if err == nil {
				_, err = p.Wait()
			}
			return err
		}, ok
	}
	for _, tt := range []struct {
		name, build string
		named       []string
		want        judge.Code
	}{
		{"the code and its test", "printf 'code 2\\ntest 2\\n' >src/own.x", nil, judge.StopOldTestsFail},
		{"the code is written otherwise", "printf 'code 1\\n\\ntest 1\\n' >src/own.x", nil, judge.Success},
		{"the test is gone", "printf 'code 2\\n# 2\\n' >src/own.x; echo test 2 >src/new.x", nil, judge.StopOldTestsFail},
		{"the file is moved", "mv src/own.x src/new.x", nil, judge.Success},
		{"the file is moved, and its test is another", "rm src/own.x; printf 'code 2\\ntest 2\\n' >src/new.x", nil, judge.StopOldTestsFail},
		{"the file is named", "printf 'code 2\\ntest 2\\n' >src/own.x", []string{"src/own.x"}, judge.Success},
	} {
		c := r.judged(tt.name, tt.build, tt.named)
		if results, code := c.Verify(ctx, Checks{Env: os.Environ(), Commands: check, PutBack: putBack}); code != tt.want {
			t.Errorf("%s: %s, want %s\n%+v", tt.name, code, tt.want, results)
		}
		must(t, c.Discard())
	}
}

// TestShadowingDecides has tests that import a helper of an ordinary name, in real interpreters.
func TestShadowingDecides(t *testing.T) {
	ctx := context.Background()
	r := newRepo(t)
	r.write("src/value", "0\n", 0o644)
	r.write("src/value_test.py", "import equal\nequal.one(open('value').read())\n", 0o644)
	r.write("src/equal.py", "def one(x):\n    assert x == '1\\n', x\n", 0o644)
	r.write("src/value_test.js", "require('./same')(require('fs').readFileSync('value', 'utf8'))\n", 0o644)
	r.write("src/same/index.js", "module.exports = (x) => require('node:assert').equal(x, '1\\n')\n", 0o644)
	r.git("add", "-A")
	r.git("commit", "-qm", "tests")
	python, node := "python3 value_test.py", "node value_test.js"
	for _, tt := range []struct {
		name, check, build string
		named              []string
		want               judge.Code
	}{
		{"a package before a module", python, "mkdir src/equal; echo 'def one(x): pass' >src/equal/__init__.py", nil, judge.StopOldTestsFail},
		{"a package that the task names", python, "mkdir src/equal; echo 'def one(x): pass' >src/equal/__init__.py", []string{"src/equal/__init__.py"}, judge.Success},
		{"a module becomes a package", python, "mkdir src/equal; mv src/equal.py src/equal/__init__.py; echo 1 >src/value", nil, judge.Success},
		{"a file before a folder", node, "echo 'module.exports = () => {}' >src/same.js", nil, judge.StopOldTestsFail},
		{"another beginning of a folder", node, `echo '{"main": "no.js"}' >src/same/package.json; echo 'module.exports = () => {}' >src/same/no.js`, nil, judge.StopOldTestsFail},
		{"a second form of a file", node, "echo 1 >src/value; echo 'export {}' >src/same/index.mjs", nil, judge.Success},
	} {
		c := r.judged(tt.name, tt.build, tt.named)
		check := []verify.Command{{ID: "check", Argv: []string{"sh", "-c", "cd src && " + tt.check}}}
		if results, code := c.Verify(ctx, Checks{Env: os.Environ(), Commands: check}); code != tt.want {
			t.Errorf("%s: %s, want %s\n%+v", tt.name, code, tt.want, results)
		} else if code == judge.StopOldTestsFail && len(c.Tests()) != 1 {
			t.Errorf("%s: %q are named", tt.name, c.Tests())
		}
		must(t, c.Discard())
	}
}
