package screen

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"github.com/paxiom/relay/host"
)

// reader is a text that is read on the whole screen. What is longer than a line of it goes
// on in the next one.
type reader struct {
	title  string
	whole  []string // the lines of the text
	styles []string // of these; nil for none
	lines  []string // as the screen has room for them
	of     []int    // which line of the text each of them is of
	top    int
	width  int  // of the screen; 0 before it is known
	rows   int  // that the screen has for lines
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

// fill makes every line safe to show. A reader at the end of a text that grows stays there;
// elsewhere the top line stays.
func (r *reader) fill(lines []string) {
	atEnd, first := r.follow && r.top >= r.last(), ""
	if r.top < len(r.lines) {
		first = r.lines[r.top]
	}
	r.whole = make([]string, len(lines))
	for i, line := range lines {
		r.whole[i] = Text(strings.ReplaceAll(strings.TrimSuffix(line, "\r"), "\t", "    "))
	}
	r.fold()
	if atEnd {
		r.top = r.last()
	} else if i := slices.Index(r.lines, first); i >= 0 && first != "" {
		r.top = i
	}
	r.top = min(r.top, r.last())
}

// overlayChanges sets the text in lines that the screen has room for.
func (r *reader) fold() {
	r.lines, r.of = nil, nil
	for i, line := range r.whole {
		for _, part := range r.parts(line) {
			r.lines, r.of = append(r.lines, part), append(r.of, i)
		}
	}
}

// parts are the lines of one that is too long: below where its text begins, at spaces, and
// anywhere in a word that is longer than a line.
func (r *reader) parts(line string) (all []string) {
	if r.width <= 0 || Columns(line) <= r.width {
		return []string{line}
	}
	hang := len(label.FindString(line))
	if r.styles != nil && line[0] < utf8.RuneSelf {
		hang = 1 // the marks of a diff
	}
	if hang > r.width/2 {
		hang = min(2, r.width/2)
	}
	margin := strings.Repeat(" ", hang)
	for _, part := range Fold(line[hang:], r.width-hang) {
		for piece := range strings.SplitSeq(ansi.HardwrapWc(part, r.width-hang, true), "\n") {
			all = append(all, margin+piece)
		}
	}
	all[0] = line[:hang] + strings.TrimPrefix(all[0], margin)
	return all
}

// label is what a line has before its text begins.
var label = regexp.MustCompile(`^ *([!-~]+( [!-~]+)* {2,})?`)

// fit takes the size of the screen, and keeps the line that is on top.
func (r *reader) fit(width, height int) {
	r.rows = height - 2
	if width != r.width {
		first := 0
		if r.top < len(r.of) {
			first = r.of[r.top]
		}
		r.width = width
		r.fold()
		r.top, _ = slices.BinarySearch(r.of, first)
	}
	r.top = max(0, min(r.top, r.last()))
}

// last is the first row of the end of the text.
func (r *reader) last() int { return max(0, len(r.lines)-r.rows) }

// style is that of a line.
func (r *reader) style(i int) string {
	if at := r.of[i]; at < len(r.styles) {
		return r.styles[at]
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
