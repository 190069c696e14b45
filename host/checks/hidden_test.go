package checks

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/paxiom/relay/internal/sampling"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/box"
	"github.com/paxiom/relay/verify"
	"github.com/paxiom/relay/verify/examine"
)

// TestHiddenChecks holds a hidden check's files to its own box alone.
func TestHiddenChecks(t *testing.T) {
	ctx := context.Background()
	r := newRepo(t)
	folder := t.TempDir()
	must(t, os.WriteFile(filepath.Join(folder, "want"), []byte("hello, world\n"), 0o644))
	r.env.Hide = []box.Hidden{{Path: folder}}
	secret := filepath.Join(folder, "want")
	run := func(build string) (*checked, judge.Code) {
		c := r.begin("run-1")
		r.build(c, build)
		v, err := c.Judge(ctx, wide)
		must(t, err)
		if v.Code != judge.Success {
			t.Fatalf("%+v", v)
		}
		results, code := c.Verify(ctx, Checks{Env: os.Environ(),
			Commands: []verify.Command{{ID: "visible", Argv: []string{"sh", "-c", "! test -e " + secret}}},
			Hidden: []verify.Command{
				{ID: "one", Folder: folder, Argv: []string{"cmp", secret, "README.md"}},
				{ID: "two", Folder: folder, Argv: []string{"test", "-e", "src/a.go"}},
			}})
		if len(results) != 1 || !results[0].OK() {
			t.Fatalf("visible checks: %+v", results)
		}
		return c, code
	}
	c, code := run("! cat " + secret + "; echo guessed >README.md")
	if h, _ := c.Hidden(); code != judge.StopHiddenFailed || len(h) != 2 || h[0].OK() || !h[1].OK() {
		t.Errorf("a wrong change: %s %+v", code, h)
	}
	must(t, c.Discard())
	c, code = run("echo 'hello, world' >README.md")
	if h, _ := c.Hidden(); code != judge.Success || len(h) != 2 {
		t.Errorf("a right change: %s %+v", code, h)
	}
	must(t, c.Discard())
	c, code = run("cp " + secret + " README.md || echo no >README.md")
	if code != judge.StopHiddenFailed {
		t.Errorf("a builder that looks for the check: %s", code)
	}
	must(t, c.Discard())
}

// TestHiddenCheckCalls has checks call code in three languages, and any program. The code
// can neither see the check nor end it.
func TestHiddenCheckCalls(t *testing.T) {
	sampling.Slow(t)
	hostile := map[string]string{
		"m.py":     "import os, signal\nprint('loaded')\ndef add(a, b):\n    print('called')\n    return a + b\ndef hunt(name):\n    os.path.exists(name) and os._exit(0)\n    seen = [open('/proc/%s/cmdline' % p).read() for p in os.listdir('/proc') if p.isdigit()]\n    try:\n        os.kill(-1, signal.SIGKILL)\n    except OSError:\n        pass\n    return [s for s in seen if 'check.' in s]\n",
		"m.js":     "console.log('loaded')\nexports.add = (a, b) => { console.log('called'); return a + b }\n",
		"go.mod":   "module example.com/m\n\ngo 1.22\n",
		"add/m.go": "package add\n\nimport (\n\t\"errors\"\n\t\"fmt\"\n)\n\nfunc init() { fmt.Println(\"loaded\") }\n\nfunc Add(a, b int) (int, error) {\n\tfmt.Println(\"called\")\n\tif a < 0 {\n\t\treturn 0, errors.New(\"negative\")\n\t}\n\treturn a + b, nil\n}\n",
	}
	const check = `
from relay_check import *
a, b = rand.randint(0, 99), rand.randint(0, 99)
for loaded in (("python", "m"), ("python", "m.py"), ("javascript", "m.js")):
    load(*loaded)
    equal("add", call("add", a, b), a + b)
    raises("missing", "nothing", 1)
load("python", "m")
equal("hunt", call("hunt", __file__), [])
equal("program", run("python3", "-c", "import m; print(m.add(%d, int(input())))" % a, stdin=str(b))["stdout"].split()[-1], str(a + b))
load("go", "./add", functions=["Add"])
equal("Add", call("Add", a, b), a + b)
raises("negative", "Add", -1, 0)
if run("sh", "-c", "exit 3")["code"] != 3: fail("exit code")
load("python", "m")
call("WRONG", a)
`
	for _, lang := range []string{"python3", "node", "go"} {
		if _, err := exec.LookPath(lang); err != nil {
			t.Skip(err)
		}
	}
	r := newRepo(t)
	folder := t.TempDir()
	name, client := examine.Client("python")
	must(t, os.WriteFile(filepath.Join(folder, name), []byte(client), 0o644))
	must(t, os.WriteFile(filepath.Join(folder, "check.py"), []byte(check[:strings.LastIndex(check, "load")]), 0o644))
	must(t, os.WriteFile(filepath.Join(folder, "wrong.py"), []byte(check), 0o644))
	for name, text := range hostile {
		r.write(name, text, 0o644)
	}
	r.git("add", "-A")
	r.git("commit", "-qm", "code")
	r.open()
	r.env.Hide = []box.Hidden{{Path: folder}}
	c := r.begin("run-1")
	if v, err := c.Judge(t.Context(), wide); err != nil || v.Code != judge.Success {
		t.Fatal(v, err)
	}
	ask := func(file string) verify.Result {
		_, code := c.VerifyHidden(t.Context(), Checks{Env: os.Environ(), Seed: 7, Hidden: []verify.Command{{ID: "calls", Folder: folder, Argv: []string{"python3", filepath.Join(folder, file)}}}})
		h, seed := c.Hidden()
		if (code == judge.Success) != h[0].OK() || seed != 7 {
			t.Error(code, seed)
		}
		return h[0]
	}
	if h := ask("check.py"); !h.OK() {
		t.Errorf("%s: %s %v", h.Outcome(), h.Output, h.Err)
	}
	if h := ask("wrong.py"); h.OK() || !strings.Contains(string(h.Output), "AttributeError") {
		t.Errorf("a call of nothing: %s: %s", h.Outcome(), h.Output)
	}
	must(t, c.Discard())
}
