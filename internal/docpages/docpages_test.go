package docpages

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const page = "# One page\n\n<!-- test\nmkdir a\n-->\n<!-- test: exit 1 2 -->\n<!-- test: with RUN=$(ls) -->\n```sh\nrelay show RUN \\\n  --json  # RUNNER\n# a comment\nrelay\n```\n" +
	"\n- a list\n\n  ```console\n  $ echo a\n  > b\n  a\n  ...\n  $ true\n  ```\n\n<!-- test: skip needs an account -->\n```sh\nx\n```\n\n```json\n{}\n```\n" +
	"\n## It's `code`, and [more](other.md)\n\n## Twice\n## Twice\n[a](#twice-1) `[no](nowhere.md)` [b](other.md#x)\n"

func TestParse(t *testing.T) {
	p, err := Parse("p.md", page)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Blocks) != 5 {
		t.Fatalf("%d blocks: %+v", len(p.Blocks), p.Blocks)
	}
	script, shell, console, skipped := p.Blocks[0], p.Blocks[1], p.Blocks[2], p.Blocks[3]
	if !script.Script || script.Text != "mkdir a\n" {
		t.Errorf("script %+v", script)
	}
	if got := shell.Typed(); !slices.Equal(shell.Exit, []int{1, 2}) || shell.Count() != 2 || len(got) != 1 || got[0].Command != "relay show $(ls) \\\n  --json  # RUNNER\n# a comment\nrelay\n" {
		t.Errorf("sh %+v: %q, %d commands", shell, got, shell.Count())
	}
	if got := console.Typed(); len(got) != 2 || got[0].Command != "echo a\nb\n" || !slices.Equal(got[0].Output, []string{"a", "..."}) || got[1].Command != "true\n" {
		t.Errorf("console %+v", got)
	}
	if skipped.Skip != "needs an account" || p.Blocks[4].Commands() {
		t.Errorf("skipped %+v", p.Blocks[3:])
	}
}

func TestParseFile(t *testing.T) {
	p, err := Parse("p.md", "<!-- test: file a/b.sh -->\n```sh\nls\n```\n")
	if err != nil || len(p.Blocks) != 1 || p.Blocks[0].File != "a/b.sh" || p.Blocks[0].Commands() {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestParseRefuses(t *testing.T) {
	for _, text := range []string{
		"```sh\nnever ends\n", "<!-- test\nnever ends\n", "<!-- test: skipp x -->\n", "<!-- test: exit soon -->\n",
		"<!-- test: with X -->\n", "<!-- test: skip why -->\n```json\n{}\n```\n", "<!-- test: exit 2 -->\nno block\n", "<!-- test: file x -->\nno block\n",
	} {
		if p, err := Parse("p.md", text); err == nil {
			t.Errorf("%q is taken: %+v", text, p)
		}
	}
}

func TestShows(t *testing.T) {
	printed := "last run   20261121-160846-38v4rssb  SUCCESS\n✓ build         54 ms   done\nmore\ncommit 8587368779e4\n"
	for text, ok := range map[string]bool{
		"last run 20270101-000000-aaaaaaaa SUCCESS\n✓ build 1.2 s done\n...\ncommit 1234567": true,
		"":                                       true,
		"commit 1234567\n✓ build 1.2 s done":     false, // another order
		"last run 20270101-000000-aaaaaaaa STOP": false,
		"more and more":                          false,
	} {
		if err := (Typed{Output: strings.Split(text, "\n")}).Shows(printed); (err == nil) != ok {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestLinks(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{"p.md", "other.md"} {
		if err := os.WriteFile(filepath.Join(root, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p, err := Parse("p.md", page+"[gone](gone.md) [out](https://example.org/x) [self](#its-code-and-more)")
	if err != nil {
		t.Fatal(err)
	}
	other, lost := &Page{Path: "other.md", Text: "# Y"}, &Page{Path: "lost.md"}
	pages := []*Page{p, other, lost}
	checked, broken := CheckLinks(root, pages)
	want := []string{"p.md: other.md#x: other.md has no such heading", "p.md: gone.md: there is no gone.md"}
	if checked != 5 || !slices.Equal(broken, want) {
		t.Errorf("%d links, broken: %q", checked, broken)
	}
	if left := Unreached(pages, "p.md"); !slices.Equal(left, []string{"lost.md"}) {
		t.Errorf("not reached: %q", left)
	}
}
