package main

import (
	"strings"
	"testing"

	"github.com/paxiom/relay/host"
)

// What a person does not read takes neither a row nor the label.
func TestCycleFiles(t *testing.T) {
	var b strings.Builder
	cycleFiles(newPrinter(&b, false), []host.HistoryFile{
		{Name: "calls/1.json", Path: "c/calls/1.json"}, {Name: "plan.md", Path: "c/plan.md"},
		{Name: "journal/1", Path: "c/journal/1"}, {Name: "revision.diff", Path: "c/revision.diff"},
	})
	var words []string
	for line := range strings.Lines(b.String()) {
		words = append(words, strings.Fields(line)[0])
	}
	if got := strings.Join(words, " "); got != "files c/revision.diff" {
		t.Errorf("%s:\n%s", got, b.String())
	}
}
