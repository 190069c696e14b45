package evidence

import (
	"slices"
	"strings"
	"testing"

	"github.com/paxiom/relay/verify"
)

// read makes a report of records that are written with spaces for tabs.
func read(records ...string) verify.Report {
	r := newReader()
	for _, line := range records {
		r.line(strings.ReplaceAll(line, " ", "\t"))
	}
	return r.report()
}

func TestCompare(t *testing.T) {
	t.Parallel()
	base := read("begin go-1 go .", "test go-1 pass A f_test.go", "test go-1 fail B f_test.go", "test go-1 skip C f_test.go", "end go-1 fail")
	begin, end := "begin go-2 go .", "end go-2 ok"
	tests := []struct {
		name    string
		now     []string
		missing string
		failed  string
		problem string
	}{
		{"all run and pass", []string{begin, "test go-2 pass A", "test go-2 pass B", end}, "", "", ""},
		{"one is new", []string{begin, "test go-2 pass A", "test go-2 pass B", "test go-2 pass D", end}, "", "", ""},
		{"nothing ran", nil, "A B", "", ""},
		{"one is skipped now", []string{begin, "test go-2 pass A", "test go-2 skip B", end}, "B", "", ""},
		{"one is expected to fail", []string{begin, "test go-2 xfail A", "test go-2 pass B", end}, "A", "", ""},
		{"one failed", []string{begin, "test go-2 pass A", "test go-2 fail B", end}, "", "B", ""},
		{"a failure can't be taken back", []string{begin, "test go-2 pass A", "test go-2 fail B", "test go-2 pass B", end}, "", "B", ""},
		{"no end", []string{begin, "test go-2 pass A", "test go-2 pass B"}, "", "", "ended early"},
		{"a probe fails", []string{begin, "test go-2 pass A", "test go-2 pass B", "probe go-2 equal bad", end}, "", "", "probe"},
		{"what is not a record", []string{begin, "test go-2 pass A", "test go-2 pass B", "nonsense", end}, "", "", "relied on"},
	}
	for _, tt := range tests {
		f := Compare(&base, read(tt.now...), nil)
		var missing []string
		for _, g := range f.Missing {
			missing = append(missing, g.Name)
		}
		problems := strings.Join(f.Problems, "; ")
		if strings.Join(missing, " ") != tt.missing || strings.Join(f.Failed, " ") != tt.failed ||
			!strings.Contains(problems, tt.problem) || (tt.problem == "") != (problems == "") {
			t.Errorf("%s: missing %v, failed %v, problems %q", tt.name, missing, f.Failed, problems)
		}
		if f.OK() != (tt.missing+tt.failed+tt.problem == "") {
			t.Errorf("%s: OK is %v", tt.name, f.OK())
		}
	}
	if f := Compare(&base, read(), func(file string) bool { return file == "f_test.go" }); !f.OK() {
		t.Errorf("tests of a file that may go: %v", f.Missing)
	}
	for skipped, missing := range map[string]int{"A (skipped subtest 1)": 0, "A (skipped subtest 2)": 1, "B (skipped subtest 1)": 1, "new (skipped subtest 1)": 0} {
		old := read(begin, "test go-2 pass A", "test go-2 pass B", end)
		old.Tests["A (skipped subtest 1)"] = verify.Test{Status: verify.Skip}
		now := read(begin, "test go-2 pass A", "test go-2 pass B", "test go-2 pass new", end)
		now.Tests[skipped] = verify.Test{Status: verify.Skip}
		if f := Compare(&old, now, nil); len(f.Missing) != missing {
			t.Errorf("%s: missing %v", skipped, f.Missing)
		}
	}
	if f := Compare(nil, read(begin, "test go-2 pass A", end), nil); !f.OK() || !f.Unknown {
		t.Errorf("without a base: %+v", f)
	}
}

// An address in a name is another one in each run. Each of the tests that differ in nothing
// else is a test of its own.
func TestAddresses(t *testing.T) {
	t.Parallel()
	report := func(names ...string) verify.Report {
		r := newReader()
		r.line("begin\tgo-1\tgo\t")
		for _, name := range names {
			r.line("test\tgo-1\tpass\t" + name + "\t")
		}
		r.line("end\tgo-1\t")
		return r.report()
	}
	base := report("T/&B{(*A)(0x3c93dfc08be0)}", "T/&B{(*A)(0x3c93dfc08bf0)}", "T/0xdeadbeef")
	if e := Compare(&base, report("T/&B{(*A)(0xdce43f20b90)}", "T/&B{(*A)(0xdce43f20ba0)}", "T/0xdeadbeef"), nil); len(e.Missing)+e.New > 0 {
		t.Errorf("of the same tests at other addresses: %+v", e)
	}
	for _, fewer := range [][]string{{"T/&B{(*A)(0xdce43f20b90)}", "T/0xdeadbeef"}, {"T/&B{(*A)(0xdce43f20b90)}", "T/&B{(*A)(0xdce43f20ba0)}", "T/0xcafebabe"}} {
		if e := Compare(&base, report(fewer...), nil); len(e.Missing) != 1 {
			t.Errorf("of %q: %+v", fewer, e)
		}
	}
}

func TestBrokenFile(t *testing.T) {
	t.Parallel()
	base := read("begin u-1 unittest", "test u-1 broken tests.test_a tests/test_a", "end u-1 fail")
	if f := Compare(&base, read("begin u-2 unittest", "test u-2 pass other tests/test_b.py", "end u-2 ok"), nil); f.OK() {
		t.Error("no test of the file that could not be read has run")
	}
	if f := Compare(&base, read("begin u-2 unittest", "test u-2 pass one tests/test_a.py", "end u-2 ok"), nil); !f.OK() {
		t.Errorf("its tests run now: %v", f.Missing)
	}
}

func TestNarrow(t *testing.T) {
	t.Parallel()
	base := read("begin u-1 unittest", "test u-1 pass same", "test u-1 pass at-0x7f01", "end u-1 ok")
	Narrow(&base, read("begin u-2 unittest", "test u-2 pass same", "test u-2 pass at-0x7f02", "end u-2 ok"))
	if len(base.Tests) != 1 || base.Tests["same"].Status != verify.Pass {
		t.Errorf("names that change from run to run are demanded: %v", base.Tests)
	}
}

func TestEnviron(t *testing.T) {
	t.Parallel()
	k := Kit{Dir: "/k"}
	env := k.Environ([]string{"PATH=/bin", "NODE_OPTIONS=--x"}, "/p", "/r")
	for _, want := range []string{"PATH=/k/bin:/bin", "NODE_OPTIONS=--require=/k/node/preload.cjs --x", "PYTHONPATH=/k/python", "RELAY_EVIDENCE=/p", "RELAY_EVIDENCE_ROOT=/r"} {
		if !slices.Contains(env, want) {
			t.Errorf("%q is not in %q", want, env)
		}
	}
	if env := (Kit{Dir: "/a b"}).Environ([]string{"PATH=/bin"}, "/p", "/r"); len(env) != 1 {
		t.Errorf("a path that the variables can't hold: %q", env)
	}
}
