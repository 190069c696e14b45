package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/paxiom/relay/host"
)

// showCycle shows an audit cycle: where it stands, what was found, what came of it.
func showCycle(ctx context.Context, o *showOptions, repo *host.Repo, id string) error {
	s, err := repo.ShowCycle(ctx, id)
	if err != nil {
		return err
	}
	if o.diff {
		s.SplitDiff()
	}
	return o.app.end(s.ExitCode, s, func(p *printer) {
		c := s.Cycle
		p.row("cycle", c.UUID+"  "+c.StartedAt.Local().Format(time.DateTime))
		p.row("service", host.Safe(c.ServiceID)+fmt.Sprintf(", iteration %d of %d", c.Iteration, c.ConfigSnapshot.Cycle.MaxIterations))
		p.row("branch", host.Safe(c.Branch)+fmt.Sprintf(", from %.12s", c.BaseCommit))
		cycleReferences(p, c)
		cycleState(p, c)
		if s.CutOff {
			p.row("cut off", p.yellow("no relay works on it any more"))
		}
		cycleMatter(p, c)
		showRules(p, s.Rules)
		cycleFindings(p, s.Findings)
		for i, t := range c.Transitions {
			p.hang(p.dim(pad(first(i, "story"), 10))+" "+t.At.Local().Format(time.DateTime)+"  "+pad(string(t.To), 19)+" ", shorten(t.Note, 80))
		}
		cycleFiles(p, s.Files)
		if c.Tests != nil && !c.Tests.Passed {
			p.linef("\n%s", p.bold("The end of the tests' output"))
			for _, line := range lastLines(s.Tests, 20) {
				p.linef("  | %s", host.SafeLine(line))
			}
		}
		if len(s.Changes) > 0 {
			showDiff(ctx, o.app, p, s.Changes)
		}
		for _, n := range s.Next {
			if !o.diff || !strings.HasPrefix(n, "`relay show ") { // which is this
				p.next(n)
			}
		}
	})
}

func cycleReferences(p *printer, c *host.Cycle) {
	if c.Input == nil {
		return
	}
	p.row("references", fmt.Sprintf("%s as %.12s has them", plural(len(c.Input.References), "file", "files"), c.Input.ReferencesCommit))
	for i, l := range c.Input.LeftOut {
		if i == maxShown {
			p.row("", "and "+plain(len(c.Input.LeftOut)-i)+" more were left out")
			break
		}
		p.row("left out", host.Safe(l))
	}
}

func cycleFindings(p *printer, all []host.FindingLine) {
	for i, f := range all {
		p.hang(p.dim(pad(first(i, "findings"), 10))+" "+pad(f.ID, 4)+" "+pad(findingStatus(p, string(f.Status)), 9)+" "+pad(f.Section, 11)+" ", shorten(f.Line, 90))
	}
}

// cycleFiles are the files that a person may want to read.
func cycleFiles(p *printer, all []host.HistoryFile) {
	shown := 0
	for _, f := range all {
		if strings.HasPrefix(f.Name, "calls/") || strings.HasPrefix(f.Name, "journal/") {
			continue
		}
		p.row(first(shown, "files"), host.Safe(f.Path)+"  "+p.dim(size(f.Bytes)))
		shown++
	}
}

// findingStatus colors what an operator looks for.
func findingStatus(p *printer, s string) string {
	switch s {
	case "fixed":
		return p.green(s)
	case "returned":
		return p.red(s)
	case "new":
		return p.yellow(s)
	}
	return s
}

func lastLines(s string, n int) []string {
	all := strings.Split(strings.TrimRight(s, "\n"), "\n")
	return all[max(0, len(all)-n):]
}
