package evidence

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/paxiom/relay/verify"
)

func names(m map[string]bool) string {
	return strings.Join(slices.Sorted(maps.Keys(m)), " ")
}

func TestTestsOf(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ form, text, passed, failed, broken string }{
		"go": {verify.GoTestJSON, `{"Action":"start","Package":"p"}
# p
{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestB","Output":"--- PASS: TestB\n"}
{"Action":"fail","Package":"p","Test":"TestB"}
{"Action":"skip","Package":"p","Test":"TestC"}
{"Action":"fail","Package":"p"}
`, "p.TestA", "p p.TestB", ""},
		"go, once each way":  {verify.GoTestJSON, `{"Action":"fail","Package":"p","Test":"A"}` + "\n" + `{"Action":"pass","Package":"p","Test":"A"}` + "\n", "", "p.A", ""},
		"go, other way":      {verify.GoTestJSON, `{"Action":"pass","Package":"p","Test":"A"}` + "\n" + `{"Action":"fail","Package":"p","Test":"A"}` + "\n", "", "p.A", ""},
		"tap":                {verify.TAP, "TAP version 13\r\nok 1 - a b\r\nnot ok 2 - c # TODO later\r\nnot ok 3 d\n    not ok 1 - inner\nok\nokay\n# note\n1..4\n", "#1 a b#1", "d#1", ""},
		"tap, same name":     {verify.TAP, "1..3\nok 1 - a\nnot ok 2 - a\nok 3 - b # SKIP\n", "a#1", "a#2", ""},
		"tap, cut off":       {verify.TAP, "1..3\nok 1 - a\n", "a#1", "", "more or fewer"},
		"tap, no plan":       {verify.TAP, "ok 1 - a\n", "a#1", "", "more or fewer"},
		"tap, two plans":     {verify.TAP, "1..1\nok 1 - a\n1..1\n", "a#1", "", "plan"},
		"tap, bad plan":      {verify.TAP, "1..x\n", "", "", "plan"},
		"tap, bail":          {verify.TAP, "1..1\nok 1 - a\nBail out! no disk\n", "a#1", "", "given up"},
		"a line without end": {verify.TAP, strings.Repeat("x", maxTestLine+2), "", "", "too long"},
		"not known":          {"xml", "<a/>\n", "", "", "not known"},
	} {
		for _, step := range []int{1, 7, 1 << 20} {
			read := NewNames(tt.form)
			for chunk := range slices.Chunk([]byte(tt.text), step) {
				read.Write(chunk)
			}
			got := read.Tests()
			if names(got.Passed) != tt.passed || names(got.Failed) != tt.failed || !strings.Contains(got.Broken, tt.broken) || (got.Broken == "") != (tt.broken == "") {
				t.Errorf("%s, %d bytes at once: passed %q, failed %q, %q", name, step, names(got.Passed), names(got.Failed), got.Broken)
			}
		}
	}
}

// FuzzTests: no name in both sets, no growth without bound, no difference by how the
// text is cut into writes.
func FuzzTests(f *testing.F) {
	f.Add("1..2\nok 1 - a\nnot ok 2 - b\n", true)
	f.Add(`{"Action":"fail","Package":"p","Test":"A"}`+"\n", false)
	f.Fuzz(func(t *testing.T, text string, tap bool) {
		form := map[bool]string{true: verify.TAP, false: verify.GoTestJSON}[tap]
		all, parts := NewNames(form), NewNames(form)
		all.Write([]byte(text))
		for i := range len(text) {
			parts.Write([]byte{text[i]})
		}
		whole, cut := all.Tests(), parts.Tests()
		if !maps.Equal(whole.Passed, cut.Passed) || !maps.Equal(whole.Failed, cut.Failed) || whole.Broken != cut.Broken {
			t.Fatalf("%v %v %q\n%v %v %q", whole.Passed, whole.Failed, whole.Broken, cut.Passed, cut.Failed, cut.Broken)
		}
		for name := range whole.Failed {
			if whole.Passed[name] {
				t.Fatalf("%q passed and failed", name)
			}
		}
	})
}

// A check can write records for as long as it runs: relay keeps so much of them, and no more.
func TestEndlessReport(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 3900)
	for _, form := range []string{"begin\tm-%d%s\tm\t\t", "test\tm-1\tpass\tt%d%s\t", "saw\tm%d-1\tpass\tt%s"} {
		r := newReader()
		r.line("begin\tm-1\tm\t\t")
		for i := range 70_000 {
			r.line(fmt.Sprintf(form, i, long))
		}
		if kept := len(r.open) + len(r.saw) + len(r.by); r.report().Broken == "" || kept > 65_000 {
			t.Errorf("%q: %d records are kept, %q", form, kept, r.out.Broken)
		}
	}
}
