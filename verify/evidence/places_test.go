package evidence

import (
	"strings"
	"testing"
)

// A test of the same name in two folders is two tests: one that passes does not stand for the other.
func TestPlaces(t *testing.T) {
	report := func(lines ...string) *reader {
		r := newReader()
		for _, l := range lines {
			r.line(strings.ReplaceAll(l, " ", "\t"))
		}
		return r
	}
	a := []string{"begin u-1 unittest  a", "test u-1 pass m.T.test", "end u-1"}
	b := []string{"begin u-2 unittest  b", "test u-2 fail m.T.test", "end u-2"}
	again := []string{"begin u-2 unittest  a", "test u-2 pass m.T.test", "end u-2"}
	both, one, twice := report(append(a, b...)...).report(), report(a...).report(), report(append(a, again...)...).report()
	if f := Compare(&both, one, nil); len(f.Missing) != 1 || f.Missing[0].String() != "m.T.test (in 1 of 2 folders) did not run" {
		t.Errorf("%+v", f.Missing)
	}
	if f := Compare(&twice, one, nil); !f.OK() { // a second try in the same folder
		t.Errorf("%+v", f)
	}
	if f := Compare(&both, both, nil); len(f.Missing) != 0 {
		t.Errorf("%+v", f.Missing)
	}
}
