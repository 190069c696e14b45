package policy

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/judge"
)

func set(t testing.TB, texts ...string) *Set {
	t.Helper()
	s, err := New(files(texts...))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// files are of the repository; a text that begins with "user " is the user's.
func files(texts ...string) (all []File) {
	for i, text := range texts {
		rest, user := strings.CutPrefix(text, "user ")
		all = append(all, File{Name: fmt.Sprintf("policy/%d.cel", i), Text: rest, User: user})
	}
	return all
}

func hits(p *report.Policy) string {
	var all []string
	for _, h := range p.Hits {
		all = append(all, h.Effect+" "+h.Rule+" "+h.At)
	}
	return strings.Join(all, ", ")
}

const payments = `// Money moves here.
forbid payments: changes below payments/ need a hidden check that passed
    change.paths.exists(p, p.path.startsWith("payments/")) &&
    hidden_checks.size() == 0
applies {"change": {"paths": [{"path": "payments/fee.go"}]}}
passes {"change": {"paths": [{"path": "payments/fee.go"}]},
  "hidden_checks": ["fees"]}

ask large: more than 400 lines are too much for one review
    change.lines > 400
applies {"change": {"paths": [{"path": "a", "added": 300, "removed": 101}]}}
`

func TestDecide(t *testing.T) {
	s := set(t, payments)
	in := Input{Change: Change{Paths: []Path{{Path: "payments/fee.go"}}, Lines: 401}}
	if got := hits(s.Decide(in)); got != "forbid payments policy/0.cel:2, ask large policy/0.cel:9" {
		t.Error(got)
	}
	in.HiddenChecks, in.Change.Lines = []string{"fees"}, 400
	if got := hits(s.Decide(in)); got != "" {
		t.Error(got)
	}
	if p := set(t).Decide(in); p != nil {
		t.Errorf("no rules, and yet %+v", p)
	}
	for _, r := range s.Try() {
		if len(r.Failed) > 0 {
			t.Error(r.Failed)
		}
	}
}

// Every word of the vocabulary can be asked for.
func TestVocabulary(t *testing.T) {
	s := set(t, `forbid all: every word
    change.paths == change.paths && change.paths[0].path == "a" && change.paths[0].kind == "mode" && change.paths[0].added == 1 && change.paths[0].removed == 2
    && change.paths[0].mode == "100755" && change.lines == 3 && task.id == "t" && task.kind == "execute" && task.scope == ["a"] && task.requested_by == "model"
    && checks.all(c, c.name == "unit" && c.passed && c.tests == 4) && "h" in hidden_checks && approvals.exists(a, a.name == "plan" && a.key == "SHA256:x") && approvers == ["SHA256:x"]
    && run.workflow == "tick" && run.models == ["m"]
`)
	in := InputOf([]judge.Change{{Path: "a", Kind: judge.ModeOnly, NewMode: 0o755, Lines: judge.LineCount{Added: 1, Deleted: 2, Charge: 3}}},
		judge.Request{By: judge.Model, Kind: judge.Execute, Allowed: []string{"a"}}, "t",
		report.Verification{Hidden: "1 of 1", Runs: []report.VerifyRun{{TemplateID: "unit", Tests: &report.TestFacts{Passed: 4}}}}, []string{"h"})
	in.Approvals, in.Run = []Approval{{"plan", "SHA256:x"}}, Run{"tick", []string{"m"}}
	if got := hits(s.Decide(in)); got != "forbid all policy/0.cel:1" {
		t.Error(got)
	}
}

// The user's rules hold whatever a repository brings, and a repository can only add: a rule
// of a name that the user has is one more, whichever of the two is stricter.
func TestBothHold(t *testing.T) {
	s := set(t, "user forbid size: s\n change.lines > 10\n", "forbid size: s\n false\nforbid more: m\n change.lines > 20\n")
	if got := hits(s.Decide(Input{Change: Change{Lines: 30}})); got != "forbid size policy/0.cel:1, forbid more policy/1.cel:3" {
		t.Error(got)
	}
	s = set(t, "user ask size: s\n false\n", "ask size: s\n change.lines > 10\n")
	p := s.Decide(Input{Change: Change{Lines: 30}})
	if got := hits(p); got != "ask size policy/1.cel:1" {
		t.Error(got)
	}
	s = set(t, "user ask size: s\n true\n", "ask size: s\n true\n")
	p = s.Decide(Input{})
	if p.Approve(p.Hits[:1]); hits(&report.Policy{Hits: p.Asks()}) != "ask size policy/1.cel:1" {
		t.Errorf("a yes to the user's rule: %+v", p.Hits)
	}
}

func TestDigest(t *testing.T) {
	seen := map[string]bool{set(t).Digest(): true}
	for _, of := range [][]string{{payments}, {"user " + payments}, {payments, "// more\n"}, {payments + "\n"}} {
		d := set(t, of...).Digest()
		if len(d) != 64 || seen[d] {
			t.Errorf("%q: %s", of, d)
		}
		seen[d] = true
	}
}

// What can't be used blocks, and says where.
func TestWrong(t *testing.T) {
	for text, want := range map[string]string{
		"forbid a: m\n    chnge.lines > 3\n":                            "policy/0.cel:2: a: undeclared reference to 'chnge'",
		"// x\n\nforbid a: m\n\n\n    change.line > 3\n":                "policy/0.cel:6: a: undefined field 'line'",
		"forbid a: m\n    true &&\n    // a comment\n    (false\n":      "policy/0.cel:",
		"forbid a: m\n change.paths.exists(p, p.path.matches(\"[\"))\n": "policy/0.cel:2: a: invalid matches argument",
		"forbid a: m\n    change.lines\n":                               "policy/0.cel:1: a: the expression is of type int",
		"forbid a: m\n    change.paths.exists(p, p.added > \"1\")\n":    "policy/0.cel:2: a: found no matching overload",
		"forbid a: m\n":                                         "policy/0.cel:1: the rule a has no expression",
		"forbid a: m\napplies {}\n":                             "policy/0.cel:1: the rule a has no expression",
		"allow a: m\n    true\n":                                "policy/0.cel:1: a line begins with",
		"forbid A: m\n    true\n":                               "policy/0.cel:1: a line begins with",
		"forbid a:\n    true\n":                                 "policy/0.cel:1: a line begins with",
		"    true\n":                                            "policy/0.cel:1: an indented line",
		"applies {}\n":                                          "policy/0.cel:1: an example stands below",
		"forbid a: m\n true\nask a: m\n true\n":                 "policy/0.cel:3: a is the name of the rule at policy/0.cel:1",
		"forbid a: m\xff\n true\n":                              "policy/0.cel: it is not UTF-8",
		"forbid a: m\n " + strings.Repeat("(", 900):             "policy/0.cel:1: a: expression recursion limit",
		"forbid a: m\n true" + strings.Repeat(" || true", 4000): "policy/0.cel:1: a: expression code point size",
		strings.Repeat("//\n", maxText):                         "at most 200 files",
	} {
		_, err := New(files(text))
		f, ok := diag.As(err)
		if !ok || f.Code != judge.BlockedMissingConfig || !strings.Contains(f.Why, want) {
			t.Errorf("%.60q: %v, want %s", text, err, want)
		}
	}
}

func TestExamplesFail(t *testing.T) {
	s := set(t, "forbid a: m\n change.lines > 3\napplies {\"change\": {\"lines\": 3}}\npasses {\"change\": {\"lines\": 4}}\napplies {\"chnge\": {}}\napplies {\"change\":\n\nforbid b: m\n change.paths[0].path == \"\"\npasses {}\n")
	var all []string
	for _, r := range s.Try() {
		all = append(all, r.Failed...)
	}
	if got := strings.Join(all, "\n"); len(all) != 5 || !strings.HasPrefix(got, "policy/0.cel:3: the rule should apply") || !strings.Contains(got, "policy/0.cel:4: the rule should let") ||
		!strings.Contains(got, "policy/0.cel:5: the example can't be read") || !strings.Contains(got, "policy/0.cel:6: the example can't be read") || !strings.Contains(got, "policy/0.cel:10: the rule can't be computed") {
		t.Error(got)
	}
}

// A rule that can't be computed forbids, whatever its effect, and one that would not end,
// or fill the memory, is stopped.
func TestFailsClosed(t *testing.T) {
	var many []string
	for range 800 {
		many = append(many, strings.Repeat("d/", 200))
	}
	in := Input{HiddenChecks: many, Task: Task{Scope: many}}
	slow := "hidden_checks.all(a, hidden_checks.all(b, hidden_checks.all(c, hidden_checks.all(d, a == b && b == c && c == d && task.scope == hidden_checks))))"
	bomb := "[hidden_checks[0]]"
	for i := range 40 {
		bomb += fmt.Sprintf(".map(x%d, x%d + x%d)", i, i, i)
	}
	for name, expression := range map[string]string{"an index": `change.paths[3].path == ""`, "slow": slow, "memory": bomb + `[0] == ""`, "a division": "1 / change.lines == 1"} {
		s := set(t, "ask a: m\n    "+expression+"\n")
		began := time.Now()
		p := s.Decide(in)
		if len(p.Forbids()) != 1 || !strings.Contains(p.Hits[0].Message, "can't be computed") {
			t.Errorf("%s: %+v", name, p)
		}
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("%s took %v", name, took)
		}
	}
	// Nor do many that each are within their bounds.
	text := ""
	for i := range maxRules {
		text += fmt.Sprintf("forbid r%d: m\n    hidden_checks.exists(a, hidden_checks.exists(b, a + b == \"%d\"))\n", i, i)
	}
	s := set(t, text)
	began := time.Now()
	if p := s.Decide(in); !strings.Contains(p.Hits[len(p.Hits)-1].Message, "as a whole takes too long") {
		t.Error(p.Hits[len(p.Hits)-1].Message)
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("took %v", took)
	}
}

// 1,000 rules over a change of 10 files: go test ./host/internal/policy -run '^$' -bench Decide
func BenchmarkDecide(b *testing.B) {
	s := set(b, thousand())
	in := Input{}
	for i := range 10 {
		in.Change.Paths = append(in.Change.Paths, Path{Path: fmt.Sprintf("src/file%d.go", i), Kind: "modified", Added: 3, Mode: "100644"})
	}
	for b.Loop() {
		if p := s.Decide(in); len(p.Hits) > 0 {
			b.Fatal(p.Hits)
		}
	}
}

// What it takes to compile them, once for each run.
func BenchmarkCompile(b *testing.B) {
	text := thousand()
	for b.Loop() {
		set(b, text)
	}
}

func thousand() (text string) {
	for i := range 1000 {
		text += fmt.Sprintf("forbid rule%d: team %d looks after it\n    change.paths.exists(p, p.path.startsWith(\"team%d/\")) && hidden_checks.size() == 0\n", i, i, i)
	}
	return text
}

// A pattern that repeats what it repeats costs a thousand times what CEL counts for it.
func TestPatternsThatTakeLong(t *testing.T) {
	defer func(was time.Duration) { maxTime = was }(maxTime)
	maxTime = 200 * time.Millisecond
	rule := fmt.Sprintf(": m\n  [1,2,3,4,5,6,7,8,9,10].exists(i, %q.matches('(a{0,30}){0,30}b'))\n", strings.Repeat("a", 10000))
	text := ""
	for i := range 20 {
		text += fmt.Sprintf("forbid r%d%s", i, rule)
	}
	set, err := New([]File{{Name: "policy/slow.cel", Text: text}})
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	got := set.Decide(Input{}).Forbids()
	if took := time.Since(began); len(got) != 20 || !strings.Contains(got[19].Message, "takes too long") || took > 5*time.Second {
		t.Errorf("after %s: %+v", took, got)
	}
}
