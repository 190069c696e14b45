package digest

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/paxiom/relay/host/internal/format"
	"github.com/paxiom/relay/host/internal/report"
)

// Markdown renders the digest for a chat, an issue or a pager.
func Markdown(d *Digest) []byte {
	var b bytes.Buffer
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	head := func(title string) { line("\n## %s\n", title) }
	line("# relay: %s\n", d.Span())
	line("%s\n\n%s", report.Text(d.Headline()), report.Span(d.Repository))
	items := func(title, none string, all []Item) {
		head(title)
		if len(all) == 0 {
			line("%s", none)
		}
		for _, i := range all {
			line("- **%s**%s", report.Text(i.What), because(i.Why))
			if i.Command != "" {
				line("  - %s", report.Sentence(i.Command))
			}
			if len(i.Runs) > 0 {
				line("  - runs: %s", spans(i.Runs))
			}
		}
	}
	items("Unverified", "Nothing that relay knows of.", d.Doubts)
	items("Waits for you", "Nothing.", d.Waiting)
	if len(d.Accepted) > 0 {
		items("Accepted", "", d.Accepted)
	}
	head("Landed")
	if len(d.Landed) == 0 {
		line("Nothing.")
	}
	for _, r := range d.Landed {
		undone := ""
		if r.Undone {
			undone = " (taken back since)"
		}
		line("- %s %s: %s%s; %s", report.Span(short(r.Commit)), report.Text(r.Intent), r.Radius(), undone, report.Sentence("`relay undo "+r.RunID+"`"))
	}
	head("Stopped")
	if len(d.Stopped) == 0 {
		line("Nothing.")
	}
	for _, s := range d.Stopped {
		line("- %s %s: %s%s", report.Span(string(s.Code)), report.Text(s.Title), report.Text(s.Intent), because(s.Why))
		line("  - %s", report.Sentence(s.Command))
	}
	head("Spent")
	line("- %s in %s", report.Text(Money(d.Spend.Total)), format.Count(d.Spend.Total.Calls, "call"))
	for _, p := range d.Spend.Providers {
		line("- %s: %s in %s", report.Span(p.Name), report.Text(Money(p.Sum)), format.Count(p.Calls, "call"))
	}
	for _, c := range d.Spend.Caps {
		line("- cap: %s", report.Text(c.Text))
	}
	if len(d.States) > 0 {
		head("Where the time went")
		for _, s := range d.States {
			line("- %s: %s", report.Text(strings.ToLower(s.State)), Took(s.MS))
		}
	}
	if d.Left > 0 {
		line("\n%s", report.Text(fmt.Sprintf("%d older runs of this time are left out.", d.Left)))
	}
	return b.Bytes()
}

func because(why string) string {
	if why == "" {
		return ""
	}
	return ": " + report.Text(why)
}

func short(commit string) string { return commit[:min(12, len(commit))] }

func spans(all []string) string {
	var out []string
	for i, s := range all {
		if i == 10 {
			out = append(out, fmt.Sprintf("and %d more", len(all)-i))
			break
		}
		out = append(out, report.Span(s))
	}
	return strings.Join(out, ", ")
}
