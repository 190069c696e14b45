package digest

import (
	"bytes"
	_ "embed"
	"html/template"
	"strings"

	"github.com/paxiom/relay/host/internal/report"
)

//go:embed page.html
var pageText string

// page escapes by context; safe makes invisible characters visible before that.
var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"safe":  report.Safe,
	"money": Money,
	"clock": Clock,
	"short": short,
	"parts": commandParts,
	"lines": diffLines,
	"class": func(r Run) string { return []string{"success", "stop", "blocked"}[outcomeRow(r.Code)] },
	"share": func(c Cap) float64 { return round(100 * min(c.Used/c.Max, 1)) },
}).Parse(pageText))

// part is a piece of a sentence; Code is a command to type.
type part struct {
	Text string
	Code bool
}

// commandParts splits a sentence of relay's own, in which commands stand in backticks.
func commandParts(s string) (out []part) {
	for i, text := range strings.Split(report.Safe(s), "`") {
		if text != "" {
			out = append(out, part{text, i%2 == 1})
		}
	}
	return out
}

// diffLine is a line of a patch; Class says what it does to the file.
type diffLine struct{ Class, Text string }

func diffLines(patch string) (out []diffLine) {
	for line := range strings.Lines(patch) {
		line = strings.TrimSuffix(line, "\n")
		class := ""
		switch {
		case strings.HasPrefix(line, "diff --git "):
			class = "file"
		case strings.HasPrefix(line, "+"):
			class = "success"
		case strings.HasPrefix(line, "-"):
			class = "stop"
		}
		out = append(out, diffLine{class, report.Safe(line)})
	}
	return out
}

// HTML renders the digest as one page that needs nothing else and runs no script.
func HTML(d *Digest) ([]byte, error) {
	var b bytes.Buffer
	err := page.Execute(&b, d)
	return b.Bytes(), err
}
