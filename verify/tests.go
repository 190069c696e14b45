package verify

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/paxiom/relay/verify/evidence"
)

// The forms in which a command can name its tests on its output.
const (
	GoTestJSON = "go-test-json" // go test -json
	TAP        = "tap"          // Test Anything Protocol: node --test, bats, prove, …
)

// ByCheck are the forms of names that a check writes itself, into a file or to its output: the
// code that it tests could have written them too.
var ByCheck = []string{evidence.JUnitXML, GoTestJSON, TAP}

const (
	maxTestLine  = 1 << 16
	maxTests     = 100_000
	maxTestBytes = 8 << 20
)

// Tests collects, from what a command writes, which tests passed and which failed.
// It can only make a verdict stricter: see [RunBase]. A name that does both failed.
type Tests struct {
	Passed, Failed map[string]bool

	form   string
	line   []byte
	bytes  int
	broken string
	seen   map[string]int // TAP: how often a name came up
	plan   int            // TAP: how many were announced; -1 for not
	points int            // TAP: how many there were
}

// NewTests reads one of the forms; nil for none.
func NewTests(form string) *Tests {
	if form == "" {
		return nil
	}
	return &Tests{Passed: map[string]bool{}, Failed: map[string]bool{}, form: form, seen: map[string]int{}, plan: -1}
}

// Write never fails.
func (t *Tests) Write(p []byte) (int, error) {
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

// Broken says why the names can't be relied on, "" when they can. It is asked once
// the command has ended.
func (t *Tests) Broken() string {
	switch {
	case t.broken != "":
		return t.broken
	case t.form == TAP && t.plan != t.points:
		return "there are more or fewer tests than were announced"
	}
	return ""
}

func (t *Tests) read(line []byte) {
	if len(line) > maxTestLine {
		t.broken = "a line is too long"
		return
	}
	switch t.form {
	case GoTestJSON:
		t.readGo(line)
	case TAP:
		t.readTAP(strings.TrimRight(string(line), "\r"))
	default:
		t.broken = "the form " + strconv.Quote(t.form) + " is not known"
	}
}

func (t *Tests) readGo(line []byte) {
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
		t.add(t.Passed, name)
	case "fail":
		t.add(t.Failed, name)
	}
}

func (t *Tests) readTAP(line string) {
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
		t.add(t.Failed, name)
	default:
		t.add(t.Passed, name)
	}
}

func (t *Tests) add(to map[string]bool, name string) {
	if t.bytes += len(name); t.bytes > maxTestBytes || len(t.Passed)+len(t.Failed) >= maxTests {
		t.broken = "there are too many tests"
		return
	}
	to[name] = true
	if t.Failed[name] {
		delete(t.Passed, name)
	}
}

// Report is what was read, for [evidence.Compare].
func (t *Tests) Report() *evidence.Report {
	r := &evidence.Report{Tests: map[string]evidence.Test{}, Early: map[string]int{}, Broken: t.Broken(), Unprobed: []string{t.form}}
	for name := range t.Passed {
		r.Tests[name] = evidence.Test{Status: evidence.Pass}
	}
	for name := range t.Failed {
		r.Tests[name] = evidence.Test{Status: evidence.Fail}
	}
	return r
}

// TestsOf are the tests of a report that passed and that failed.
func TestsOf(r evidence.Report) *Tests {
	t := &Tests{Passed: map[string]bool{}, Failed: map[string]bool{}, plan: -1}
	t.broken = r.Broken
	for name, test := range r.Tests {
		switch test.Status {
		case evidence.Pass:
			t.Passed[name] = true
		case evidence.Fail, evidence.Broken:
			t.Failed[name] = true
		}
	}
	return t
}
