package screen

import (
	"bytes"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/paxiom/relay/host"
)

func init() {
	scenes["many"], scenes["long"], scenes["fault"], scenes["closed"] = sceneMany, sceneLong, sceneFault, sceneClosed
}

// sceneMany prints many lines above the region, more than the window has.
func sceneMany() {
	l := onTerminal()
	defer l.Close()
	l.Observe(host.Event{Kind: "entered", RunID: "r", State: "one BUILD", At: noon})
	l.Observe(host.Event{Kind: "entered", RunID: "r", State: "two BUILD", At: noon})
	step(1)
	for i := range 40 {
		fmt.Fprintf(l, "line %d\n", i)
	}
	step(2)
}

// sceneLong prints lines that are longer than the window, and than all its rows.
func sceneLong() {
	l := onTerminal()
	defer l.Close()
	for i := range 6 {
		l.Observe(host.Event{Kind: "entered", RunID: fmt.Sprint(i), State: "BUILD", At: noon})
	}
	fmt.Fprintln(l, "first") // tmux keeps what is cleared from its first row on
	step(1)
	for _, n := range longLines {
		fmt.Fprintln(l, long(n))
	}
	step(2)
}

var longLines = []int{40, 19, 20, 21, 60, 500, 1, 100}

// long is a line of n columns that is told from others.
func long(n int) string { return strings.Repeat(fmt.Sprintf("%03d.", n), n/4+1)[:n] }

// sceneFault ends with an error that nobody catches, in a goroutine of its own.
func sceneFault() {
	l := onTerminal()
	l.Observe(host.Event{Kind: "entered", RunID: "r", State: "BUILD", At: noon})
	step(1)
	go func() {
		fmt.Fprintln(l, "the last line")
		panic("it went wrong")
	}()
	time.Sleep(time.Hour)
}

// sceneClosed continues for a while on a terminal that is no more.
func sceneClosed() {
	l := onTerminal()
	l.Observe(host.Event{Kind: "entered", RunID: "r", State: "BUILD", At: noon})
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	step(1)
	<-hangups
	for i := range 20 {
		fmt.Fprintln(l, i)
	}
	l.Close()
	_ = os.WriteFile(filepath.Join(os.Getenv(stepsVar), "done"), nil, 0o644)
}

func TestLiveManyLines(t *testing.T) {
	t.Parallel()
	s := perform(t, "many", 80, 12)
	s.Shows("one build", "two build")
	s.next()
	got := s.Shows("line 39")
	if !strings.Contains(got, "line 33\nline 34\nline 35\n") || strings.Count(got, "two build") != 1 {
		t.Errorf("lines above the region:\n%s", got)
	}
	s.next()
	s.Shows("line 39\nover")
	if all := s.Tmux("capture-pane", "-p", "-S", "-100"); strings.Count(all, "line ") != 40 || strings.Contains(all, "two build") {
		t.Errorf("all that is left:\n%s", all)
	}
}

// A line that is longer than the window, or than all its rows, is there whole, once, in its
// place; of the region nothing is left between the lines.
func TestLiveLongLines(t *testing.T) {
	t.Parallel()
	for _, height := range []string{"5", "16"} {
		t.Run(height, func(t *testing.T) {
			t.Parallel()
			rows, _ := strconv.Atoi(height)
			s := perform(t, "long", 20, rows)
			s.Shows("build  0.0 s", "more")
			s.next()
			got := s.Eventually("has the region again", func(got string) bool {
				return strings.Contains(got, long(100)[80:]+"\n  build")
			})
			if strings.Count(got, "more") != 1 {
				t.Errorf("the region:\n%s", got)
			}
			s.next()
			s.Shows("over")
			want := "first\n"
			for _, n := range longLines {
				want += long(n) + "\n"
			}
			// -J joins what the terminal wrapped, so a line is a line here.
			if all := s.Tmux("capture-pane", "-p", "-J", "-S", "-100"); !strings.HasPrefix(all, want+"over\n") {
				t.Errorf("what is left:\n%s\nwant\n%s", all, want)
			}
		})
	}
}

// An error that nobody caught is read under the last line.
func TestLiveFault(t *testing.T) {
	t.Parallel()
	s := perform(t, "fault", 80, 40)
	s.Shows("build  0.0 s")
	s.next()
	got := s.Shows("over")
	line, fault := strings.Index(got, "the last line\n"), strings.Index(got, "panic: it went wrong")
	if line < 0 || fault < line {
		t.Errorf("%s", got)
	}
	s.works()
}

// Without its terminal a process continues to its end: nothing waits for lines to be seen.
func TestLiveClosedTerminal(t *testing.T) {
	t.Parallel()
	s := perform(t, "closed", 80, 14)
	s.Shows("build  0.0 s")
	s.next()
	s.Tmux("kill-server")
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if _, err := os.Stat(filepath.Join(s.steps, "done")); err == nil {
			return
		}
		if time.Now().After(end) {
			t.Fatal("it never came to its end")
		}
	}
}

// counted counts the times that a region was drawn.
type counted struct {
	mu    sync.Mutex
	drawn int
	all   bytes.Buffer
}

func (c *counted) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if bytes.Contains(b, []byte("\x1b")) && !bytes.Contains(b, []byte("line ")) {
		c.drawn++
	}
	return c.all.Write(b)
}

// However much happens, the region is drawn ten times a second at most, and every line that
// stays is there when Write comes back.
func TestLiveRate(t *testing.T) {
	t.Parallel()
	for name, line := range map[string]string{"short": "line %d\n", "long": "line %d" + strings.Repeat(" and so on", 200) + "\n"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out counted
			begun := time.Now()
			l := NewLive(LiveOptions{Out: &out, Color: true, Size: func() (int, int) { return 80, 24 }})
			for i := 0; i < 400 || time.Since(begun) < time.Second; i++ {
				l.Observe(host.Event{Kind: "entered", RunID: "r", State: fmt.Sprint("STATE", i)})
				l.Observe(host.Event{Kind: host.EventPlugin, RunID: "r", State: fmt.Sprint("STATE", i), Plugin: "p", Text: fmt.Sprint("does ", i)})
				said := fmt.Sprintf(line, i)
				fmt.Fprint(l, said)
				out.mu.Lock()
				seen := bytes.Contains(out.all.Bytes(), []byte(strings.TrimSuffix(said, "\n")))
				out.all.Reset()
				out.mu.Unlock()
				if !seen {
					t.Fatalf("%.20q is not there", said)
				}
				time.Sleep(time.Millisecond)
			}
			l.Close()
			took := time.Since(begun)
			// What takes the region away, before a long line and at the end, counts as well.
			if most := int(took.Seconds()*10) + 3; out.drawn > most || out.drawn == 0 {
				t.Errorf("drawn %d times in %v, at most %d", out.drawn, took, most)
			}
		})
	}
}
