package screen

import "strings"

// reader is a text that is read on the whole screen.
type reader struct {
	title  string
	lines  []string
	top    int
	follow bool // the log: new lines come at its end
}

func newReader(title string, lines []string) reader {
	r := reader{title: title}
	r.fill(lines)
	return r
}

// fill makes every line safe to show; a text at its end stays there.
func (r *reader) fill(lines []string) {
	atEnd := r.follow && r.top > 0
	more := len(lines) - len(r.lines)
	r.lines = make([]string, len(lines))
	for i, line := range lines {
		r.lines[i] = Text(strings.ReplaceAll(strings.TrimSuffix(line, "\r"), "\t", "    "))
	}
	if atEnd && more > 0 {
		r.top += more
	}
}

func (r *reader) end(rows int) { r.top = max(0, len(r.lines)-rows) }

// key scrolls; false leaves the text.
func (r *reader) key(k string, rows int) bool {
	last := max(0, len(r.lines)-rows)
	switch k {
	case "q", "esc", "?":
		return false
	case "up", "k":
		r.top--
	case "down", "j", "enter":
		r.top++
	case "pgdown", "space", "f":
		r.top += rows
	case "pgup", "b":
		r.top -= rows
	case "home", "g":
		r.top = 0
	case "end", "G":
		r.top = last
	}
	r.top = max(0, min(r.top, last))
	return true
}
