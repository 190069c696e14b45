package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/paxiom/relay/cmd/relay/internal/screen"
	"github.com/paxiom/relay/host"
	"github.com/paxiom/relay/host/diag"
)

// printer writes text for people. It keeps the first error of its writer, so that
// callers need not look at each line.
type printer struct {
	w     io.Writer
	color bool
	tty   bool // a person reads it on a terminal
	width int  // of that terminal; 0: nothing is folded
	err   error
}

func newPrinter(w io.Writer, color bool) *printer { return &printer{w: w, color: color} }

func (p *printer) linef(format string, args ...any) {
	p.write(fmt.Sprintf(format, args...) + "\n")
}

func (p *printer) write(s string) {
	if p.err == nil {
		_, p.err = io.WriteString(p.w, s)
	}
}

// row prints a label and a value in two columns; an empty value prints nothing.
func (p *printer) row(label, value string) {
	if value != "" {
		p.hang(p.dim(pad(label, 10))+" ", value)
	}
}

// hang prints a text after a head; on a terminal its further lines stand below its beginning.
func (p *printer) hang(head, text string) { p.linef("%s%s", head, p.folded(columns(head), text)) }

// advise is hang for a text of relay's own, with its commands shown as such.
func (p *printer) advise(head, text string) {
	p.linef("%s%s", head, p.command(p.folded(columns(head), text)))
}

// folded breaks a text that begins at a column where the terminal would break a word.
func (p *printer) folded(column int, text string) string {
	lines := []string{text}
	if room := p.width - column; room >= 20 {
		lines = screen.Fold(text, room)
	}
	for i := range lines {
		lines[i] = p.text(lines[i])
	}
	return strings.Join(lines, "\n"+strings.Repeat(" ", column))
}

// prose prints paragraphs that were broken for a hundred columns, anew where there are fewer.
func (p *printer) prose(text string) {
	for i, paragraph := range strings.Split(text, "\n\n") {
		if i > 0 {
			p.linef("")
		}
		for line := range strings.SplitSeq(paragraph, "\n") {
			if p.width > 0 && columns(line) > p.width {
				paragraph = p.folded(0, strings.ReplaceAll(paragraph, "\n", " "))
				break
			}
		}
		p.linef("%s", paragraph)
	}
}

// table prints rows with aligned columns.
func (p *printer) table(rows [][]string) {
	var width []int
	for _, r := range rows {
		for i, cell := range r {
			if i >= len(width) {
				width = append(width, 0)
			}
			width[i] = max(width[i], columns(cell))
		}
	}
	for _, r := range rows {
		if p.width > 0 && p.stacked(r, width) {
			continue
		}
		var b strings.Builder
		for i, cell := range r {
			if i == len(r)-1 {
				b.WriteString(p.folded(columns(b.String()), cell))
				break
			}
			b.WriteString(pad(p.text(cell), width[i]) + "  ")
		}
		p.linef("%s", strings.TrimRight(b.String(), " "))
	}
}

// stacked prints a row that has no room on the terminal, its cells in as many lines as they
// need; false: there is room for all of it but its last cell, which can be folded there.
func (p *printer) stacked(cells []string, width []int) bool {
	n := len(cells) - 1
	room := p.width - 2*n
	for _, w := range width[:max(n, 0)] {
		room -= w
	}
	if room >= 20 || room >= columns(cells[max(n, 0)]) {
		return false
	}
	const indent = "    "
	line, used := "", 0
	for i, cell := range cells {
		if i > 0 && used+width[i] > p.width {
			p.linef("%s", strings.TrimRight(line, " "))
			line, used = indent+p.folded(len(indent), cell), len(indent)
		} else {
			line += pad(p.text(cell), width[i])
		}
		line, used = line+"  ", used+width[i]+2
	}
	p.linef("%s", strings.TrimRight(line, " "))
	return true
}

// text is a text of one cell or line, with its direction kept to itself on a terminal.
func (p *printer) text(s string) string {
	if !p.tty {
		return s
	}
	return screen.Closed(s)
}

// fault prints what, why and fix. Texts from outside are made visible.
func (p *printer) fault(f *diag.Error) {
	p.hang(p.red("error:")+" ", host.Safe(f.What))
	p.whyAndFix("  ", f.Why, f.Fix)
	p.says("  ", f.Says)
	if f.Code != "" {
		p.linef("  %s %s", p.dim("code:"), p.dim(string(f.Code)))
	}
}

// whyAndFix are the second and third part of an error.
func (p *printer) whyAndFix(indent, why, fix string) {
	if why != "" {
		p.hang(indent+"why: ", host.Safe(why))
	}
	if fix != "" {
		p.advise(indent+"fix: ", host.Safe(fix))
	}
}

// says quotes a plugin. It is no advice of relay's and is never shown as a command.
func (p *printer) says(indent, text string) {
	if text != "" {
		p.hang(indent+p.dim("not relay's words: "), host.Safe(text))
	}
}

// next prints the command to type next.
func (p *printer) next(text string) {
	if text != "" {
		p.advise(p.dim("next:")+" ", host.Safe(text))
	}
}

// command shows what stands in backticks as a command: bold where there is color.
func (p *printer) command(s string) string {
	if !p.color {
		return s
	}
	parts := strings.Split(s, "`")
	for i := 1; i < len(parts); i += 2 {
		parts[i] = p.bold(parts[i])
	}
	return strings.Join(parts, "")
}

func (p *printer) bold(s string) string   { return p.style("1", s) }
func (p *printer) dim(s string) string    { return p.style("2", s) }
func (p *printer) red(s string) string    { return p.style("1;31", s) }
func (p *printer) green(s string) string  { return p.style("32", s) }
func (p *printer) yellow(s string) string { return p.style("33", s) }

func (p *printer) style(code, s string) string {
	if !p.color || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

// outcome colors a code by its class; the words carry the meaning.
func (p *printer) outcome(code string) string {
	switch {
	case code == "SUCCESS":
		return p.green(code)
	case strings.HasPrefix(code, "BLOCKED_"):
		return p.yellow(code)
	}
	return p.red(code)
}

func pad(s string, width int) string { return screen.Pad(s, width) }

// columns counts the columns that a text takes on a terminal.
func columns(s string) int { return screen.Columns(s) }

// first is the label of the first of several rows; the others stand below it.
func first(i int, label string) string {
	if i > 0 {
		return ""
	}
	return label
}

// plural gives "1 file", "2 files".
func plural(n int, one, many string) string {
	if n == 1 {
		return fmt.Sprintf("1 %s", one)
	}
	return fmt.Sprintf("%d %s", n, many)
}
