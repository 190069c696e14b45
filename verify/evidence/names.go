package evidence

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/paxiom/relay/verify"
)

const (
	maxTestLine  = 1 << 16
	maxNames     = 100_000
	maxTestBytes = 8 << 20
)

// Names collects, from what a command writes, which tests passed and which failed. A name
// that does both failed.
type Names struct {
	passed, failed map[string]bool

	form   string
	line   []byte
	bytes  int
	broken string
	seen   map[string]int // TAP: how often a name came up
	plan   int            // TAP: how many were announced; -1 for not
	points int            // TAP: how many there were
}

// NewNames reads one of the forms; nil for none.
func NewNames(form string) *Names {
	if form == "" {
		return nil
	}
	return &Names{passed: map[string]bool{}, failed: map[string]bool{}, form: form, seen: map[string]int{}, plan: -1}
}

// Write never fails.
func (t *Names) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 && t.broken == "" {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			if t.line = append(t.line, p...); len(t.line) > maxTestLine {
				t.broken = "a line is too long"
			}
			break
		}
		t.read(append(t.line, p[:i]...))
		t.line, p = t.line[:0], p[i+1:]
	}
	return n, nil
}

// Tests are what was read, once the command has ended.
func (t *Names) Tests() *verify.Tests {
	if t == nil {
		return nil
	}
	if t.broken == "" && t.form == verify.TAP && t.plan != t.points {
		t.broken = "there are more or fewer tests than were announced"
	}
	return &verify.Tests{Passed: t.passed, Failed: t.failed, Broken: t.broken}
}

func (t *Names) read(line []byte) {
	if len(line) > maxTestLine {
		t.broken = "a line is too long"
		return
	}
	switch t.form {
	case verify.GoTestJSON:
		t.readGo(line)
	case verify.TAP:
		t.readTAP(strings.TrimRight(string(line), "\r"))
	default:
		t.broken = "the form " + strconv.Quote(t.form) + " is not known"
	}
}

func (t *Names) readGo(line []byte) {
	var e struct{ Action, Package, Test string }
	if len(line) == 0 || line[0] != '{' || json.Unmarshal(line, &e) != nil || e.Package == "" {
		return // what programs say on standard error
	}
	name := e.Package
	if e.Test != "" {
		name += "." + e.Test
	}
	switch e.Action {
	case "pass":
		t.add(t.passed, name)
	case "fail":
		t.add(t.failed, name)
	}
}

func (t *Names) readTAP(line string) {
	if plan, ok := strings.CutPrefix(line, "1.."); ok {
		count, _, _ := strings.Cut(plan, " ")
		n, err := strconv.Atoi(count)
		if err != nil || t.plan >= 0 {
			t.broken = "the plan can't be read"
		}
		t.plan = n
		return
	}
	if strings.HasPrefix(line, "Bail out!") {
		t.broken = "the tests were given up"
		return
	}
	rest, failed := strings.CutPrefix(line, "not ok")
	if !failed {
		var ok bool
		if rest, ok = strings.CutPrefix(line, "ok"); !ok {
			return
		}
	}
	if rest != "" && rest[0] != ' ' {
		return
	}
	t.points++
	name, directive, _ := strings.Cut(rest, " # ")
	name = strings.TrimPrefix(strings.TrimLeft(name, " 0123456789"), "- ")
	t.seen[name]++
	name += "#" + strconv.Itoa(t.seen[name])
	switch word := strings.ToUpper(directive); {
	case strings.HasPrefix(word, "SKIP"), strings.HasPrefix(word, "TODO"):
	case failed:
		t.add(t.failed, name)
	default:
		t.add(t.passed, name)
	}
}

func (t *Names) add(to map[string]bool, name string) {
	if t.bytes += len(name); t.bytes > maxTestBytes || len(t.passed)+len(t.failed) >= maxNames {
		t.broken = "there are too many tests"
		return
	}
	to[name] = true
	if t.failed[name] {
		delete(t.passed, name)
	}
}

// ReportOf is a report of tests that a command names in one of the forms.
func ReportOf(t *verify.Tests, form string) *verify.Report {
	r := &verify.Report{Tests: map[string]verify.Test{}, Early: map[string]int{}, Broken: t.Broken, Unprobed: []string{form}}
	for name := range t.Passed {
		r.Tests[name] = verify.Test{Status: verify.Pass}
	}
	for name := range t.Failed {
		r.Tests[name] = verify.Test{Status: verify.Fail}
	}
	return r
}

// TestsOf are the tests of a report that passed and that failed.
func TestsOf(r verify.Report) *verify.Tests {
	t := &verify.Tests{Passed: map[string]bool{}, Failed: map[string]bool{}, Broken: r.Broken}
	for name, test := range r.Tests {
		switch test.Status {
		case verify.Pass:
			t.Passed[name] = true
		case verify.Fail, verify.Broken:
			t.Failed[name] = true
		}
	}
	return t
}
