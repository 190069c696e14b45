package schemas

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

func TestAllCompile(t *testing.T) {
	names, err := fs.Glob(files, "*.schema.json")
	if err != nil || len(names) < 12 {
		t.Fatal(names, err)
	}
	for _, file := range names {
		n := strings.TrimSuffix(file, ".schema.json")
		if _, err := Compiled(n); err != nil {
			t.Errorf("%s: %v", n, err)
		}
		var doc any
		if err := json.Unmarshal(Bytes(n), &doc); err != nil {
			t.Errorf("%s: not JSON: %v", n, err)
		}
		described(t, n, doc)
	}
}

// described holds a schema to say of each field what it is; conditions name fields that are described elsewhere.
func described(t *testing.T, at string, v any) {
	node, _ := v.(map[string]any)
	if all, _ := v.([]any); all != nil {
		for _, v := range all {
			described(t, at, v)
		}
	}
	for name, v := range node {
		switch fields, _ := v.(map[string]any); name {
		case "if", "then", "allOf", "const", "enum", "default":
		case "properties":
			for field, v := range fields {
				if f, _ := v.(map[string]any); f["description"] == nil && f["$ref"] == nil {
					t.Errorf("%s.%s has no description", at, field)
				}
				described(t, at+"."+field, v)
			}
		default:
			described(t, at, v)
		}
	}
}

const task = `{"task_id":"t","milestone_id":"m","task_kind":"execute","intent":"i",
"scope":{"allowed_globs":["src/**"],"forbidden_globs":[],"allow_new_files":false,"allow_lockfile_changes":false},
"diff_limits":{"max_files_touched":1,"max_lines_changed":10},"verification":{"fast":[],"slow":[]},
"builder":{"mode":"patch","max_turns":1,"instructions":"x","patch":"p"}}`

func TestTask(t *testing.T) {
	control := `"control":{"action":"stop"}`
	builder := task[strings.Index(task, `"builder"`) : len(task)-1]
	for name, c := range map[string]struct{ doc, want string }{
		"patch task":          {task, ""},
		"any builder":         {strings.Replace(task, `"patch","max`, `"my-builder","max`, 1), ""},
		"patch without patch": {strings.Replace(task, `,"patch":"p"`, "", 1), "patch"},
		"control":             {strings.Replace(task, builder, control, 1), ""},
		"control and builder": {strings.Replace(task, builder, builder+","+control, 1), "at /"},
		"neither":             {strings.Replace(task, ",\n"+builder, "", 1), "at /"},
		"question without":    {strings.Replace(task, "execute", "question", 1), "question"},
		"unknown key":         {strings.Replace(task, `"intent"`, `"x":1,"intent"`, 1), "additional"},
		"wrong type":          {strings.Replace(task, `"max_turns":1`, `"max_turns":"1"`, 1), "/builder/max_turns"},
		"not JSON":            {`{`, "not valid JSON"},
		"two values":          {task + "{}", "not valid JSON"},
	} {
		err := Validate(Task, []byte(c.doc))
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: got %v, want it to contain %q", name, err, c.want)
		case err != nil && strings.Contains(err.Error(), "\n"):
			t.Errorf("%s: more than one line: %q", name, err)
		}
	}
}

// What is wrong with a schema, or by one, is one line with its place.
func TestExplain(t *testing.T) {
	s, err := Compile([]byte(`{"properties":{"a":{"items":{"additionalProperties":false}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	err = Explain(s.Validate(map[string]any{"a": []any{map[string]any{}, map[string]any{"more": 1}}}))
	if err == nil || err.Error() != "at /a/1: additional properties 'more' not allowed" {
		t.Errorf("a document: %v", err)
	}
	if _, err = Compile([]byte(`{"properties":{"a":{"pattern":"(?<=a)b"}}}`)); err == nil || !strings.HasPrefix(err.Error(), "at /properties/a/pattern: ") || strings.Contains(err.Error(), "\n") {
		t.Errorf("a schema: %v", err)
	}
}

func TestSchemasNeverLoad(t *testing.T) {
	if _, err := Compile([]byte(`{"$ref":"file:///etc/passwd"}`)); err == nil {
		t.Fatal("a reference to a file was followed")
	}
	if _, err := Compile([]byte(`{"$ref":"https://example.org/x.json"}`)); err == nil {
		t.Fatal("a reference to the network was followed")
	}
}

// A copy of the seed's task schema adds nothing to relay's; what somebody tightened in it holds.
func TestNarrowing(t *testing.T) {
	seed, err := os.ReadFile("../host/internal/task/testdata/contract.task.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	few := bytes.Replace(seed, []byte(`"maximum": 40`), []byte(`"maximum": 3`), 1)
	task := func(builder string) string {
		return `{"task_id":"T","milestone_id":"M","task_kind":"execute","intent":"x","scope":{"allowed_globs":["src/**"],"forbidden_globs":[],"allow_new_files":false,"allow_lockfile_changes":false},
			"diff_limits":{"max_files_touched":1,"max_lines_changed":9},"verification":{"fast":[],"slow":[]},` + builder + `}`
	}
	for name, c := range map[string]struct {
		schema []byte
		task   string
		want   string
	}{
		"a patch":            {seed, task(`"builder":{"mode":"patch","max_turns":1,"instructions":"x","patch":"x"}`), ""},
		"another builder":    {seed, task(`"builder":{"mode":"external","max_turns":9,"instructions":"x"}`), ""},
		"control":            {seed, task(`"control":{"action":"stop"}`), ""},
		"tightened":          {few, task(`"builder":{"mode":"external","max_turns":9,"instructions":"x"}`), "max_turns"},
		"tightened, kept to": {few, task(`"builder":{"mode":"external","max_turns":3,"instructions":"x"}`), ""},
		"somebody's own":     {[]byte(`{"required":["question"]}`), `{}`, "question"},
	} {
		s, err := Compile(Narrowing(c.schema))
		if err != nil {
			t.Fatal(name, err)
		}
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(c.task))
		if err != nil {
			t.Fatal(name, err)
		}
		if err := Explain(s.Validate(doc)); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// prd.json as relay writes it, and as the seed and other tools do, keeps its schema.
func TestTaskList(t *testing.T) {
	template, err := os.ReadFile("../host/templates/prd.json")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ doc, want string }{
		"template":       {string(template), ""},
		"unknown fields": {`{"project":"x","tasks":[{"id":"a","title":"A","owner":"me","status":"done","validation":{"command":"go test"}}]}`, ""},
		"argv":           {`{"tasks":[{"id":"a.b","title":"A","validation":{"command":["go","test"]},"scope":null,"completed_at":"2026-04-08T12:20:00Z"}]}`, ""},
		"no list":        {`{}`, "tasks"},
		"an id":          {`{"tasks":[{"id":"a b","title":"A"}]}`, "/tasks/0/id"},
		"a status":       {`{"tasks":[{"id":"a","title":"A","status":"soon"}]}`, "/tasks/0/status"},
		"a command":      {`{"tasks":[{"id":"a","title":"A","validation":{"command":1}}]}`, "/tasks/0/validation/command"},
	} {
		switch err := Validate(TaskList, []byte(c.doc)); {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: got %v, want it to contain %q", name, err, c.want)
		}
	}
}

// A builder's result is what the seed's schema says, no more and no less.
func TestBuilderResultContract(t *testing.T) {
	text, err := os.ReadFile("testdata/contract.builder_result.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	rules := func(text []byte) (tree map[string]any) {
		if err := json.Unmarshal(text, &tree); err != nil {
			t.Fatal(err)
		}
		for _, words := range []string{"$id", "title", "description"} {
			delete(tree, words)
		}
		for _, field := range tree["properties"].(map[string]any) {
			delete(field.(map[string]any), "description")
		}
		return tree
	}
	if ours, seeds := rules(Bytes(BuilderResult)), rules(text); !reflect.DeepEqual(ours, seeds) {
		t.Errorf("ours is %v\nthe seed's is %v", ours, seeds)
	}
}
