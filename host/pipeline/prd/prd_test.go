package prd

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"
)

// seed is the list as the first users write it.
const seed = `{
  "project": "sample",
  "tasks": [
    {
      "id": "setup", "title": "Set up", "status": "completed", "priority": 1,
      "depends_on": [], "acceptance_criteria": ["go build works"],
      "validation": {"command": "go build ./..."},
      "artifacts": {"plan": null, "review": null}, "completed_at": "2026-04-08T12:20:00Z", "notes": null
    },
    {"id": "low", "title": "Later", "status": "pending", "priority": 9, "depends_on": ["setup"], "owner": {"name": "Ada"}},
    {"id": "high", "title": "Sooner", "status": "pending", "priority": 2, "depends_on": ["setup"],
     "validation": {"command": ["go", "test", "-run", "A b", "./..."]}},
    {"id": "last", "title": "End", "status": "pending", "priority": 1, "depends_on": ["low", "high"]}
  ]
}
`

func parse(t *testing.T, s string) *List {
	t.Helper()
	l, err := Parse([]byte(s))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func ids(ts []*Task) (out []string) {
	for _, t := range ts {
		out = append(out, t.ID)
	}
	return
}

func TestParse(t *testing.T) {
	l := parse(t, seed)
	if got, want := ids(l.Ready()), []string{"high", "low"}; !reflect.DeepEqual(got, want) {
		t.Errorf("ready %v, want %v", got, want)
	}
	if got := l.Find("setup").Validation.Command; !reflect.DeepEqual(got, Command{"go", "build", "./..."}) {
		t.Errorf("command %q", got)
	}
	if got := l.Find("high").Validation.Command; !reflect.DeepEqual(got, Command{"go", "test", "-run", "A b", "./..."}) {
		t.Errorf("command %q", got)
	}
	if got := l.Waits(l.Find("last")); !reflect.DeepEqual(got, []string{"low", "high"}) {
		t.Errorf("waits %v", got)
	}
}

func TestParseRefuses(t *testing.T) {
	task := func(s string) string { return `{"tasks":[` + s + `]}` }
	for name, c := range map[string]struct{ text, want string }{
		"no list":        {`{}`, "must be a list"},
		"array":          {`[]`, "must be an object"},
		"trailing comma": {`{"tasks":[],}`, "line 1"},
		"twice":          {`{"tasks":[],"tasks":[]}`, "tasks"},
		"no id":          {task(`{"title":"x"}`), "tasks[0].id: is missing"},
		"bad id":         {task(`{"id":"../x","title":"x"}`), "letters, digits"},
		"lock":           {task(`{"id":"x.lock","title":"x"}`), "letters, digits"},
		"long id":        {task(`{"id":"` + strings.Repeat("x", 65) + `","title":"x"}`), "longer than 64"},
		"same id":        {task(`{"id":"a","title":"x"},{"id":"a","title":"y"}`), `"a" is the id of tasks[0] too`},
		"no title":       {task(`{"id":"a"}`), "title: is missing"},
		"status":         {task(`{"id":"a","title":"x","status":"maybe"}`), `"maybe" is none of`},
		"missing":        {task(`{"id":"a","title":"x","depends_on":["B_c"]},{"id":"b-c","title":"y"}`), `there is no task "B_c"; "b-c" is one`},
		"itself":         {task(`{"id":"a","title":"x","depends_on":["a"]}`), "a → a"},
		"circle": {task(`{"id":"z","title":"z","depends_on":["a"]},{"id":"a","title":"x","depends_on":["b"]},{"id":"b","title":"x","depends_on":["c"]},
			{"id":"c","title":"x","depends_on":["a"]}`), "a → b → c → a"},
		"type":  {task(`{"id":"a","title":7}`), "title: a number does not fit"},
		"shell": {task(`{"id":"a","title":"x","validation":{"command":"go test && rm $X"}}`), "write the command as a list: [\"sh\", \"-c\", \"go test && rm $X\"]"},
		"pipe":  {task(`{"id":"a","title":"x","validation":{"command":"go test | tee x"}}`), `["sh", "-c", "go test | tee x"]`},
		"glob":  {task(`{"id":"a","title":"x","scope":{"allowed_globs":["../x"]}}`), "the pattern"},
		"empty": {``, ""},
	} {
		_, err := Parse([]byte(c.text))
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func TestSplit(t *testing.T) {
	for in, want := range map[string][]string{
		"go test ./...":                     {"go", "test", "./..."},
		` a  'b c' "d e" f\ g `:             {"a", "b c", "d e", "f g"},
		`x '' ""`:                           {"x", "", ""},
		`npm run test:unit -- --grep 'a|b'`: {"npm", "run", "test:unit", "--", "--grep", "a|b"},
		`a#b c~d`:                           {"a#b", "c~d"},
		"":                                  nil,
		"a b&&c && d":                       {"a", "b", "&&", "c", "&&", "d"},
	} {
		if got, err := Split(in); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %q %v", in, got, err)
		}
	}
	for _, in := range []string{"a; b", "a $X", "a `b`", "a > f", `"a $X"`, "X=1 go test", "a 'b", "ls *", "a\nb", "cd x && y", "source venv/bin/activate && pytest", ". env && y", "y && exit 0", "export X && y", "a && X=1 b", "a &&", "&& a", "a && && b", "a '&&' b", "a & b", "~/x", "a\x00"} {
		if got, err := Split(in); err == nil {
			t.Errorf("%q was taken as %q", in, got)
		}
	}
}

func TestSteps(t *testing.T) {
	for in, want := range map[string][][]string{
		`"a b && c"`:             {{"a", "b"}, {"c"}},
		`["a", "&&", "b", "c"]`:  {{"a"}, {"b", "c"}},
		`["sh", "-c", "a && b"]`: {{"sh", "-c", "a && b"}},
		`null`:                   nil,
	} {
		var c Command
		if err := json.Unmarshal([]byte(in), &c); err != nil || !reflect.DeepEqual(c.Steps(), want) {
			t.Errorf("%s: %q %v", in, c.Steps(), err)
		}
	}
	for _, in := range []string{`["&&", "a"]`, `["a", "&&"]`, `["a", "&&", "&&", "b"]`} {
		var c Command
		if json.Unmarshal([]byte(in), &c) == nil {
			t.Errorf("%s was taken as %q", in, c)
		}
	}
}

func TestHeld(t *testing.T) {
	l := parse(t, `{"tasks":[{"id":"a","title":"a","status":"failed"},{"id":"b","title":"b","depends_on":["a"]},
		{"id":"c","title":"c","depends_on":["b"]},{"id":"d","title":"d"},{"id":"e","title":"e","depends_on":["s"]},{"id":"s","title":"s","status":"skipped"}]}`)
	if got, want := l.Held(), map[string]string{"b": "a", "c": "a"}; !reflect.DeepEqual(got, want) {
		t.Errorf("held %v, want %v", got, want)
	}
	if got := ids(l.Ready()); !reflect.DeepEqual(got, []string{"d", "e"}) {
		t.Errorf("ready %v", got)
	}
}

func TestEditKeepsTheRest(t *testing.T) {
	f := &File{Path: filepath.Join(t.TempDir(), "prd.json")}
	if err := os.WriteFile(f.Path, []byte(seed), 0o644); err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 11, 21, 9, 0, 0, 500, time.UTC)
	if err := f.Edit(SetStatus("low", Completed, at, "quick")); err != nil {
		t.Fatal(err)
	}
	b, _ := os.ReadFile(f.Path)
	for _, want := range []string{`"owner": {"name": "Ada"}`, `"project": "sample"`, `"2026-11-21T09:00:00Z"`, `"quick"`, "\n      \"depends_on\": [], "} {
		if !strings.Contains(string(b), want) {
			t.Errorf("%s is gone:\n%s", want, b)
		}
	}
	if err := f.Edit(Add(Task{ID: "new", Title: "New <b> & co", DependsOn: []string{"last"}})); err != nil {
		t.Fatal(err)
	}
	if err := f.Edit(Depend("new", []string{"high"}, []string{"last"})); err != nil {
		t.Fatal(err)
	}
	l, err := f.Read()
	if err != nil {
		t.Fatal(err)
	}
	if got := l.Find("new"); got.Title != "New <b> & co" || !reflect.DeepEqual(got.DependsOn, []string{"high"}) || got.Status != Pending {
		t.Errorf("%+v", got)
	}
	if err := f.Edit(Depend("high", []string{"new"}, nil)); err == nil || !strings.Contains(err.Error(), "circle") {
		t.Errorf("a circle was written: %v", err)
	}
	var doc map[string]any
	b, _ = os.ReadFile(f.Path)
	if err := json.Unmarshal(b, &doc); err != nil || doc["project"] != "sample" {
		t.Errorf("%v\n%s", err, b)
	}
}

// TestTwoWriters edits one file from several sides at once: no edit may be lost.
func TestTwoWriters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "prd.json")
	var tasks []Task
	for i := range 40 {
		tasks = append(tasks, Task{ID: fmt.Sprintf("t%d", i), Title: "x"})
	}
	b, err := Format(tasks)
	if err != nil {
		t.Fatal(err)
	}
	os.WriteFile(path, b, 0o644)
	f := &File{Path: path}
	var wg sync.WaitGroup
	for i := range 40 {
		wg.Go(func() {
			if err := f.Edit(SetStatus(fmt.Sprintf("t%d", i), Completed, time.Now(), "")); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	l, err := f.Read()
	if err != nil || l.Count()[Completed] != 40 {
		t.Fatalf("%v %v", err, l.Count())
	}
}

func TestMidEdit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "prd.json")
	os.WriteFile(path, []byte(seed), 0o644)
	f := &File{Path: path}
	if _, err := f.Read(); err != nil {
		t.Fatal(err)
	}
	os.WriteFile(path, []byte(seed[:len(seed)/2]), 0o644)
	if _, err := f.Read(); err == nil {
		t.Fatal("half a file was read")
	}
	if err := f.Edit(SetStatus("low", Failed, time.Time{}, "")); err == nil {
		t.Fatal("half a file was edited")
	}
	os.WriteFile(path, []byte(strings.Replace(seed, `"low", "title"`, `"lower", "title"`, 1)), 0o644)
	if _, err := f.Read(); err == nil || !strings.Contains(err.Error(), `"low"`) {
		t.Fatalf("%v", err)
	}
}

func TestDraw(t *testing.T) {
	want := "✓ setup  Set up\n├─ ○ low  Later  (ready)\n│  └─ ○ last  End  (also after high)\n└─ ○ high  Sooner  (ready)\n"
	if got := parse(t, seed).Tree(func(s string) string { return s }); got != want {
		t.Errorf("\n%s\nwant\n%s", got, want)
	}
	dot := parse(t, strings.Replace(seed, "Later", `La\"te\u001b[2Jr`, 1)).DOT()
	if strings.Contains(dot, "\x1b") || !strings.Contains(dot, `"low" -> "last";`) || !strings.Contains(dot, `La\"te`) {
		t.Error(dot)
	}
}
