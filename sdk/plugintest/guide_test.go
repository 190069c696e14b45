package plugintest

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the made parts of the guide anew")

// The author's guide shows the real example and the real rules.
func TestGuide(t *testing.T) {
	const guide = "../../docs/plugin-authors/README.md"
	raw, err := os.ReadFile(guide)
	if err != nil {
		t.Fatal(err)
	}
	echo, err := os.ReadFile("../example/relay-plugin-echo/main.go")
	if err != nil {
		t.Fatal(err)
	}
	var rules strings.Builder
	rules.WriteString("| rule | |\n| --- | --- |\n")
	for _, r := range Rules {
		fmt.Fprintf(&rules, "| [%s](rules.md#%s) | %s |\n", r.ID, strings.ToLower(r.ID), r.Text)
	}
	want := between(t, string(raw), "echo", "```go\n"+string(echo)+"```\n")
	want = between(t, want, "rules", rules.String())
	current(t, guide, string(raw), want)
}

// The page that verdicts link to has a heading for each rule.
func TestRulesPage(t *testing.T) {
	const page = "../../docs/plugin-authors/rules.md"
	raw, err := os.ReadFile(page)
	if err != nil && !*update {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("# The rules of a plugin\n\n<!-- Made from sdk/plugintest/rules.go by its test; run make generate, do not edit. -->\n\n" +
		"`relay plugin test`, `relay plugin verify` and `plugintest.Run` try the same rules. B rules are about what a plugin says of itself, S rules\n" +
		"about calls, F rules about failures, P rules about its process.\n")
	for _, r := range Rules {
		fmt.Fprintf(&b, "\n## %s\n\n**%s**\n\n%s\n", r.ID, r.Text, r.Help)
	}
	b.WriteString("\n## Cases\n\n**A call ends as its author says.**\n\n" +
		"A case is a call that may be made: it costs nothing and harms nothing. Without cases only the rules that need no call can be tried.\n" +
		"[The author's guide](README.md#cases) has their form.\n")
	current(t, page, string(raw), b.String())
}

// current writes a page anew with -update, and otherwise wants it to be what it would be.
func current(t *testing.T, page, got, want string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if want != got {
		t.Errorf("%s is out of date: run `make generate`", page)
	}
}

// between replaces what stands between <!-- name: … --> and <!-- /name -->.
func between(t *testing.T, text, name, content string) string {
	t.Helper()
	head, rest, ok := strings.Cut(text, "<!-- "+name+":")
	comment, rest, ok2 := strings.Cut(rest, "-->\n")
	_, tail, ok3 := strings.Cut(rest, "<!-- /"+name+" -->")
	if !ok || !ok2 || !ok3 {
		t.Fatalf("the guide has no part %q", name)
	}
	return head + "<!-- " + name + ":" + comment + "-->\n" + content + "<!-- /" + name + " -->" + tail
}
