package answer

import (
	"encoding/json"
	"strings"
	"testing"
)

const (
	planText = `{"approach":"Hash it.","steps":[{"do":"write Login","files":["login.go"]}],"checks":["go test"],"risks":[],"question":""}`
	reviewed = `{"summary":"all of it","findings":[{"severity":"major","file":"login.go","line":2,"claim":"lets all in","evidence":"return true"}]}`
	cleaned  = `{"summary":"done","memory":"hashes","findings":[{"id":"F1","outcome":"fixed","why":"it compares"}],"notes":[]}`
)

func TestRead(t *testing.T) {
	p, err := ReadPlan([]byte("```json\n" + planText + "\n```\n"))
	if err != nil || p.Steps[0].Files[0] != "login.go" {
		t.Fatalf("%+v, %v", p, err)
	}
	if text := p.Text(); text != "Hash it.\n\nSteps\n1. write Login\n   files: login.go\n\nChecks\n- go test\n" {
		t.Errorf("%q", text)
	}
	if _, err := ReadPlan([]byte("```json\n```")); err == nil || !strings.Contains(err.Error(), "a code fence with nothing in it") {
		t.Errorf("an empty fence: %v", err)
	}
	if r, err := ReadReview([]byte(reviewed)); err != nil || len(r.Findings) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	c, err := ReadCleanup([]byte(cleaned))
	if err != nil || strings.Join(c.Open([]string{"F1", "F2"}), " ") != "F2" {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestReadTasks(t *testing.T) {
	text := `{"tasks":[{"id":"a-b","title":"A","description":"","priority":1,"depends_on":[],"acceptance_criteria":["x"],"validation_command":["go","test"],"checks_first":["y"]}]}`
	all, err := ReadTasks([]byte(text))
	if err != nil || len(all) != 1 || all[0].ID != "a-b" || all[0].Validation.Command[1] != "test" || all[0].ChecksFirst[0] != "y" {
		t.Errorf("%+v, %v", all, err)
	}
	for _, bad := range []string{strings.Replace(text, "a-b", "A b", 1), strings.Replace(text, `"go","test"`, `""`, 1), strings.Replace(text, `["y"]`, `[]`, 1)} {
		if _, err := ReadTasks([]byte(bad)); err == nil {
			t.Errorf("%s was taken", bad)
		}
	}
}

func TestReadRefuses(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"nothing":    {" \n", "empty"},
		"prose":      {"All is well.", "not a JSON object"},
		"two":        {reviewed + reviewed, "not a JSON object"},
		"severity":   {strings.Replace(reviewed, "major", "huge", 1), "/findings/0/severity"},
		"a word on":  {strings.Replace(reviewed, `"line"`, `"x":1,"line"`, 1), "/findings/0"},
		"twice":      {strings.Replace(reviewed, `"line":2`, `"line":2,"line":3`, 1), "not a JSON object"},
		"no claim":   {strings.Replace(reviewed, `"claim":"lets all in",`, "", 1), "claim"},
		"other case": {strings.Replace(reviewed, `"line"`, `"Line"`, 1), "/findings/0"},
	} {
		if _, err := ReadReview([]byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func TestSame(t *testing.T) {
	f := Finding{File: "a.go", Line: 3, Claim: "lets all in", Evidence: "return true"}
	for name, c := range map[string]struct {
		other Finding
		want  bool
	}{
		"moved":        {Finding{File: "a.go", Line: 9, Claim: "lets  all in", Evidence: "x"}, true},
		"said anew":    {Finding{File: "a.go", Line: 3, Claim: "anyone may enter", Evidence: "return  true"}, true},
		"another file": {Finding{File: "b.go", Line: 3, Claim: "lets all in", Evidence: "return true"}, false},
		"another flaw": {Finding{File: "a.go", Line: 3, Claim: "leaks", Evidence: "open(x)"}, false},
	} {
		if f.Same(c.other) != c.want {
			t.Errorf("%s: not %v", name, c.want)
		}
	}
}

// A verdict without evidence that can be found is none.
func TestSettle(t *testing.T) {
	w := Witness{
		File: func(p string) (string, bool) {
			return "package login\n\nfunc Login(p string) bool {\n\treturn ok(p)\n}\n", p == "login.go"
		},
		Output: map[string]string{"go test ./login": "ok  \tlogin\t0.01s\n"},
	}
	file := func(line int, quote string) Evidence {
		return Evidence{Kind: "file", File: "login.go", Line: line, Quote: quote}
	}
	ran := func(cmd, quote string) Evidence { return Evidence{Kind: "command", Command: cmd, Quote: quote} }
	for name, c := range map[string]struct {
		verdict  string
		evidence []Evidence
		want     string
		doubt    string
	}{
		"in the file":         {Yes, []Evidence{file(3, "func Login(p string) bool {\n return ok(p)")}, Yes, ""},
		"a line beside":       {No, []Evidence{file(1, "return ok(p)")}, No, ""},
		"printed":             {Yes, []Evidence{ran("go test ./login", "ok login")}, Yes, ""},
		"none":                {Yes, nil, Unsure, "no evidence"},
		"invented":            {Yes, []Evidence{file(3, "func Logout()")}, Unsure, "the quote isn't in"},
		"one of two invented": {Yes, []Evidence{file(4, "return ok(p)"), ran("go test ./login", "PASS: TestAll")}, Unsure, "printed nothing"},
		"no such line":        {Yes, []Evidence{file(99, "return ok(p)")}, Unsure, "no line 99"},
		"no such file":        {No, []Evidence{{Kind: "file", File: "../x", Line: 1, Quote: "x"}}, Unsure, "no file"},
		"never run":           {Yes, []Evidence{ran("true", "ok")}, Unsure, "never run"},
		"blank":               {Yes, []Evidence{file(2, " \n ")}, Unsure, "empty"},
		"unsure stays":        {Unsure, nil, Unsure, ""},
	} {
		got := (&Criteria{[]Verdict{{Criterion: 1, Verdict: c.verdict, Why: "so", Evidence: c.evidence}}}).Settle(1, w)
		if got[0].Verdict != c.want || !strings.Contains(got[0].Doubt, c.doubt) || c.doubt == "" && got[0].Doubt != "" {
			t.Errorf("%s: %s (%s)", name, got[0].Verdict, got[0].Doubt)
		}
	}
	yes := Verdict{Criterion: 2, Verdict: Yes, Evidence: []Evidence{file(4, "return")}}
	got := (&Criteria{[]Verdict{yes, yes, {Criterion: 7, Verdict: Yes}}}).Settle(2, w)
	if got[0].Doubt != "nothing was said of it" || got[1].Verdict != Unsure {
		t.Errorf("%+v", got)
	}
}

// FuzzRead: nothing that is read breaks the rules of its schema or panics.
func FuzzRead(f *testing.F) {
	f.Add(planText)
	f.Add("```\n" + reviewed + "```")
	f.Fuzz(func(t *testing.T, text string) {
		if r, err := ReadReview([]byte(text)); err == nil {
			if b, err := json.Marshal(r); err != nil {
				t.Fatal(err)
			} else if _, err := ReadReview(b); err != nil {
				t.Fatalf("%s: %v", b, err)
			}
		}
		_, _ = ReadPlan([]byte(text))
		_, _ = ReadCriteria([]byte(text))
	})
}
