package audit

import (
	"errors"
	"fmt"
	"path"
	"strings"
)

// File is one file of a revision, whole.
type File struct {
	Path    string
	Content string
	Delete  bool
}

// Revision is the answer of a model that revises.
type Revision struct {
	Files     []File
	Conflicts string              // what it says that it could not do; "" when nothing
	Claims    map[string][]string // item id → files, as the model says; nobody has looked yet
}

var (
	pathHeader   = lazy("^# path: (.+?)[ \t]*$")
	deleteHeader = lazy("^# delete: (.+?)[ \t]*$")
	conflicts    = lazy(`(?i)^##[ \t]+plan conflicts[ \t:]*$`)
	coverage     = lazy(`(?i)^##[ \t]+coverage[ \t:]*$`)
	claim        = lazy(`^[-*][ \t]+\[?([FA][1-9]\d{0,4})\]?[ \t]*[:–-][ \t]*(.*)$`)
	elided       = lazy(`(?i)^[ \t]*(//|#|--|/\*|<!--|;|%|\*)?[ \t]*(\.\.\.|…)[ \t]*\(?[ \t]*(the )?(rest|remainder|remaining|existing|unchanged|same|other|previous|keep|omitted)\b`)
)

// ParseRevision reads an answer of whole files, each under a line "# path: PATH". The
// content stands in a code block, whose sign may be longer than three so that it can
// hold others; or bare, up to the next such line. What is not exactly that is refused:
// a half-understood file would be written as a whole one.
func ParseRevision(text string) (*Revision, error) {
	p := &revisionParser{lines: strings.SplitAfter(normal(text), "\n"), out: &Revision{Claims: map[string][]string{}}, seen: map[string]bool{}}
	if err := p.parse(); err != nil {
		return nil, err
	}
	r := p.out
	if len(r.Files) == 0 && r.Conflicts == "" {
		return nil, errors.New("the answer has no file: no line begins with \"# path: \"")
	}
	return r, nil
}

type revisionParser struct {
	lines []string
	at    int
	out   *Revision
	seen  map[string]bool
}

func (p *revisionParser) peek() (string, bool) {
	if p.at >= len(p.lines) || p.at == len(p.lines)-1 && p.lines[p.at] == "" {
		return "", false
	}
	return strings.TrimSuffix(p.lines[p.at], "\n"), true
}

func (p *revisionParser) parse() error {
	for {
		line, ok := p.peek()
		if !ok {
			return nil
		}
		p.at++
		var err error
		switch {
		case pathHeader().MatchString(line):
			err = p.file(pathHeader().FindStringSubmatch(line)[1])
		case deleteHeader().MatchString(line):
			err = p.add(File{Path: deleteHeader().FindStringSubmatch(line)[1], Delete: true})
		case conflicts().MatchString(line):
			p.out.Conflicts = strings.TrimSpace(p.prose())
		case coverage().MatchString(line):
			p.claims(p.prose())
		}
		if err != nil {
			return err
		}
	}
}

// special reports whether a line begins another part of the answer.
func special(line string) bool {
	return pathHeader().MatchString(line) || deleteHeader().MatchString(line) || conflicts().MatchString(line) || coverage().MatchString(line)
}

// prose takes the lines up to the next part.
func (p *revisionParser) prose() string {
	var b strings.Builder
	for line, ok := p.peek(); ok && !special(line); line, ok = p.peek() {
		b.WriteString(line + "\n")
		p.at++
	}
	return b.String()
}

func (p *revisionParser) file(name string) error {
	for line, ok := p.peek(); ok && strings.TrimSpace(line) == ""; line, ok = p.peek() {
		p.at++
	}
	line, _ := p.peek()
	m := fenceLine().FindStringSubmatch(line)
	if m == nil {
		return p.bare(name)
	}
	p.at++
	var b strings.Builder
	for {
		line, ok := p.peek()
		if !ok {
			return fmt.Errorf("the file %q is cut off: its code block does not end", name)
		}
		p.at++
		if end := fenceLine().FindStringSubmatch(line); end != nil && end[1] == m[1] && strings.TrimSpace(end[2]) == "" {
			break
		}
		b.WriteString(line + "\n")
	}
	return p.add(File{Path: name, Content: b.String()})
}

func (p *revisionParser) bare(name string) error {
	content := strings.TrimRight(p.prose(), "\n")
	if content == "" {
		return fmt.Errorf("the file %q has no content; \"# delete: %s\" would remove it", name, name)
	}
	return p.add(File{Path: name, Content: content + "\n"})
}

func (p *revisionParser) add(f File) error {
	f.Path = strings.Trim(f.Path, "`\"'")
	clean := path.Clean(f.Path)
	switch {
	case f.Path == "" || clean != f.Path || path.IsAbs(f.Path) || clean == "." || clean == ".." || strings.HasPrefix(clean, "../") || strings.ContainsAny(f.Path, "\\\x00\t"):
		return fmt.Errorf("%q is not a plain path below the repository's root", f.Path)
	case p.seen[f.Path]:
		return fmt.Errorf("the file %q appears twice", f.Path)
	}
	for line := range strings.Lines(f.Content) {
		if elided().MatchString(strings.TrimRight(line, "\n")) {
			return fmt.Errorf("the file %q is not whole: it says %q", f.Path, strings.TrimSpace(line))
		}
	}
	p.seen[f.Path] = true
	p.out.Files = append(p.out.Files, f)
	return nil
}

func (p *revisionParser) claims(text string) {
	for line := range strings.Lines(text) {
		m := claim().FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			continue
		}
		for _, f := range strings.Split(m[2], ",") {
			if f = strings.Trim(strings.TrimSpace(f), "`"); f != "" && !nothing().MatchString(f) {
				p.out.Claims[m[1]] = append(p.out.Claims[m[1]], f)
			}
		}
	}
}

// Coverage says which of the changed files an item of the plan is about.
type Coverage struct {
	ID    string   `json:"id"`   // of the plan's entry
	Name  string   `json:"name"` // "Action #1"
	Line  string   `json:"line"`
	Files []string `json:"files"` // changed files; none: the item touched nothing
	// Wrong are files that the model claims for it and that did not change.
	Wrong []string `json:"wrong,omitempty"`
}

// Cover compares a plan with what changed. A model's claim counts only for a file
// that really changed; a file that the item itself names counts too.
func Cover(plan *Document, claims map[string][]string, changed []string) []Coverage {
	is := map[string]bool{}
	for _, c := range changed {
		is[c] = true
	}
	asked := plan.In(ActionPlan)
	if len(asked) == 0 {
		asked = plan.Items
	}
	var out []Coverage
	for _, i := range asked {
		c := Coverage{ID: i.ID, Name: i.Name(), Line: i.Line(), Files: []string{}}
		ids := append([]string{i.ID}, mentioned(i.Text)...)
		for n, id := range ids {
			for _, f := range claims[id] {
				switch {
				case is[f]:
					c.Files = appendNew(c.Files, f)
				case n == 0:
					c.Wrong = appendNew(c.Wrong, f)
				}
			}
		}
		for _, f := range Paths(i.Text) {
			if is[f] {
				c.Files = appendNew(c.Files, f)
			}
		}
		out = append(out, c)
	}
	return out
}

func appendNew(all []string, s string) []string {
	for _, o := range all {
		if o == s {
			return all
		}
	}
	return append(all, s)
}
