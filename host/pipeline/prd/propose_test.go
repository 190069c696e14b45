package prd

import (
	"reflect"
	"strings"
	"testing"
)

func proposal(id string, after ...string) Proposal {
	return Proposal{Task: Task{ID: id, Title: "Do " + id, Priority: 2, DependsOn: after, AcceptanceCriteria: []string{id + " works"},
		Validation: Validation{Command: Command{"go", "test", "./" + id}}}, ChecksFirst: []string{"a test of " + id + " fails"}}
}

func TestProposeANewList(t *testing.T) {
	l := parse(t, `{"project":"x","tasks":[]}`)
	before := string(l.raw)
	b, err := Propose([]Proposal{proposal("a"), proposal("b", "a"), proposal("validate-b", "a")})(l)
	if err != nil {
		t.Fatal(err)
	}
	if string(l.raw) != before {
		t.Error("the reading changed")
	}
	got := parse(t, string(b))
	var all []string
	for _, task := range got.Tasks {
		all = append(all, task.ID+"<"+strings.Join(task.DependsOn, ","))
	}
	if want := []string{"validate-a<", "a<validate-a", "validate-b<a", "b<validate-b,a"}; !reflect.DeepEqual(all, want) {
		t.Errorf("%v, want %v", all, want)
	}
	checks := got.Find("validate-b")
	if checks.Title != "VALIDATE: Do b" || checks.AcceptanceCriteria[0] != "a test of b fails" || len(checks.Validation.Command) != 0 {
		t.Errorf("%+v", checks)
	}
	if !strings.Contains(string(b), "\"project\": \"x\"") || !strings.HasSuffix(string(b), "\n}\n") {
		t.Errorf("%s", b)
	}
}

// What has begun stays, and so does all that relay does not know.
func TestProposeOnAList(t *testing.T) {
	l := parse(t, seed)
	all := []Proposal{proposal("setup"), proposal("low"), proposal("new", "setup")}
	b, err := Propose(all)(l)
	if err != nil {
		t.Fatal(err)
	}
	got := parse(t, string(b))
	if s := got.Find("setup"); s.Title != "Set up" || s.Status != Completed || got.Find("validate-setup") != nil {
		t.Errorf("a task that is over was changed: %+v", s)
	}
	if s := got.Find("low"); s.Title != "Do low" || s.Priority != 2 || !reflect.DeepEqual(s.DependsOn, []string{"validate-low"}) {
		t.Errorf("%+v", s)
	}
	if got.Find("high").Title != "Sooner" || got.Find("new") == nil {
		t.Error("a task was lost")
	}
	if !strings.Contains(string(b), `"owner": {"name": "Ada"}`) {
		t.Error("an unknown field was lost")
	}
	notes := strings.Join(l.Kept(all), "\n")
	for _, want := range []string{"setup is completed and stays", "high is not proposed any more", "last is not proposed any more"} {
		if !strings.Contains(notes, want) {
			t.Errorf("missing %q in:\n%s", want, notes)
		}
	}
	again, err := Propose(all)(got)
	if err != nil || string(again) != string(b) {
		t.Errorf("a second time it changes more: %v\n%s", err, again)
	}
}

func TestProposeNonsense(t *testing.T) {
	for name, all := range map[string][]Proposal{
		"circle":  {proposal("a", "b"), proposal("b", "a")},
		"twice":   {proposal("a"), proposal("a")},
		"unknown": {proposal("a", "nobody")},
	} {
		b, err := Propose(all)(parse(t, `{"tasks":[]}`))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if _, err := Parse(b); err == nil {
			t.Errorf("%s: taken for a list", name)
		}
	}
}
