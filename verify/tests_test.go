package verify

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

func names(m map[string]bool) string {
	return strings.Join(slices.Sorted(maps.Keys(m)), " ")
}

func TestTestsOf(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ form, text, passed, failed, broken string }{
		"go": {GoTestJSON, `{"Action":"start","Package":"p"}
# p
{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestB","Output":"--- PASS: TestB\n"}
{"Action":"fail","Package":"p","Test":"TestB"}
{"Action":"skip","Package":"p","Test":"TestC"}
{"Action":"fail","Package":"p"}
`, "p.TestA", "p p.TestB", ""},
		"go, once each way":  {GoTestJSON, `{"Action":"fail","Package":"p","Test":"A"}` + "\n" + `{"Action":"pass","Package":"p","Test":"A"}` + "\n", "", "p.A", ""},
		"go, other way":      {GoTestJSON, `{"Action":"pass","Package":"p","Test":"A"}` + "\n" + `{"Action":"fail","Package":"p","Test":"A"}` + "\n", "", "p.A", ""},
		"tap":                {TAP, "TAP version 13\r\nok 1 - a b\r\nnot ok 2 - c # TODO later\r\nnot ok 3 d\n    not ok 1 - inner\nok\nokay\n# note\n1..4\n", "#1 a b#1", "d#1", ""},
		"tap, same name":     {TAP, "1..3\nok 1 - a\nnot ok 2 - a\nok 3 - b # SKIP\n", "a#1", "a#2", ""},
		"tap, cut off":       {TAP, "1..3\nok 1 - a\n", "a#1", "", "more or fewer"},
		"tap, no plan":       {TAP, "ok 1 - a\n", "a#1", "", "more or fewer"},
		"tap, two plans":     {TAP, "1..1\nok 1 - a\n1..1\n", "a#1", "", "plan"},
		"tap, bad plan":      {TAP, "1..x\n", "", "", "plan"},
		"tap, bail":          {TAP, "1..1\nok 1 - a\nBail out! no disk\n", "a#1", "", "given up"},
		"a line without end": {TAP, strings.Repeat("x", maxTestLine+2), "", "", "too long"},
		"not known":          {"xml", "<a/>\n", "", "", "not known"},
	} {
		for _, step := range []int{1, 7, 1 << 20} {
			got := NewTests(tt.form)
			for chunk := range slices.Chunk([]byte(tt.text), step) {
				got.Write(chunk)
			}
			if names(got.Passed) != tt.passed || names(got.Failed) != tt.failed || !strings.Contains(got.Broken(), tt.broken) || (got.Broken() == "") != (tt.broken == "") {
				t.Errorf("%s, %d bytes at once: passed %q, failed %q, %q", name, step, names(got.Passed), names(got.Failed), got.Broken())
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
		form := map[bool]string{true: TAP, false: GoTestJSON}[tap]
		whole, cut := NewTests(form), NewTests(form)
		whole.Write([]byte(text))
		for i := range len(text) {
			cut.Write([]byte{text[i]})
		}
		if !maps.Equal(whole.Passed, cut.Passed) || !maps.Equal(whole.Failed, cut.Failed) || whole.Broken() != cut.Broken() {
			t.Fatalf("%v %v %q\n%v %v %q", whole.Passed, whole.Failed, whole.Broken(), cut.Passed, cut.Failed, cut.Broken())
		}
		for name := range whole.Failed {
			if whole.Passed[name] {
				t.Fatalf("%q passed and failed", name)
			}
		}
	})
}
