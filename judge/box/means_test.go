package box_test

import (
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	. "github.com/paxiom/relay/judge/box"
)

var update = flag.Bool("update", false, "write the table of gaps into the documentation")

// The documentation lists what the means do not stop, word for word.
func TestGapTable(t *testing.T) {
	const page = "../../docs/security.md"
	const begin, end = "<!-- made from the table in judge/box/means.go: make generate -->\n", "<!-- end -->\n"
	text, err := os.ReadFile(page)
	if os.IsNotExist(err) {
		t.Skip("the documentation is not here: the tests run as an ordinary user elsewhere")
	}
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatal("the place of the table is gone")
	}
	want := before + begin + gapTable() + end + after
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if string(text) != want {
		t.Error("the table differs: make generate")
	}
}

func TestEveryMeansHasItsGaps(t *testing.T) {
	for i, means := range Ladder() {
		if len(GapsOf(means)) == 0 {
			t.Errorf("%s claims to stop everything", means)
		}
		for j, required := range Ladder() {
			if AtLeast(means, required) != (i <= j) {
				t.Errorf("%s for %s", means, required)
			}
		}
		if !AtLeast(means, "") || AtLeast("none", means) {
			t.Errorf("%s: what is required", means)
		}
	}
}

// gapTable is the table of all gaps in Markdown, for the documentation.
func gapTable() string {
	var out strings.Builder
	out.WriteString("| what is not stopped | overlay | landlock | copy |\n| --- | :-: | :-: | :-: |\n")
	for _, g := range Gaps {
		out.WriteString("| " + g.Text + " |")
		for _, means := range Ladder() {
			if slices.Contains(g.Means, means) {
				out.WriteString(" open |")
			} else {
				out.WriteString(" |")
			}
		}
		out.WriteString("\n")
	}
	return out.String()
}
