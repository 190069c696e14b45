//go:build linux || darwin

package evidence

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/paxiom/relay/verify"
)

// check runs a command as relay does, on files in a folder of their own.
func check(t *testing.T, files map[string]string, argv ...string) (verify.Report, int) {
	t.Helper()
	r, code, _ := checkOutput(t, files, argv...)
	return r, code
}

func checkOutput(t *testing.T, files map[string]string, argv ...string) (verify.Report, int, string) {
	t.Helper()
	if _, err := exec.LookPath(argv[0]); err != nil && !strings.Contains(argv[0], "=") {
		t.Skip("skipped: " + argv[0] + " is not installed")
	}
	dir, state := t.TempDir(), t.TempDir()
	for name, text := range files {
		to := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	kit, err := Install(state)
	if err != nil {
		t.Fatal(err)
	}
	pipe, err := Open(state)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("env", argv...) // which looks along the PATH that it is given, as a box does
	cmd.Dir, cmd.Env = dir, kit.Environ(os.Environ(), pipe.Path, dir)
	out, err := cmd.CombinedOutput()
	r := pipe.Close()
	if t.Failed() || testing.Verbose() {
		t.Logf("%s\n%v\n%+v", out, err, r)
	}
	return r, cmd.ProcessState.ExitCode(), string(out)
}

func statuses(r verify.Report) string {
	var all []string
	for _, name := range []string{"one", "two"} {
		for full, test := range r.Tests {
			if strings.HasSuffix(full, name) {
				all = append(all, name+" "+string(test.Status))
			}
		}
	}
	return strings.Join(all, ", ")
}

const pythonTests = "import unittest\nimport src\n\nclass T(unittest.TestCase):\n    def test_one(self):\n        self.assertEqual(src.f(), 1)\n\n    def test_two(self):\n        self.assertEqual(2, 2)\n"

func TestUnittest(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, src string
		want      string
		code      int
		doubt     string // "" when nothing but the names speaks against it
	}{
		{"honest", "def f():\n    return 1\n", "one pass, two pass", 0, ""},
		{"wrong", "def f():\n    return 2\n", "one fail, two pass", 1, ""},
		{"skip from the source", "import unittest\ndef f():\n    raise unittest.SkipTest('x')\n", "one skip, two pass", 0, ""},
		{"ends at import", "import os\nos._exit(0)\n", "", 0, ""},
		{"ends at its end", "import atexit, os\natexit.register(os._exit, 0)\ndef f():\n    return 2\n", "one fail, two pass", 0, ""},
		{"ends within a test", "import os\ndef f():\n    os._exit(0)\n", "", 0, "ended early"},
		{"assertions emptied", "import unittest\nunittest.TestCase.assertEqual = lambda *a: None\ndef f():\n    return 2\n", "one pass, two pass", 0, "probe"},
		{"failures counted as passes", "import unittest\nunittest.TestResult.addFailure = lambda self, t, e: self.addSuccess(t)\ndef f():\n    return 2\n", "one fail, two pass", 0, "probe"},
		{"failures counted as passes by the result of this run", "import sys\ndef f():\n    at = sys._getframe(1)\n    while at:\n        r = at.f_locals.get('result')\n        if hasattr(r, 'addFailure'):\n            r.addFailure = lambda t, e, r=r: r.addSuccess(t)\n        at = at.f_back\n    return 2\n", "one pass, two pass", 0, "probe"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r, code := check(t, map[string]string{"src.py": tt.src, "tests/__init__.py": "", "tests/test_a.py": pythonTests},
				"python3", "-m", "unittest", "discover", "-s", "tests", "-t", ".")
			doubts := strings.Join(problems(r, &verify.Report{}), "; ")
			if got := statuses(r); got != tt.want || code != tt.code || !strings.Contains(doubts, tt.doubt) || tt.doubt == "" && doubts != "" {
				t.Errorf("%q, exit code %d, %q; want %q, %d, %q", got, code, doubts, tt.want, tt.code, tt.doubt)
			}
		})
	}
}

// Whoever mends a failed test needs the line that failed.
func TestUnittestTraceback(t *testing.T) {
	t.Parallel()
	_, _, out := checkOutput(t, map[string]string{"src.py": "def f():\n    return 2\n", "test_a.py": pythonTests}, "python3", "-m", "unittest")
	if !strings.Contains(out, `test_a.py", line 6, in test_one`) || strings.Contains(out, "relay_evidence") {
		t.Errorf("the failed line is missing, or relay's own is there:\n%s", out)
	}
}

func TestNodeTest(t *testing.T) {
	t.Parallel()
	js := "const test = require('node:test')\nconst assert = require('node:assert')\nconst { f } = require('../src.js')\ntest('one', () => assert.strictEqual(f(), 1))\ntest('two', () => {})\n"
	for _, tt := range []struct {
		name, src, want string
		code            int
	}{
		{"honest", "exports.f = () => 1\n", "one pass, two pass", 0},
		{"ends at import", "process.exit(0)\n", "", 0},
		{"ends at its end", "process.on('exit', () => process.reallyExit(0))\nexports.f = () => 2\n", "one fail, two pass", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if r, code := check(t, map[string]string{"src.js": tt.src, "test/a.test.js": js}, "node", "test/a.test.js"); statuses(r) != tt.want || code != tt.code {
				t.Errorf("%q, exit code %d; want %q, %d", statuses(r), code, tt.want, tt.code)
			}
		})
	}
}

func TestGoTest(t *testing.T) {
	t.Parallel()
	test := "package m\n\nimport \"testing\"\n\nfunc Test_one(t *testing.T) {\n\tif F(t) != 1 {\n\t\tt.Error(F(t))\n\t}\n}\n\nfunc Test_two(t *testing.T) {}\n"
	for _, tt := range []struct {
		name, src, want string
		early           int
	}{
		{"honest", "package m\n\nfunc F(any) int { return 1 }\n", "one pass, two pass", 0},
		{"takes a failure back", "package m\n\nimport (\n\t\"reflect\"\n\t\"testing\"\n\t\"unsafe\"\n)\n\nfunc F(t *testing.T) int {\n\tt.Cleanup(func() {\n\t\tc := reflect.ValueOf(t).Elem().FieldByName(\"common\")\n\t\tfor at := c; ; at = at.FieldByName(\"parent\").Elem() {\n\t\t\t*(*bool)(unsafe.Pointer(at.FieldByName(\"failed\").UnsafeAddr())) = false\n\t\t\tif at.FieldByName(\"parent\").IsNil() {\n\t\t\t\tbreak\n\t\t\t}\n\t\t}\n\t})\n\treturn 2\n}\n", "one fail, two pass", 0},
		{"prints what a test would", "package m\n\nimport (\n\t\"fmt\"\n\t\"os\"\n)\n\nfunc init() {\n\tfmt.Print(\"\\x16--- PASS: Test_one (0.00s)\\n\\x16--- PASS: Test_two (0.00s)\\nPASS\\n\")\n\tos.Exit(0)\n}\n\nfunc F(any) int { return 2 }\n", "", 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r, code := check(t, map[string]string{"go.mod": "module m\n\ngo 1.22\n", "m.go": tt.src, "m_test.go": test}, "go", "test", "./...")
			if statuses(r) != tt.want || code != 0 || r.Early["go"] != tt.early {
				t.Errorf("%q, exit code %d, %d ended early; want %q, 0, %d", statuses(r), code, r.Early["go"], tt.want, tt.early)
			}
		})
	}
}

// However an honest program is built, its code in memory is that of its file.
func TestGoBuilds(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("skipped: gcc is not installed")
	}
	files := map[string]string{"go.mod": "module m\n\ngo 1.22\n",
		"m.go":      "package m\n\n// int one(void) { return 1; }\nimport \"C\"\n\nfunc F() int { return int(C.one()) }\n",
		"m_test.go": "package m\n\nimport \"testing\"\n\nfunc Test_one(t *testing.T) {\n\tif F() != 1 {\n\t\tt.Fatal()\n\t}\n}\n\nfunc Test_two(t *testing.T) {}\n"}
	for _, flags := range []string{"", "-race", "-buildmode=pie", "-cover"} {
		t.Run(flags, func(t *testing.T) {
			r, code := check(t, files, append([]string{"CGO_ENABLED=1", "GOFLAGS=", "go", "test"}, append(strings.Fields(flags), "./...")...)...)
			if statuses(r) != "one pass, two pass" || code != 0 || r.Probes == 0 || len(problems(r, &verify.Report{})) > 0 {
				t.Errorf("exit code %d, %+v, %q", code, r, problems(r, &verify.Report{}))
			}
		})
	}
}

// What a test starts is its own affair, also where that is a runner, and one that fails.
func TestInnerRuns(t *testing.T) {
	t.Parallel()
	inner := "import unittest\n\nclass S(unittest.TestCase):\n    def test_bad(self):\n        self.assertEqual(1, 2)\n"
	run := "import io, subprocess, sys, unittest\n\nclass T(unittest.TestCase):\n    def test_one(self):\n        self.assertEqual(subprocess.run([sys.executable, '-m', 'unittest', 'fix.py'], capture_output=True).returncode, 1)\n\n" +
		"    def test_two(self):\n        class Inner(unittest.TestCase):\n            def test_worse(self):\n                self.fail()\n" +
		"        self.assertFalse(unittest.TextTestRunner(stream=io.StringIO()).run(unittest.defaultTestLoader.loadTestsFromTestCase(Inner)).wasSuccessful())\n"
	bad := "package in\n\nimport \"testing\"\n\nfunc TestBad(t *testing.T) { t.Fatal() }\n"
	goRun := "package m\n\nimport (\n\t\"os/exec\"\n\t\"testing\"\n)\n\nfunc Test_one(t *testing.T) {\n\tc := exec.Command(\"go\", \"test\")\n\tc.Dir = \"testdata\"\n\tif c.Run() == nil {\n\t\tt.Fatal()\n\t}\n}\n\nfunc Test_two(t *testing.T) {}\n"
	js := "const { test } = require('node:test')\nconst { spawnSync } = require('node:child_process')\ntest('one', () => {\n  const { NODE_TEST_CONTEXT, ...env } = process.env\n  require('node:assert').strictEqual(spawnSync(process.execPath, ['--test', 'fix.js'], { env }).status, 1)\n})\ntest('two', () => {})\n"
	files := map[string]string{"fix.py": inner, "test_a.py": run, "go.mod": "module m\n\ngo 1.22\n", "m_test.go": goRun, "testdata/go.mod": "module in\n\ngo 1.22\n", "testdata/a_test.go": bad,
		"test/a.test.js": js, "fix.js": "require('node:test').test('bad', () => { throw new Error('x') })\n"}
	for _, argv := range [][]string{{"python3", "-m", "unittest", "test_a.py"}, {"pytest", "-q", "test_a.py"}, {"go", "test", "."}, {"node", "--test", "test/"}, {"node", "test/a.test.js"}} {
		t.Run(strings.Join(argv, " "), func(t *testing.T) {
			t.Parallel()
			if r, code := check(t, files, argv...); code != 0 || len(r.Tests) != 2 || statuses(r) != "one pass, two pass" || len(problems(r, &verify.Report{})) > 0 {
				t.Errorf("exit code %d, %v, %q", code, r.Tests, problems(r, &verify.Report{}))
			}
		})
	}
}

// What groups tests is none, and what is named only where it fails can't be missed later.
func TestGroupsAreNoTests(t *testing.T) {
	t.Parallel()
	js := "const { describe, test } = require('node:test')\nconst assert = require('node:assert')\ndescribe('group', () => {\n  test('one', () => assert.ok(require('../src.js').ok))\n  test('two', () => {})\n})\n"
	py := "import unittest\nimport src\n\nclass A(unittest.TestCase):\n    @classmethod\n    def setUpClass(cls):\n        assert src.ok\n\n    def test_three(self):\n        pass\n\n" +
		"class T(unittest.TestCase):\n    def test_one(self):\n        for i in range(3):\n            with self.subTest(i=i):\n                self.assertTrue(src.ok)\n\n    def test_two(self):\n        pass\n"
	frame := "package m\n\nimport (\n\t\"fmt\"\n\t\"testing\"\n)\n\nfunc Test_one(t *testing.T) {\n\tif !ok {\n\t\tt.Fatal()\n\t}\n}\n\nfunc Test_two(t *testing.T) { fmt.Println(\"\\x16--- FAIL: Test_one (0.00s)\") }\n"
	for _, tt := range []struct {
		file, test, src, bad, good string
		argv                       []string
	}{
		{"test/a.test.js", js, "src.js", "exports.ok = false\n", "exports.ok = true\n", []string{"node", "--test", "test/"}},
		{"test_a.py", py, "src.py", "ok = False\n", "ok = True\n", []string{"python3", "-m", "unittest", "test_a.py"}},
		{"m_test.go", frame, "m.go", "package m\n\nvar ok = false\n", "package m\n\nvar ok = true\n", []string{"go", "test", "."}},
	} {
		t.Run(tt.argv[0], func(t *testing.T) {
			t.Parallel()
			files := map[string]string{tt.file: tt.test, tt.src: tt.bad, "go.mod": "module m\n\ngo 1.22\n"}
			base, red := check(t, files, tt.argv...)
			files[tt.src] = tt.good
			now, code := check(t, files, tt.argv...)
			if f := Compare(&base, now, nil); red == 0 || code != 0 || !f.OK() || statuses(base) != "one fail, two pass" || statuses(now) != "one pass, two pass" {
				t.Errorf("exit codes %d and %d: %s; %v, %v", red, code, f.Why(), base.Tests, now.Tests)
			}
		})
	}
}

// TestPytest has one wrong value, and code that forgets what its tests raise.
func TestPytest(t *testing.T) {
	t.Parallel()
	forget := "import sys\nC = sys.modules['_pytest.runner'].CallInfo\nreal = C.from_call.__func__\ndef from_call(cls, func, when, reraise=None):\n    c = real(cls, func, when, reraise)\n" +
		"    if when == 'call' and c.excinfo and 'test_a' in str(c.excinfo.traceback[-1].path):\n        c = real(cls, lambda: None, when, reraise)\n    return c\nC.from_call = classmethod(from_call)\n"
	for _, tt := range []struct {
		name, src, want string
		code            int
		doubt           string
	}{
		{"honest", "def f():\n    return 1\n", "one pass, two skip", 0, ""},
		{"wrong", "def f():\n    return 2\n", "one fail, two skip", 1, ""},
		{"failures forgotten", forget + "def f():\n    return 2\n", "one pass, two skip", 0, "a failure that is taken for a pass"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r, code := check(t, map[string]string{"src.py": tt.src, "conftest.py": "", "test_a.py": "import pytest\nimport src\n\ndef test_one():\n    assert src.f() == 1\n\ndef test_two():\n    pytest.skip('later')\n\n" +
				"@pytest.mark.xfail\ndef test_three():\n    assert False\n"}, "pytest", "-q")
			doubts := strings.Join(problems(r, &verify.Report{}), "; ")
			if got := statuses(r); got != tt.want || code != tt.code || !strings.Contains(doubts, tt.doubt) || tt.doubt == "" && doubts != "" {
				t.Errorf("%q, exit code %d, %q; want %q, %d, %q", got, code, doubts, tt.want, tt.code, tt.doubt)
			}
		})
	}
}
