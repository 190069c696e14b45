package change

import (
	"strings"
	"unicode"
)

// Trailer is one "Key: value" line at the end of a commit message.
type Trailer struct{ Key, Value string }

// Message is a commit message. Texts may come from a model: they are made one
// paragraph each, and can't pass for a trailer.
type Message struct {
	Subject string
	Body    []string // paragraphs
	// Blocks are paragraphs whose lines stay apart, in order to be lists; they come
	// after Body. Each line keeps up to four spaces in front.
	Blocks   [][]string
	Trailers []Trailer
}

const (
	maxSubject   = 72
	maxParagraph = 2000
	wrapAt       = 72
	maxLine      = 200
	maxIndent    = 4
)

// text renders the message. Every text becomes one line or one wrapped paragraph of
// printable characters, so that only the last paragraph can be trailers.
func (m Message) text() string {
	var b strings.Builder
	b.WriteString(clip(oneLine(m.Subject), maxSubject))
	b.WriteString("\n")
	for _, p := range m.Body {
		if p = clip(oneLine(p), maxParagraph); p != "" {
			b.WriteString("\n" + wrap(p) + "\n")
		}
	}
	for _, lines := range m.Blocks {
		b.WriteString("\n")
		for _, l := range lines {
			indent := min(len(l)-len(strings.TrimLeft(l, " ")), maxIndent)
			b.WriteString(strings.Repeat(" ", indent) + clip(oneLine(l), maxLine) + "\n")
		}
	}
	for i, t := range m.Trailers {
		if i == 0 {
			b.WriteString("\n")
		}
		b.WriteString(t.Key + ": " + clip(oneLine(t.Value), 200) + "\n")
	}
	return b.String()
}

// oneLine joins all white space and puts a mark where something is not printable.
func oneLine(s string) string {
	s = strings.Join(strings.FieldsFunc(s, unicode.IsSpace), " ")
	s = strings.ReplaceAll(s, "---", "—") // at the start of a line it would end the message for some tools
	return strings.Map(func(r rune) rune {
		if r != ' ' && !unicode.IsPrint(r) {
			return '\uFFFD'
		}
		return r
	}, s)
}

// clip cuts after max characters and says so.
func clip(s string, max int) string {
	r := []rune(s)
	if len(r) <= max {
		return s
	}
	return strings.TrimRight(string(r[:max-1]), " ") + "…"
}

// wrap breaks a paragraph into lines.
func wrap(s string) string {
	var b strings.Builder
	width := 0
	for i, word := range strings.Fields(s) {
		n := len([]rune(word))
		switch {
		case i == 0:
		case width+1+n > wrapAt:
			b.WriteByte('\n')
			width = 0
		default:
			b.WriteByte(' ')
			width++
		}
		b.WriteString(word)
		width += n
	}
	return b.String()
}
