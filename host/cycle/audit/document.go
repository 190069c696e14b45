package audit

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// Section is one of the five parts of an audit and of a plan.
type Section int

// The sections, in the order in which they are written.
const (
	Critical Section = iota
	Significant
	Ambiguities
	Style
	ActionPlan
	sectionCount
)

// Sections lists all five.
func Sections() []Section { return []Section{Critical, Significant, Ambiguities, Style, ActionPlan} }

var titles = [sectionCount]string{"Critical issues", "Significant concerns", "Ambiguities", "Style and convention notes", "Action plan"}

var labels = [sectionCount]string{"Critical", "Significant", "Ambiguity", "Style", "Action"}

// Title is the section's heading; Label the one word that names an item of it.
func (s Section) Title() string { return titles[s] }
func (s Section) Label() string { return labels[s] }

// Item is one entry of a section.
type Item struct {
	ID      string   `json:"id,omitempty"` // F1 for a finding, A1 for an action; "" before it has one
	Section Section  `json:"section"`
	Number  int      `json:"number"` // in its section, from 1
	Text    string   `json:"text"`   // without list sign and id; may have several lines
	Marks   []string `json:"marks,omitempty"`
	By      []string `json:"by,omitempty"` // auditors, in a consolidated plan
}

// Line is the item's first line, for lists.
func (i Item) Line() string {
	line, _, _ := strings.Cut(i.Text, "\n")
	return line
}

// Name is how people call an item: "Critical #1". The number is that of its id, which stays when
// the items before it are deleted.
func (i Item) Name() string {
	n := i.Number
	if i.ID != "" {
		n = idNumber(i.ID)
	}
	return fmt.Sprintf("%s #%d", i.Section.Label(), n)
}

// idNumber is the 3 of F3; 0 where there is none.
func idNumber(id string) int {
	n, _ := strconv.Atoi(strings.TrimLeft(id, "FA"))
	return n
}

// Document is an audit or a plan.
type Document struct{ Items []Item }

// In gives the items of one section.
func (d *Document) In(s Section) []Item {
	var out []Item
	for _, i := range d.Items {
		if i.Section == s {
			out = append(out, i)
		}
	}
	return out
}

// ErrEmpty: there is nothing but white space.
var ErrEmpty = errors.New("the text is empty")

// Parse reads a text that must have each of the five sections exactly once. Deeper
// headings and other text stay part of the section they stand in.
func Parse(text string) (*Document, error) {
	if strings.TrimSpace(text) == "" {
		return nil, ErrEmpty
	}
	bodies, wrong := split(text)
	var missing []string
	for _, s := range Sections() {
		if _, ok := bodies[s]; !ok {
			missing = append(missing, "## "+s.Title())
		}
	}
	if len(missing) > 0 {
		wrong = append([]string{"missing: " + strings.Join(missing, ", ")}, wrong...)
	}
	if len(wrong) > 0 {
		return nil, errors.New(strings.Join(wrong, "; "))
	}
	d := &Document{}
	for _, s := range Sections() {
		for n, item := range items(bodies[s]) {
			item.Section, item.Number = s, n+1
			d.Items = append(d.Items, item)
		}
	}
	return d, nil
}

var heading = lazy(`^ {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*$`)

// sectionOf recognises a heading: its words count, not its decoration.
func sectionOf(line string) (Section, bool) {
	m := heading().FindStringSubmatch(line)
	if m == nil || len(m[1]) > 3 {
		return 0, false
	}
	name := strings.ToLower(strings.Trim(m[2], "*_` \t:"))
	name = strings.TrimLeft(name, "0123456789.) ")
	for _, s := range Sections() {
		if name == strings.ToLower(s.Title()) {
			return s, true
		}
	}
	return 0, false
}

// split cuts a text at its section headings. What stands in a code block is no heading.
func split(text string) (map[Section]string, []string) {
	bodies := map[Section]string{}
	var wrong []string
	var at *Section
	var body strings.Builder
	end := func() {
		if at != nil {
			bodies[*at] = body.String()
		}
		body.Reset()
	}
	var code fence
	for line := range strings.Lines(normal(text)) {
		bare := strings.TrimRight(line, "\n")
		if s, ok := sectionOf(bare); ok && !code.open() {
			end()
			if _, twice := bodies[s]; twice {
				wrong = append(wrong, "twice: ## "+s.Title())
			}
			at = &s
			continue
		}
		code.see(bare)
		body.WriteString(line)
	}
	end()
	return bodies, wrong
}

// normal makes every line break a plain one.
func normal(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
}

// fence follows the code blocks of a Markdown text.
type fence struct{ sign string }

var fenceLine = lazy("^ {0,3}(`{3,}|~{3,})[ \t]*([^`]*)$")

func (f *fence) open() bool { return f.sign != "" }

func (f *fence) see(line string) {
	m := fenceLine().FindStringSubmatch(line)
	switch {
	case m == nil:
	case f.sign == "":
		f.sign = m[1]
	case strings.HasPrefix(m[1], f.sign) && strings.TrimSpace(m[2]) == "":
		f.sign = ""
	}
}

var (
	bullet  = lazy(`^(?:[-*+]|\d{1,3}[.)])[ \t]+(.*)$`)
	itemID  = lazy(`^\**\[?([FA][1-9]\d{0,4})\]?\**[:.)]?[ \t]+`)
	byLine  = lazy(` \(raised by ([^()]*)\)$`)
	mark    = lazy(`\[(AMBIGUOUS|DUPLICATE|CONFLICT)\b[^\]\n]*\]`)
	nothing = lazy(`(?i)^[*_(]*(none|n/a|no (critical |significant )?(issues?|concerns?|ambiguities|items?|findings?|actions?|changes?|notes?)( (were |was )?(found|identified|needed|required|noted))?|nothing( to report)?)[.*_)!]*$`)
)

// items reads the entries of one section: list entries with what is indented below
// them, or paragraphs where there is no list.
func items(body string) []Item {
	var texts []string
	var code fence
	list, gap := false, true
	for line := range strings.Lines(body) {
		bare := strings.TrimRight(line, " \t\n")
		m := bullet().FindStringSubmatch(bare)
		inCode := code.open()
		code.see(bare)
		switch {
		case !inCode && m != nil:
			list = true
			texts = append(texts, m[1])
		case bare == "" && !inCode:
			gap = true
			if list && len(texts) > 0 {
				texts[len(texts)-1] += "\n"
			}
			continue
		case len(texts) == 0 || gap && !list && !inCode:
			texts = append(texts, bare)
		default:
			texts[len(texts)-1] += "\n" + bare
		}
		gap = false
	}
	var out []Item
	for _, t := range texts {
		if t = strings.TrimRight(t, " \t\n"); t == "" || nothing().MatchString(t) {
			continue
		}
		out = append(out, newItem(t))
	}
	return out
}

func newItem(text string) Item {
	i := Item{Text: text}
	if m := itemID().FindStringSubmatch(text); m != nil {
		i.ID, i.Text = m[1], text[len(m[0]):]
	}
	if m := byLine().FindStringSubmatch(i.Text); m != nil {
		i.By, i.Text = strings.Split(m[1], ", "), strings.TrimSuffix(i.Text, m[0])
	}
	for _, m := range mark().FindAllStringSubmatch(i.Text, -1) {
		i.Marks = append(i.Marks, m[1])
	}
	return i
}

// String writes the document: five headings, one list entry for each item, its id
// first.
func (d *Document) String() string {
	var b strings.Builder
	for n, s := range Sections() {
		if n > 0 {
			b.WriteByte('\n')
		}
		b.WriteString("## " + s.Title() + "\n\n")
		in := d.In(s)
		if len(in) == 0 {
			b.WriteString("None.\n")
		}
		for n, i := range in {
			sign := "-"
			if s == ActionPlan {
				sign = fmt.Sprintf("%d.", n+1)
			}
			b.WriteString(sign + " " + i.line() + "\n")
		}
	}
	return b.String()
}

// line is the item as it is written: continuation lines are indented, so that none
// of them can begin a heading or another item.
func (i Item) line() string {
	text := i.Text
	if len(i.By) > 0 {
		text += " (raised by " + strings.Join(i.By, ", ") + ")"
	}
	if i.ID != "" {
		text = "[" + i.ID + "] " + text
	}
	lines := strings.Split(text, "\n")
	for n := 1; n < len(lines); n++ {
		if lines[n] != "" && !strings.HasPrefix(lines[n], "    ") {
			lines[n] = "    " + strings.TrimLeft(lines[n], " \t")
		}
	}
	return strings.Join(lines, "\n")
}

// Fill gives each item without an id one that was never given before: what an operator or a
// refinement added must have a name too, and not that of an item that was deleted.
func (d *Document) Fill(r *Registry) {
	last := map[byte]int{'F': r.Last, 'A': r.Actions}
	for _, i := range d.Items {
		if i.ID != "" {
			last[i.ID[0]] = max(last[i.ID[0]], idNumber(i.ID))
		}
	}
	for n := range d.Items {
		i := &d.Items[n]
		if i.ID != "" {
			continue
		}
		kind := byte('F')
		if i.Section == ActionPlan {
			kind = 'A'
		}
		last[kind]++
		i.ID = fmt.Sprintf("%c%d", kind, last[kind])
	}
}

// Marks counts [AMBIGUOUS], [DUPLICATE] and [CONFLICT].
func (d *Document) Marks() map[string]int {
	out := map[string]int{}
	for _, i := range d.Items {
		for _, m := range i.Marks {
			out[m]++
		}
	}
	return out
}

// lazy compiles a pattern when it is first used: every process of relay, each box among
// them, begins with this package, and hardly any of them reads an audit.
func lazy(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}
