package format

import (
	"testing"
	"unicode/utf8"
)

func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "0 files", 1: "1 file", 2: "2 files"} {
		if got := Count(n, "file"); got != want {
			t.Errorf("%d: %q", n, got)
		}
	}
}

func TestDollars(t *testing.T) {
	zero, some := 0.0, 1.23456
	for _, c := range []struct {
		usd  *float64
		want string
	}{{nil, "unknown"}, {&zero, "$0.0000"}, {&some, "$1.2346"}} {
		if got := Dollars(c.usd); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

func TestClip(t *testing.T) {
	for _, c := range []struct {
		s    string
		n    int
		want string
	}{
		{"", 1, ""}, {"four", 4, "four"}, {"four ", 4, "fou…"}, {"häß", 3, "häß"}, {"häßlich", 3, "hä…"},
		{"one two", 5, "one …"}, {"one two", 1, "…"}, {"bad \xff bytes", 6, "bad \uFFFD…"},
	} {
		got := Clip(c.s, c.n)
		if got != c.want || utf8.RuneCountInString(got) > c.n {
			t.Errorf("%q by %d: %q, want %q", c.s, c.n, got, c.want)
		}
	}
}

func TestTelling(t *testing.T) {
	for _, c := range []struct{ want, output string }{
		{"printed 7, want 5", "cc -o test_add add.c\n./test_add\nprinted 7, want 5\nmake: *** [Makefile:2: test] Error 1\n"},
		{"add.c:1:5: error: expected ';'", "cc -c add.c\nadd.c:1:5: error: expected ';'\n    1 | int\n      |     ^\nmake[1]: *** [all] Error 1\nmake[1]: Leaving directory '/x'\nmake: *** [x] Error 2\n"},
		{"m_test.go:7: printed -1, want 5", "--- FAIL: TestAdd (0.00s)\n    m_test.go:7: printed -1, want 5\nFAIL\nFAIL\texample.com/m\t0.002s\nFAIL\n"},
		{"AssertionError: -1 != 5", "FAIL: test_add (t.T.test_add)\n----\nTraceback (most recent call last):\n  File \"t.py\", line 3, in x\nAssertionError: -1 != 5\n\n-----\nRan 1 test in 0.000s\n\nFAILED (failures=1)\n"},
		{"AssertionError: expected 6 to be 5 // Object.is equality", "\n> js@1.0.0 test\n> vitest run\n\n FAIL  src/a.test.js > adds\nAssertionError: expected 6 to be 5 // Object.is equality\n ❯ src/a.test.js:3:41\n\n Test Files  1 failed (1)\n      Tests  1 failed (1)\n"},
		{"assertion `left == right` failed", "running 1 test\nthread 't' panicked at src/lib.rs:9:9:\nassertion `left == right` failed\n  left: 4\n right: 5\n\ntest result: FAILED. 0 passed\n\nerror: test failed, to rerun pass `--lib`\n"},
		{"npm error Missing script: \"test\"", "npm error Missing script: \"test\"\nnpm error\nnpm error A complete log of this run can be found in: /x\n"},
		{"sh: 1: nope: not found", "> a@1 test\n> nope\n\nsh: 1: nope: not found\n"},
		{"make: *** No rule to make target 'test'.  Stop.", "make: *** No rule to make target 'test'.  Stop.\n"},
		{"k.rb:85:in `require': cannot load such file -- x (LoadError)", "k.rb:85:in `require': cannot load such file -- x (LoadError)\n\tfrom k.rb:85:in `require'\n\tfrom -e:1:in `<main>'\n"},
		{"a.php:2: no such table", "a.php:2: no such table\nStack trace:\n#0 {main}\n  thrown in a.php on line 2\n"},
		{"it threw 3", "it threw 3\n\nNode.js v20.20.2\n"},
		{"", "\n \n"},
	} {
		if got := Telling(c.output); got != c.want {
			t.Errorf("Telling(%q) = %q, want %q", c.output, got, c.want)
		}
	}
}
