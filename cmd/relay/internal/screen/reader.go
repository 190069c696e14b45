package screen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/paxiom/relay/host"
)

// reader is a text that is read on the whole screen.
type reader struct {
	title  string
	lines  []string
	styles []string // of the lines; nil for none
	top    int
	rows   int  // that the screen had for lines when it was last drawn
	follow bool // the log: new lines come at its end
}

func newReader(title string, lines []string) reader {
	r := reader{title: title}
	r.fill(lines)
	return r
}

// newDiff is a change file by file, each with the rules that it broke.
func newDiff(title string, files []host.FileDiff) reader {
	var lines, styles []string
	put := func(style, line string) { lines, styles = append(lines, line), append(styles, style) }
	for i, f := range files {
		if i > 0 {
			put("", "")
		}
		put(bold, fmt.Sprintf("%s  +%d/-%d, file %d of %d", Text(f.Path), f.Added, f.Deleted, i+1, len(files)))
		for _, h := range f.Rules {
			put(red, "x "+Text(h.Rule)+"  "+Text(h.Code))
		}
		for line := range strings.Lines(f.Text) {
			put(diffStyle(line), strings.TrimSuffix(line, "\n"))
		}
	}
	r := newReader(title, lines)
	r.styles = styles
	return r
}

func diffStyle(line string) string {
	switch {
	case strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"), strings.HasPrefix(line, "diff "):
		return bold
	case strings.HasPrefix(line, "+"):
		return green
	case strings.HasPrefix(line, "-"):
		return red
	case strings.HasPrefix(line, "@@"):
		return dim
	}
	return ""
}

// fill makes every line safe to show. Who reads the end of a text that grows goes on to do
// so; who reads elsewhere in it keeps the line that is on top.
func (r *reader) fill(lines []string) {
	atEnd, first := r.follow && r.top >= r.last(), ""
	if r.top < len(r.lines) {
		first = r.lines[r.top]
	}
	r.lines = make([]string, len(lines))
	for i, line := range lines {
		r.lines[i] = Text(strings.ReplaceAll(strings.TrimSuffix(line, "\r"), "\t", "    "))
	}
	if atEnd {
		r.top = r.last()
	} else if i := slices.Index(r.lines, first); i >= 0 && first != "" {
		r.top = i
	}
	r.top = min(r.top, r.last())
}

// last is the first row of the end of the text.
func (r *reader) last() int { return max(0, len(r.lines)-r.rows) }

// style is that of a line.
func (r *reader) style(i int) string {
	if i < len(r.styles) {
		return r.styles[i]
	}
	return ""
}

// key scrolls; false leaves the text.
func (r *reader) key(k string) bool {
	switch k {
	case "q", "esc", "?":
		return false
	case "up", "k":
		r.top--
	case "down", "j", "enter":
		r.top++
	case "pgdown", "space", "f":
		r.top += r.rows
	case "pgup", "b":
		r.top -= r.rows
	case "home", "g":
		r.top = 0
	case "end", "G":
		r.top = r.last()
	}
	r.top = max(0, min(r.top, r.last()))
	return true
}
