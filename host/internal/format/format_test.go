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
