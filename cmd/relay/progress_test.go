package main

import (
	"strings"
	"testing"
	"time"

	"github.com/paxiom/relay/host"
)

func events() []host.Event {
	in, out, usd := int64(1200), int64(300), 0.0125
	spent := host.Event{Kind: "spent"}
	spent.Usage.InputTokens, spent.Usage.OutputTokens, spent.Usage.CostUSD = &in, &out, &usd
	return []host.Event{
		{Kind: "entered", State: "ORCHESTRATE", Plugin: "claude"},
		{Kind: host.EventPlugin, Plugin: "claude", Text: "thinking\x1b[31m \u202eabout it\r\n"},
		spent,
		{Kind: host.EventFinished, State: "ORCHESTRATE", Elapsed: 1234 * time.Millisecond, Text: "fix-add: make \x1b]0;owned\x07it pass"},
		{Kind: host.EventNotice, Text: "the box does not cover the network"},
	}
}

func TestPlainProgress(t *testing.T) {
	for name, c := range map[string]struct {
		env            map[string]string
		tty            bool
		quiet, verbose bool
		want           []string
		lines          int
	}{
		"piped":   {nil, false, false, false, []string{"✓ orchestrate", "1.2 s", "fix-add: make"}, 2},
		"CI":      {map[string]string{"CI": "1", "TERM": "xterm"}, true, false, false, []string{"✓ orchestrate"}, 2},
		"dumb":    {map[string]string{"TERM": "dumb"}, true, false, false, []string{"✓ orchestrate"}, 2},
		"verbose": {nil, false, false, true, []string{"claude: thinking", "✓ orchestrate"}, 3},
		"quiet":   {nil, false, true, false, nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			a, stdout, stderr := testApp(c.env)
			a.errTTY, a.quiet, a.verbose, a.noColor = c.tty, c.quiet, c.verbose, true
			pr := newProgress(a, nil)
			for _, e := range events() {
				pr.Observe(e)
			}
			pr.close()
			got := stderr.String()
			if strings.ContainsAny(got, "\x1b\r\u202e\x07") {
				t.Errorf("control characters in %q", got)
			}
			if n := strings.Count(got, "\n"); n != c.lines {
				t.Errorf("%d lines, want %d: %q", n, c.lines, got)
			}
			for _, w := range c.want {
				if !strings.Contains(got, w) {
					t.Errorf("missing %q in %q", w, got)
				}
			}
			if stdout.Len() > 0 {
				t.Errorf("progress on stdout: %q", stdout)
			}
		})
	}
}
