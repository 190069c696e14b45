package main

import (
	"strings"
	"testing"
)

// What stands in a column is as wide as it looks, in whatever script.
func TestColumns(t *testing.T) {
	for text, want := range map[string]int{
		"plain": 5, "日本語.txt": 10, "e\u0301": 1, "\x1b[31mred\x1b[0m": 3, "مرحبا": 5, "שלום\u200e": 4, "": 0,
	} {
		if got := columns(text); got != want {
			t.Errorf("%q: %d columns, want %d", text, got, want)
		}
		if got := columns(pad(text, 12)); got != 12 {
			t.Errorf("%q padded: %d columns", text, got)
		}
	}
	for _, c := range []struct {
		text string
		n    int
		want string
	}{
		{"short", 10, "short"}, {"one\n two", 10, "one two"}, {"much too long", 8, "much to…"}, {"日本語日本語", 8, "日本語…"}, {"cafe\u0301s", 5, "cafe\u0301s"}, {"cafe\u0301s and", 5, "cafe\u0301…"},
	} {
		if got := shorten(c.text, c.n); got != c.want || columns(got) > c.n {
			t.Errorf("%q in %d columns: %q", c.text, c.n, got)
		}
	}
}

func TestTable(t *testing.T) {
	rows := [][]string{{"file", "size"}, {"日本語.txt", "1"}, {"ملف.txt", "22"}, {"e\u0301.txt", "333"}}
	for _, tty := range []bool{false, true} {
		var b strings.Builder
		p := newPrinter(&b, false)
		p.tty = tty
		p.table(rows)
		lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
		if len(lines) != len(rows) {
			t.Fatalf("%q", lines)
		}
		for i, line := range lines {
			if at := columns(line) - columns(rows[i][1]); at != 12 {
				t.Errorf("on a terminal %v: the second column begins at %d: %q", tty, at, line)
			}
		}
		// A right-to-left name is kept apart from what follows, for a terminal only: programs read the rest.
		if closed := strings.Contains(lines[2], "ملف.txt\u200e"); closed != tty {
			t.Errorf("on a terminal %v: %q", tty, lines[2])
		}
	}
}
