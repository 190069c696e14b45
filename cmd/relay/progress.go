package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/paxiom/relay/host"
)

// progress shows a running workflow on stderr: on a terminal one live line under
// the finished states, otherwise plain lines. It never writes to stdout.
type progress struct {
	mu      sync.Mutex
	p       *printer
	live    bool
	verbose bool
	width   func() int

	state   string
	since   time.Time
	until   time.Time // of a wait
	plugin  string
	text    string
	usage   string
	painted bool
	stop    chan struct{}
	done    chan struct{}
}

// redraw is how often the live line is painted: the clock on it ticks visibly,
// and a flood of events costs nothing.
const redraw = 200 * time.Millisecond

func newProgress(a *app) *progress {
	pr := &progress{width: a.width, verbose: a.verbose, p: a.printer(a.err, a.errTTY)}
	if a.quiet {
		pr.p = newPrinter(io.Discard, false)
		return pr
	}
	pr.live = a.errTTY && a.capable() && a.getenv("CI") == ""
	if pr.live {
		pr.stop, pr.done = make(chan struct{}), make(chan struct{})
		go pr.paintLoop()
	}
	return pr
}

// Observe takes one event of the workflow.
func (pr *progress) Observe(e host.Event) {
	pr.mu.Lock()
	defer pr.mu.Unlock()
	switch e.Kind {
	case host.EventEntered:
		pr.state, pr.since, pr.plugin, pr.text, pr.until = e.State, time.Now(), e.Plugin, "", time.Time{}
	case host.EventFinished:
		pr.line(fmt.Sprintf("%s %s  %s", pr.p.green("✓"), pad(strings.ToLower(e.State), 12), pad(duration(e.Elapsed), 8)), e.Text)
		pr.state = ""
	case host.EventPlugin:
		pr.plugin, pr.text = e.Plugin, e.Text
		if pr.verbose {
			pr.line("  "+host.Safe(e.Plugin)+":", e.Text)
		}
	case host.EventSpent:
		pr.usage = usage(e)
	case host.EventNotice:
		pr.line(pr.p.yellow("!"), e.Text)
	case host.EventWaiting:
		pr.line(pr.p.yellow("…"), "waiting until "+e.Until.Local().Format(time.DateTime)+" ("+countdown(e.Until.Sub(e.At))+"): "+e.Text+"; `relay wake` asks again now")
		pr.state, pr.until, pr.plugin, pr.text = "waiting", e.Until, "", e.Text
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
	pr.erase()
	pr.p.linef("%s", strings.TrimRight(head+" "+host.Safe(text), " "))
}

func usage(e host.Event) string {
	var parts []string
	if u := e.Usage; u.InputTokens != nil && u.OutputTokens != nil {
		parts = append(parts, strconv.FormatInt(*u.InputTokens+*u.OutputTokens, 10)+" tokens")
	}
	if c := e.Usage.CostUSD; c != nil {
		parts = append(parts, "$"+money(*c))
	}
	return strings.Join(parts, " ")
}

func money(usd float64) string {
	if usd < 1 {
		return strconv.FormatFloat(usd, 'f', 4, 64)
	}
	return strconv.FormatFloat(usd, 'f', 2, 64)
}

func (pr *progress) paintLoop() {
	defer close(pr.done)
	tick := time.NewTicker(redraw)
	defer tick.Stop()
	for {
		select {
		case <-pr.stop:
			return
		case now := <-tick.C:
			pr.mu.Lock()
			pr.paint(now)
			pr.mu.Unlock()
		}
	}
}

// paint draws the live line: state, elapsed, what was spent, what the plugin does.
func (pr *progress) paint(now time.Time) {
	if pr.state == "" {
		return
	}
	parts := []string{strings.ToLower(pr.state), duration(now.Sub(pr.since).Truncate(time.Second / 10))}
	if !pr.until.IsZero() {
		parts[1] = countdown(pr.until.Sub(now)) + " left"
	}
	for _, s := range []string{pr.usage, pr.plugin, pr.text} {
		if s != "" {
			parts = append(parts, host.Safe(s))
		}
	}
	width := pr.width()
	if width <= 0 {
		width = 80
	}
	pr.erase()
	pr.p.write("  " + pr.p.dim(shorten(strings.Join(parts, "  "), width-3)))
	pr.painted = true
}

// countdown writes what is left of a wait: "4h 59m", "2m 05s".
func countdown(d time.Duration) string {
	s := int(max(d, 0).Round(time.Second) / time.Second)
	if s >= 3600 {
		return fmt.Sprintf("%dh %02dm", s/3600, s/60%60)
	}
	if s >= 60 {
		return fmt.Sprintf("%dm %02ds", s/60, s%60)
	}
	return fmt.Sprintf("%ds", s)
}

func (pr *progress) erase() {
	if pr.painted {
		pr.p.write("\r\x1b[K")
		pr.painted = false
	}
}

// close ends the live line; what was printed stays.
func (pr *progress) close() {
	if pr.live {
		close(pr.stop)
		<-pr.done
	}
	pr.mu.Lock()
	defer pr.mu.Unlock()
	pr.erase()
}
