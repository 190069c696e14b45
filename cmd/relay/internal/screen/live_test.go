package screen

import (
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/paxiom/relay/host"
)

var scenes = map[string]func(){"run": sceneRun, "kill": sceneKill}

// noon is when every scene plays: its clock stands still.
var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func num[N any](n N) *N { return &n }

func onTerminal() *Live {
	return NewLive(LiveOptions{Out: os.Stderr, Foreground: func() bool { return Foreground(int(os.Stderr.Fd())) }, Color: os.Getenv("NO_COLOR") == "", Reflows: Reflows(os.Getenv), Now: func() time.Time { return noon },
		Size: func() (int, int) {
			w, h, _ := Size(os.Stderr)
			return w, h
		},
		Budgets: func() []host.BudgetLine {
			return []host.BudgetLine{{Name: "ticks", Used: 3, Max: 20}, {Name: "dollars", Used: 1.25, Max: 5}, {Name: "verify runs", Used: 7}}
		}})
}

// sceneRun is a tick: a state that ends, one under way with everything that can be shown,
// another that ends, and the end.
func sceneRun() {
	l := onTerminal()
	defer l.Close()
	fmt.Fprintln(l, "✓ preflight     12 ms")
	l.Observe(host.Event{Kind: host.EventLimit, RunID: "r", Text: "tick", Until: noon.Add(27 * time.Minute)})
	l.Observe(host.Event{Kind: "entered", RunID: "r", State: "BUILD", At: noon.Add(-12300 * time.Millisecond)})
	l.Observe(host.Event{Kind: host.EventLimit, RunID: "r", State: "BUILD", Plugin: "claude-code", Text: "builder", Until: noon.Add(4*time.Minute + 10*time.Second)})
	l.Observe(host.Event{Kind: host.EventPlugin, RunID: "r", State: "BUILD", Plugin: "claude-code", Text: "edits src/שלום.go\x1b[2J\u202e 世界 and more text than a narrow window has room for"})
	l.Observe(host.Event{Kind: "spent", RunID: "r", State: "BUILD", Call: "c", Soon: host.Usage{InputTokens: num(int64(12000)), OutputTokens: num(int64(345)), CostUSD: num(0.0531)}})
	step(1)
	fmt.Fprintln(l, "! a line that stays, while the region continues")
	step(2)
	l.Observe(host.Event{Kind: host.EventFinished, RunID: "r", State: "BUILD"})
	fmt.Fprintln(l, "✓ build         12.3 s   it is done")
	step(3)
}

// sceneKill ends as a crash does: nothing is put right.
func sceneKill() {
	l := onTerminal()
	l.Observe(host.Event{Kind: "entered", RunID: "r", State: "BUILD", At: noon})
	step(1)
	fmt.Fprintln(l, "the last line")
	signal.Reset()
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
}

func TestLiveRegion(t *testing.T) {
	for _, size := range [][2]int{{100, 14}, {60, 14}} {
		t.Run(fmt.Sprint(size[0]), func(t *testing.T) {
			t.Parallel()
			name := fmt.Sprintf("run-%d", size[0])
			s := perform(t, "run", size[0], size[1])
			s.golden(name, "12.3 s", "dollars")
			s.next()
			s.golden(name+"-line", "a line that stays", "dollars")
			s.next()
			s.golden(name+"-finished", "it is done")
			s.next()
			s.golden(name+"-over", "over")
		})
	}
}

// A window that gets narrower or wider has the region in its new width, once.
func TestLiveResize(t *testing.T) {
	t.Parallel()
	s := perform(t, "run", 132, 14)
	s.golden("resize-132", "12.3 s", "dollars")
	s.Tmux("resize-window", "-x", "70", "-y", "14")
	s.golden("resize-70", "12.3 s", "dollars")
	s.Tmux("resize-window", "-x", "132", "-y", "20")
	s.golden("resize-back", "12.3 s", "dollars")
	if all := s.Tmux("capture-pane", "-p", "-S", "-50"); !strings.Contains(all, "✓ preflight     12 ms\n  build") {
		t.Errorf("what stood above the region is gone:\n%s", all)
	}
}

// What ends a process at once leaves a terminal that works: the last line is there, the
// cursor is seen, and input is read and echoed as before.
func TestLiveKilled(t *testing.T) {
	t.Parallel()
	s := perform(t, "kill", 80, 10)
	s.Shows("build  0.0 s")
	s.next()
	s.Shows("the last line", "over")
	s.works()
}

// works reports whether the terminal is as a shell wants it.
func (s *stage) works() {
	s.t.Helper()
	if got := strings.TrimSpace(s.Tmux("display-message", "-p", "#{cursor_flag} #{alternate_on} #{keypad_flag}")); got != "1 0 0" {
		s.t.Errorf("cursor shown, alternate screen, keypad: %s", got)
	}
	s.Keys("echo hello", "Enter")
	s.Shows("echo hello")
}

// No line is wider than its window and the region no higher, whatever stands in it.
func TestFrameFits(t *testing.T) {
	var n host.Now
	for i, name := range []string{"世界世界世界世界世界世界世界", "\x1b]0;title\x07", "שלום עולם", strings.Repeat("x", 500), "a", "b"} {
		n.Take(host.Event{Kind: "entered", RunID: fmt.Sprint(i), State: "BUILD", At: noon, Plugin: name})
		n.Take(host.Event{Kind: host.EventPlugin, RunID: fmt.Sprint(i), State: "BUILD", Plugin: name, Text: "runs " + name})
		n.Take(host.Event{Kind: host.EventLimit, Text: "tick", Until: noon.Add(time.Minute)})
		for width := 1; width < 200; width += 7 {
			for height := 1; height < 12; height++ {
				lines := frame(&n, []host.BudgetLine{{Name: "dollars", Used: 9, Max: 5}}, noon, width, height)
				for _, line := range lines {
					if Columns(line) >= max(width, 2) || strings.ContainsAny(line, "\x1b\x07\n") {
						t.Errorf("%d columns of %d: %q", Columns(line), width, line)
					}
				}
				if len(lines) != min(len(lines), tallest(height)) || height > 3 && width > 40 && len(lines) < 2 {
					t.Errorf("%d of %d rows: %q", len(lines), height, lines)
				}
			}
		}
	}
}
