//go:build linux || darwin

package evidence

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// check runs a command as relay does, on files in a folder of their own.
func check(t *testing.T, files map[string]string, argv ...string) (Report, int) {
	t.Helper()
	if _, err := exec.LookPath(argv[0]); err != nil {
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
	return r, cmd.ProcessState.ExitCode()
}

func statuses(r Report) string {
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
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r, code := check(t, map[string]string{"src.py": tt.src, "tests/__init__.py": "", "tests/test_a.py": pythonTests},
				"python3", "-m", "unittest", "discover", "-s", "tests", "-t", ".")
			doubts := strings.Join(r.problems(&Report{}), "; ")
			if got := statuses(r); got != tt.want || code != tt.code || !strings.Contains(doubts, tt.doubt) || tt.doubt == "" && doubts != "" {
				t.Errorf("%q, exit code %d, %q; want %q, %d, %q", got, code, doubts, tt.want, tt.code, tt.doubt)
			}
		})
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
	test := "package m\n\nimport \"testing\"\n\nfunc Test_one(t *testing.T) {\n\tif F() != 1 {\n\t\tt.Error(F())\n\t}\n}\n\nfunc Test_two(t *testing.T) {}\n"
	for _, tt := range []struct {
		name, src, want string
		early           int
	}{
		{"honest", "package m\n\nfunc F() int { return 1 }\n", "one pass, two pass", 0},
		{"prints what a test would", "package m\n\nimport (\n\t\"fmt\"\n\t\"os\"\n)\n\nfunc init() {\n\tfmt.Print(\"\\x16--- PASS: Test_one (0.00s)\\n\\x16--- PASS: Test_two (0.00s)\\nPASS\\n\")\n\tos.Exit(0)\n}\n\nfunc F() int { return 2 }\n", "one pass, two pass", 1},
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
