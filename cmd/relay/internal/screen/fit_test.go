package screen

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/paxiom/relay/host/health"
)

// crowded is a repository in which everything is long, wide, read from right to left, or all of it.
func crowded() *fake {
	f := full()
	f.root = "/work/" + strings.Repeat("世界", 40)
	f.res.Branch = strings.Repeat("שלום/", 30)
	for i := range f.res.Needs {
		f.res.Needs[i].Title, f.res.Needs[i].Text = strings.Repeat("עברית 123 ", 30), strings.Repeat("世", 300)+strings.Repeat(" word", 200)
		f.res.Needs[i].Choices = []string{strings.Repeat("x", 300), "世界\nשלום", "c", "d", "e", "f"}
	}
	for i := range 40 {
		r := f.res.Runs[i%3]
		r.RunID, r.Intent = fmt.Sprintf("20261121-1%05d-%s", i, strings.Repeat("z", i%40)), strings.Repeat("\u202eגנפ 7", i)
		f.res.Runs = append(f.res.Runs, r)
		f.res.Log = append(f.res.Log, strings.Repeat("\x1b[2Jשלום 世界 ", i))
	}
	f.res.Alerts = []string{strings.Repeat("near its cap ", 30)}
	f.res.Problem = &health.Check{What: strings.Repeat("世", 200), Fix: strings.Repeat("`relay x` ", 50)}
	return f
}

// Whatever there is to show and however small the screen, no row is wider and there are no
// more than it has; and every key can be typed there.
func TestWatchFits(t *testing.T) {
	o := WatchOptions{Color: true, Now: func() time.Time { return noon }, Sources: []Source{crowded(), full()}}
	for _, width := range []int{1, 19, 20, 21, 40, 61, 139} {
		for _, height := range []int{1, 4, 5, 6, 11, 40} {
			w := newWatcher(context.Background(), o)
			w.width, w.height = width, height
			w.take(look(context.Background(), o.Sources, make([]string, 2)))
			for _, k := range strings.Fields("show j j G k g j l G k b g q ? j q a 2 esc s n j j d c") {
				if len(k) == 1 && w.mode == modeText && k != "q" {
					w.text.key(k)
				} else if w.mode == modeText {
					w.mode = modeList
				} else if w.mode == modeAsk {
					w.ask.text = strings.Repeat("עברית世", 30)
					w.draw()
					w.mode = modeList
				} else if w.mode == modeSure {
					w.mode = modeList
				} else if k == "d" {
					d, _ := w.repos[0].Diff(context.Background(), "2026")
					w.read(newDiff("diff of x", d.Files))
				} else if k != "c" {
					w.listKey(k)
				}
				rows := strings.Split(w.draw(), "\n")
				if len(rows) > height {
					t.Fatalf("%d x %d after %s: %d rows", width, height, k, len(rows))
				}
				for _, row := range rows {
					if Columns(row) > width || strings.ContainsAny(strings.ReplaceAll(row, "\x1b[", ""), "\x1b\u202e\t\r") {
						t.Fatalf("%d x %d after %s: %d columns: %q", width, height, k, Columns(row), row)
					}
				}
			}
		}
	}
}

// On 40 columns a row still says what it is about.
func TestWatchNarrow(t *testing.T) {
	lines, _, err := Snapshot(context.Background(), []Source{full()}, func() time.Time { return noon }, 40)
	if err != nil || !strings.Contains(strings.Join(lines, "\n"), "  x run       STOP_SCOPE_VIOLATION") {
		t.Errorf("%v\n%s", err, strings.Join(lines, "\n"))
	}
}

// What is read from right to left ends where it ends, wherever it is cut.
func TestCutCloses(t *testing.T) {
	for n := 2; n < 12; n++ {
		if got := Cut(Text("שלום עולם"), n); strings.TrimRight(got, ltr) == got {
			t.Errorf("%d columns: %q", n, got)
		}
	}
}

// Nothing of a text is cut off: what is too long continues below, and a narrower screen keeps
// the line that is on top.
func TestReaderFolds(t *testing.T) {
	r := newReader("run", []string{"run        one", "why        src/a.txt: matches no allowed glob", "verdict    STOP_SCOPE_VIOLATION_OUTSIDE_ALLOWED", "", "  ✗ BROKEN      every path is in its scope", "כתובת ארוכה מאוד שאינה נכנסת בשורה אחת"})
	if r.fit(80, 5); len(r.lines) != 6 {
		t.Errorf("80 columns: %q", r.lines)
	}
	r.key("j")
	r.fit(30, 5)
	want := []string{"run        one", "why        src/a.txt: matches", "           no allowed glob", "verdict    STOP_SCOPE_VIOLATIO", "           N_OUTSIDE_ALLOWED", ""}
	if !slices.Equal(r.lines[:6], want) || r.lines[r.top] != want[1] {
		t.Errorf("30 columns: %q, at %q", r.lines, r.lines[r.top])
	}
	for _, width := range []int{1, 2, 5, 10, 12, 30} {
		r.fit(width, 5)
		for _, line := range r.lines {
			if Columns(line) > width {
				t.Errorf("%d columns: %q", width, line)
			}
		}
	}
}

// Who reads the end of a log sees what comes, from the first line on; who reads elsewhere
// keeps the place.
func TestReaderFollows(t *testing.T) {
	log := func(from, to int) (lines []string) {
		for i := from; i < to; i++ {
			lines = append(lines, fmt.Sprint("line ", i))
		}
		return lines
	}
	r := newReader("log", log(0, 3))
	r.follow, r.rows = true, 10
	if r.fill(log(0, 30)); r.top != 20 {
		t.Errorf("the end is not seen: %d", r.top)
	}
	if r.fill(log(10, 40)); r.top != 20 {
		t.Errorf("nor when the beginning is dropped: %d", r.top)
	}
	r.key("k")
	if r.fill(log(15, 45)); r.lines[r.top] != "line 29" {
		t.Errorf("the place was lost: %s", r.lines[r.top])
	}
	if r.fill(log(40, 45)); r.top != 0 {
		t.Errorf("a short log begins at its beginning: %d", r.top)
	}
}
