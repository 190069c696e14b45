package policy

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/judge"
)

// Effect is what a rule does with a change that it is true of.
type Effect string

// The two effects.
const (
	Forbid Effect = "forbid"
	Ask    Effect = "ask"
)

// The bounds of one folder of rules.
const (
	maxText  = 512 << 10
	maxFiles = 200
	maxRules = 2000
)

// File is a file of rules. Name is how texts call it: policy/size.cel, or the user's path.
type File struct {
	Name string
	Text string
	User bool // it is the user's or the organization's
}

// rule is one expression with what it is for.
type rule struct {
	effect        Effect
	name, message string
	user          bool
	file          string
	line          int // of its first line
	expression    string
	examples      []example
	program
}

// at names the rule's place.
func (r *rule) at() string { return fmt.Sprintf("%s:%d", r.file, r.line) }

// example is a change of which the rule above it has to be true, or not.
type example struct {
	applies bool
	line    int
	text    string // JSON
}

// wrong is a policy that can't be used.
func wrong(file string, line int, format string, args ...any) *diag.Error {
	where := file
	if line > 0 {
		where = fmt.Sprintf("%s:%d", file, line)
	}
	fix := "`relay policy test` once it is fixed"
	if !filepath.IsAbs(file) { // which the user's own are
		fix += "; the repository's rules count as they are committed"
	}
	return diag.New(judge.BlockedMissingConfig, "the policy can't be used", where+": "+fmt.Sprintf(format, args...), fix)
}

var (
	header = regexp.MustCompile(`^(forbid|ask) +([a-z0-9][a-z0-9._-]{0,63}): +(\S.*)$`)
	sample = regexp.MustCompile(`^(applies|passes)(?: +(.*))?$`)
	// mark is in every file of rules and in no other CEL: two words side by side are no
	// expression. It is wider than header, so that a rule with a slip in its first line, or its
	// first word, is an error and not left out. What follows `ask` is no name where it is `in`.
	mark = regexp.MustCompile(`(?im)^[ \t\p{Z}-]*(?:forbid|ask)[ \t\p{Z}]+["'\x60]?(?:[a-hj-z0-9_]|i(?:[^n]|n[a-z0-9_.-]))|^[a-z]+[ \t]+[a-z0-9_.-]+[ \t]*:`)
)

const maxSaid = 200

// parse reads a file: a rule is a line `forbid NAME: MESSAGE` or `ask NAME: MESSAGE`, below
// it the indented expression, and below that its examples. Lines that begin with // are
// comments.
func parse(f File) (rules []*rule, err error) {
	if !utf8.ValidString(f.Text) || strings.Contains(f.Text, "\x00") {
		return nil, wrong(f.Name, 0, "it is not UTF-8 text: save it as UTF-8")
	}
	var more *string // what an indented line continues with
	n := 0
	for line := range strings.Lines(f.Text) {
		n++
		line = strings.TrimRight(line, " \t\r\n")
		switch {
		case line == "" || strings.HasPrefix(line, "//"):
			if more != nil {
				*more += "\n" // later lines keep their numbers
			}
			continue
		case line[0] == ' ' || line[0] == '\t':
			if more == nil {
				return nil, wrong(f.Name, n, "an indented line continues a rule, and there is none above it")
			}
			*more += "\n" + line
			continue
		}
		if m := header.FindStringSubmatch(line); m != nil {
			if len(m[3]) > maxSaid {
				return nil, wrong(f.Name, n, "the message has over %d bytes", maxSaid)
			}
			rules = append(rules, &rule{effect: Effect(m[1]), name: m[2], message: m[3], user: f.User, file: f.Name, line: n})
			more = &rules[len(rules)-1].expression
			continue
		}
		m := sample.FindStringSubmatch(line)
		if m == nil {
			return nil, wrong(f.Name, n, "a line begins with `forbid NAME: MESSAGE`, `ask NAME: MESSAGE`, `applies {…}`, `passes {…}`, //, or a space")
		}
		if len(rules) == 0 {
			return nil, wrong(f.Name, n, "an example stands below its rule, and there is none above it")
		}
		r := rules[len(rules)-1]
		r.examples = append(r.examples, example{m[1] == "applies", n, m[2]})
		more = &r.examples[len(r.examples)-1].text
	}
	for _, r := range rules {
		if strings.TrimSpace(r.expression) == "" {
			return nil, wrong(r.file, r.line, "the rule %s has no expression: it stands in the lines below, indented", r.name)
		}
	}
	return rules, nil
}
