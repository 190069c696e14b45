package mutate

import (
	"strings"
	"testing"
)

func TestMake(t *testing.T) {
	const text = "# a < b\ndef f(a, b):\n    '''1 == 1\n    2 == 2\n    '''\n    if a < b and \"3 < 4\":\n        return a + 12  # or 5\n    return True\n"
	var got []string
	for _, m := range Make("f.py", text, nil, 100) {
		was, now := strings.Split(text, "\n"), strings.Split(m.Text, "\n")
		for i := range was {
			if (was[i] != now[i]) != (i+1 == m.Line) {
				t.Errorf("line %d of %+v", i+1, m)
			}
		}
		got = append(got, m.What)
	}
	if want := "< becomes <=, and becomes or, + becomes -, 12 becomes 13, True becomes False"; strings.Join(got, ", ") != want {
		t.Errorf("got %q", got)
	}
	if n := len(Make("f.py", text, nil, 2)); n != 2 {
		t.Errorf("%d of at most 2", n)
	}
	if Make("f.xyz", text, nil, 9) != nil || Known("f.xyz") {
		t.Error("an unknown language has mutants")
	}
}
