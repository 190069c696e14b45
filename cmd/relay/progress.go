package main

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/paxiom/relay/cmd/relay/internal/screen"
	"github.com/paxiom/relay/host"
)

// progress shows a running workflow on stderr: one line for each finished state, and on a
// terminal a live region under them. It never writes to stdout.
type progress struct {
	mu      sync.Mutex
	p       *printer
	live    *screen.Live // nil: plain lines
	verbose bool
}

// newProgress begins to show a workflow of a repository; nil is none that has budgets.
func newProgress(a *app, repo *host.Repo) *progress {
	screen.Suspendable()
	pr := &progress{verbose: a.verbose, p: a.printer(a.err, a.errTTY)}
	switch {
	case a.quiet:
		pr.p = newPrinter(io.Discard, false)
	case a.errTTY && a.capable() && a.getenv("CI") == "":
		o := screen.LiveOptions{Out: a.err, Size: a.size, Foreground: a.foreground, Color: pr.p.color, Reflows: screen.Reflows(a.getenv)}
		if repo != nil {
			o.Budgets = func() []host.BudgetLine { return repo.Budgets() }
		}
		pr.live = screen.NewLive(o)
		pr.p = &printer{w: pr.live, color: pr.p.color, width: pr.p.width}
	}
	return pr
}

// Observe takes one event of the workflow.
func (pr *progress) Observe(e host.Event) {
	pr.mu.Lock()
	defer pr.mu.Unlock()
	if pr.live != nil {
		pr.live.Observe(e)
	}
	switch e.Kind {
	case host.EventFinished:
		mark := pr.p.green("✓")
		if e.Failed {
			mark = pr.p.red("✗")
		}
		pr.line(fmt.Sprintf("%s %s  %s", mark, pad(strings.ToLower(e.State), 12), pad(duration(e.Elapsed), 8)), e.Text)
	case host.EventPlugin:
		if pr.verbose && e.Plugin != "" {
			pr.line("  "+host.Safe(e.Plugin)+":", e.Text)
		}
	case host.EventNotice:
		pr.line(pr.p.yellow("!"), e.Text)
	case host.EventWaiting:
		pr.line(pr.p.yellow("…"), "waiting until "+e.Until.Local().Format(time.DateTime)+" ("+countdown(e.Until.Sub(e.At))+"): "+e.Text+"; `relay wake` asks again now")
	}
}

// note prints a remark of relay's own.
func (pr *progress) note(text string) {
	pr.mu.Lock()
	defer pr.mu.Unlock()
	pr.line(pr.p.dim("·"), text)
}

// line prints a line that stays. Texts of plugins are made safe.
func (pr *progress) line(head, text string) {
	if text == "" {
		pr.p.linef("%s", strings.TrimRight(head, " "))
		return
	}
	pr.p.hang(head+" ", screen.Text(text))
}

// close ends the live region; what was printed stays. It can be called again.
func (pr *progress) close() {
	if pr.live != nil {
		pr.live.Close()
	}
}

func money(usd float64) string { return screen.Money(usd) }

func countdown(d time.Duration) string { return screen.Countdown(d) }
