package clitool

import (
	"strings"
	"testing"

	"github.com/paxiom/relay/plugins/internal/eventtest"
	"github.com/paxiom/relay/sdk"
)

func TestReport(t *testing.T) {
	var log eventtest.Log
	for _, e := range []Event{
		{Text: "on the way"}, {Notice: strings.Repeat("n", 600)}, {Command: Shell("ls | wc", nil)},
		{File: "/repo/a/b.go"}, {File: "/elsewhere/c.go"}, {Usage: &sdk.Usage{Input: sdk.Known(int64(7))}}, {},
	} {
		e.Report(&log, "tool", "/repo", true)
	}
	if log.Written() != "" {
		t.Errorf("a build gives no answer: %q", log.Written())
	}
	for _, want := range []string{"on the way", "tool: " + strings.Repeat("n", 500) + " …", "ls | wc", "a/b.go", "/elsewhere/c.go"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("%.40q is missing in\n%s", want, log.String())
		}
	}
	if strings.Contains(log.String(), "/repo/") || len(log.Usages()) != 1 || len(log.Lines()) != 5 {
		t.Errorf("%d: %s", len(log.Lines()), log.String())
	}
	Event{Text: "the answer"}.Report(&log, "tool", "/repo", false)
	if log.Written() != "the answer" {
		t.Errorf("%q", log.Written())
	}
}
