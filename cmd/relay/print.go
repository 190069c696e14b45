package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/paxiom/relay/cmd/relay/internal/screen"
	"github.com/paxiom/relay/host"
	"github.com/paxiom/relay/host/fault"
)

// printer writes text for people. It keeps the first error of its writer, so that
// callers need not look at each line.
type printer struct {
	w     io.Writer
	color bool
	tty   bool // a person reads it on a terminal
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
		p.linef("%s %s", p.dim(pad(label, 10)), p.text(value))
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
		var b strings.Builder
		for i, cell := range r {
			cell = p.text(cell)
			if i == len(r)-1 {
				b.WriteString(cell)
				break
			}
			b.WriteString(pad(cell, width[i]) + "  ")
		}
		p.linef("%s", strings.TrimRight(b.String(), " "))
	}
}

// text is a text of one cell or line, with its direction kept to itself on a terminal.
func (p *printer) text(s string) string {
	if !p.tty {
		return s
	}
	return screen.Closed(s)
}

// fault prints what, why and fix. Texts from outside are made visible.
func (p *printer) fault(f *fault.Fault) {
	p.linef("%s %s", p.red("error:"), host.Safe(f.What))
	if f.Why != "" {
		p.linef("  why: %s", host.Safe(f.Why))
	}
	if f.Fix != "" {
		p.linef("  fix: %s", p.command(host.Safe(f.Fix)))
	}
	if f.Code != "" {
		p.linef("  %s", p.dim(string(f.Code)))
	}
}

// next prints the command to type next.
func (p *printer) next(text string) {
	if text != "" {
		p.linef("%s %s", p.dim("next:"), p.command(host.Safe(text)))
	}
}

// command shows what stands in backticks as a command: bold where there is colour.
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

// outcome colours a code by its class; the words carry the meaning.
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

// plural gives "1 file", "2 files".
func plural(n int, one, many string) string {
	if n == 1 {
		return fmt.Sprintf("1 %s", one)
	}
	return fmt.Sprintf("%d %s", n, many)
}
