package main

import (
	"strings"
	"testing"

	"github.com/paxiom/relay/host/diag"
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

// What is cut off a text of somebody else ends as it is read, and nothing of it is escaped twice.
func TestShortenHostile(t *testing.T) {
	got := shorten("\x1b[31mمرحبا and much more", 14)
	if strings.Contains(got, "\x1b") || !strings.HasSuffix(got, "…\u200e") {
		t.Errorf("%q", got)
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

// On a terminal no word is broken: further lines stand below where their text began, a
// command stays whole, and a word that is longer than a line is left to the terminal.
func TestFoldedOnATerminal(t *testing.T) {
	var b strings.Builder
	p := newPrinter(&b, false)
	p.tty, p.width = true, 40
	p.row("kept", "what was built, as `relay salvage 20261121-225146-5hv8kvag` has it")
	p.row("files", "/home/somebody/with/a/very/long/path/to/diff.patch  363 B")
	p.fault(&diag.Error{What: "there is no configuration here", Why: "日本語 に 広い 文字 が 並ぶ שלום", Fix: "`relay init` writes one", Code: "BLOCKED_MISSING_CONFIG"})
	p.table([][]string{
		{"20261121-225146-5hv8kvag", "2026-11-21", "SUCCESS", "Make add.sh add, so that its test passes"},
		{"20261121-225145-nfcygh69", "2026-11-20", "STOP", "日本"}})
	p.table([][]string{{"claude", "ok", "asks Anthropic's Claude models, through the API"}})
	p.prose("Two lines that were broken for a\nhundred columns, and no more.\n\nShort.")
	const want = `kept       what was built, as
           ` + "`relay salvage 20261121-225146-5hv8kvag`" + `
           has it
files      /home/somebody/with/a/very/long/path/to/diff.patch
           363 B
error: there is no configuration here
  why: 日本語 に 広い 文字 が 並ぶ שלום` + "\u200e\n" + `  fix: ` + "`relay init`" + ` writes one
  code: BLOCKED_MISSING_CONFIG
20261121-225146-5hv8kvag  2026-11-21
    SUCCESS
    Make add.sh add, so that its test
    passes
20261121-225145-nfcygh69  2026-11-20
    STOP
    日本
claude  ok  asks Anthropic's Claude
            models, through the API
Two lines that were broken for a
hundred columns, and no more.

Short.
`
	if got := b.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	b.Reset()
	p.tty, p.width = false, 0
	p.row("why", strings.Repeat("word ", 60))
	if strings.Count(b.String(), "\n") != 1 {
		t.Errorf("what a program reads was folded: %q", b.String())
	}
}
