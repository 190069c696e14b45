package screen

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
)

// comesBack is after how long the region is there again that a long line took away: however
// many there are, nothing flickers.
const comesBack = time.Second / 4

// Write prints lines that stay. It must get whole ones. They are on the terminal when it
// returns: whatever ends the process then, and however, takes none of them along.
func (l *Live) Write(b []byte) (int, error) {
	l.lines.Lock()
	defer l.lines.Unlock()
	l.mu.Lock()
	p, ended, hidden := l.prog, l.ended, l.hidden
	l.mu.Unlock()
	switch {
	case p == nil:
		return l.o.Out.Write(b)
	case l.direct(b):
		return len(b), nil
	case l.above(string(b)) && insert(p, ended, strings.TrimSuffix(string(b), "\n")):
		return len(b), nil
	}
	l.away()
	n, err := l.o.Out.Write(b)
	l.mu.Lock()
	if l.hidden = hidden || l.closed; !l.hidden {
		l.begin.Reset(comesBack)
	}
	l.mu.Unlock()
	return n, err
}

// written is closed when the library has come to it, and so has done what came before.
type written chan struct{}

// insert has the library print lines above the region; false if that had come to its end.
func insert(p *tea.Program, ended <-chan struct{}, lines string) bool {
	done := make(written)
	p.Send(tea.Println(lines)())
	p.Send(done)
	select {
	case <-done:
		return true
	case <-ended:
		return false
	}
}

// parentModes reports whether lines can be put above the region: the library does so by moving it
// down, which has to fit the terminal, and takes a line that ends at its edge for a longer one.
func (l *Live) above(lines string) bool {
	w, h := l.size()
	rows := tallest(h) + 1 // with the cursor's own
	for line := range strings.Lines(lines) {
		n := Columns(strings.TrimSuffix(line, "\n"))
		if n > w && n%w == 0 {
			return false
		}
		rows += 1 + max(0, n-1)/w
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return rows <= h && w == l.width
}

// direct writes what comes before the region was first drawn: the library does not know
// yet where it is.
func (l *Live) direct(b []byte) bool {
	l.out.Lock()
	defer l.out.Unlock()
	if l.painted {
		return false
	}
	_, _ = l.o.Out.Write(b) // a terminal that is gone needs no lines
	return true
}

// unpaint says that the region is to be drawn first.
func (l *Live) unpaint() {
	l.out.Lock()
	l.painted = false
	l.out.Unlock()
}
