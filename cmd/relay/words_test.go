package main

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"
)

// What somebody new has to take in: the overview, its commands, and the words of the documentation.
func TestLittleToLearn(t *testing.T) {
	a, _, _ := testApp(nil)
	root := newRootCmd(a)
	var b bytes.Buffer
	help(newPrinter(&b, false), root)
	if n := strings.Count(b.String(), "\n"); n > 24 {
		t.Errorf("relay --help has %d lines; a screen has 24", n)
	}
	_, list, _ := strings.Cut(b.String(), "\nCommands\n")
	list, _, _ = strings.Cut(list, "\n\n")
	if n := len(strings.Split(list, "\n")); n != 10 {
		t.Errorf("relay --help shows %d commands, want 10:\n%s", n, list)
	}
	page := func(name string) string {
		text, err := os.ReadFile("../../docs/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	words := regexp.MustCompile(`(?m)^\| \*\*(\w+)\*\* \|`).FindAllStringSubmatch(page("concepts/glossary.md"), -1)
	if len(words) == 0 || len(words) > 12 {
		t.Errorf("the glossary has %d words; it may have 12", len(words))
	}
	first, _, ok := strings.Cut(page("start-here.md"), "\n## 5")
	if !ok {
		t.Fatal("start-here.md has no section after the first tick")
	}
	first = regexp.MustCompile("(?s)```.*?```|`[^`]*`|\\]\\([^)]*\\)|<!--.*?-->").ReplaceAllString(first, "")
	var used []string
	for _, w := range words {
		if regexp.MustCompile(`(?i)\b` + w[1] + `(s|es)?\b`).MatchString(first) {
			used = append(used, w[1])
		}
	}
	if len(used) > 6 {
		t.Errorf("the way to a first commit needs %d words, at most 6 should do: %s", len(used), strings.Join(used, ", "))
	}
}
