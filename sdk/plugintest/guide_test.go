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
		fmt.Fprintf(&rules, "| %s | %s |\n", r.ID, r.Text)
	}
	want := between(t, string(raw), "echo", "```go\n"+string(echo)+"```\n")
	want = between(t, want, "rules", rules.String())
	if *update {
		if err := os.WriteFile(guide, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if want != string(raw) {
		t.Errorf("%s is out of date: run `go test ./sdk/plugintest -run TestGuide -update`", guide)
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
