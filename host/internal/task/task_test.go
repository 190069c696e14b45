package task

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/schemas"
)

const valid = `{"task_id":"t1","milestone_id":"m1","task_kind":"execute","intent":"do it",
"scope":{"allowed_globs":["src/**"],"forbidden_globs":[".git/**"],"allow_new_files":false,"allow_lockfile_changes":false},
"diff_limits":{"max_files_touched":12,"max_lines_changed":400},
"verification":{"fast":["lint"],"slow":[],"params":{"lint":{"pkg":"core"}}},
"builder":{"mode":"claude_code","max_turns":4,"instructions":"x"}}`

var installed = Options{Builders: []string{"claude-code", "claude_code", "cursor", "external", "patch"}}

// merged lays an object over the valid task; null takes a key away.
func merged(t testing.TB, over string) []byte {
	t.Helper()
	var base, o map[string]any
	if err := json.Unmarshal([]byte(valid), &base); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(over), &o); err != nil {
		t.Fatalf("%s: %v", over, err)
	}
	lay(base, o)
	b, err := json.Marshal(base)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func lay(base, over map[string]any) {
	for k, v := range over {
		b, ok1 := base[k].(map[string]any)
		o, ok2 := v.(map[string]any)
		switch {
		case v == nil:
			delete(base, k)
		case ok1 && ok2:
			lay(b, o)
		default:
			base[k] = v
		}
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	got, err := Parse([]byte(valid), installed)
	if err != nil {
		t.Fatal(err)
	}
	if got.Kind != judge.Execute || got.Scope.AllowedGlobs[0] != "src/**" || got.DiffLimits.MaxLinesChanged != 400 ||
		got.Verification.Params["lint"]["pkg"] != "core" || got.Builder.Mode != "claude_code" || got.Control != nil {
		t.Errorf("%+v", got)
	}
	for name, over := range map[string]string{
		"patch":             `{"builder":{"mode":"patch","patch":"diff"}}`,
		"cursor":            `{"builder":{"mode":"cursor"}}`,
		"question":          `{"task_kind":"question","question":{"prompt":"which?","choices":["a","b"]}}`,
		"verify_only":       `{"task_kind":"verify_only"}`,
		"control":           `{"builder":null,"control":{"action":"stop","reason":"done"}}`,
		"control, question": `{"builder":null,"control":{"action":"continue"},"task_kind":"question","question":{"prompt":"p"}}`,
		"unknown check":     `{"verification":{"fast":["nope"]}}`,
		"scalar parameters": `{"verification":{"params":{"x":{"a":1,"b":true,"c":null}}}}`,
		"a path as an id":   `{"task_id":"../../../evil","milestone_id":"Milestone 1: löschen"}`,
		"empty lists":       `{"scope":{"forbidden_globs":[]},"verification":{"fast":[],"slow":[],"params":{}}}`,
		"escapes in intent": `{"intent":"\u001b[2J hi\n"}`,
	} {
		if _, err := Parse(merged(t, over), installed); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Parse(merged(t, `{"builder":{"mode":"anything"}}`), Options{}); err != nil {
		t.Errorf("no list of builders: %v", err)
	}
}

// The reasons are read by a model: each names the place and what is expected.
func TestParseReasons(t *testing.T) {
	t.Parallel()
	many := `["` + strings.Repeat(`a","`, 16) + `a"]`
	tests := []struct{ over, want string }{
		{`{"builder":{"mode":"vim"}}`, `builder.mode: must be one of "claude-code", "claude_code", "cursor", "external", "patch", not "vim"`},
		{`{"builder":null}`, "neither builder nor control is there; exactly one of them is needed"},
		{`{"control":{"action":"stop"}}`, "builder and control are both there; exactly one of them is needed"},
		{`{"builder":null,"control":{"action":"halt"}}`, `control.action: must be one of "continue", "stop", not "halt"`},
		{`{"builder":{"mode":"patch"}}`, `builder.patch: is required when builder.mode is "patch"`},
		{`{"task_kind":"question"}`, `question: is required when task_kind is "question"`},
		{`{"task_kind":"question","question":{"prompt":"x"},"builder":{"mode":"patch","patch":"p"}}`, `builder.mode: must not be "patch" when task_kind is "question"`},
		{`{"task_kind":"other"}`, `task_kind: must be one of "execute", "verify_only", "question", not "other"`},
		{`{"task_id":null,"intent":null}`, "intent: is required; task_id: is required"},
		{`{"runner":{"max_tick_seconds":1}}`, "runner: is not a key of a task"},
		{`{"scope":{"Allowed_globs":["**"]}}`, "scope.Allowed_globs: is not a key of a task"},
		{`{"scope":{"allowed_globs":[]}}`, "scope.allowed_globs: must have at least 1 item"},
		{`{"scope":{"allowed_globs":["a",""]}}`, "scope.allowed_globs[1]: must not be empty"},
		{`{"scope":{"allowed_globs":["!docs/x"]}}`, `scope.allowed_globs[0]: the pattern "!docs/x" contains '!'; only literals`},
		{`{"scope":{"forbidden_globs":["a","/x"]}}`, `scope.forbidden_globs[1]: the pattern "/x" begins with "/"`},
		{`{"scope":{"allow_new_files":"yes"}}`, "scope.allow_new_files: must be boolean, not string"},
		{`{"diff_limits":{"max_files_touched":12.5}}`, "diff_limits.max_files_touched: must be integer, not number"},
		{`{"diff_limits":{"max_files_touched":-1,"max_lines_changed":20001}}`, "diff_limits.max_files_touched: must be at least 1; diff_limits.max_lines_changed: must be at most 20000"},
		{`{"verification":{"fast":` + many + `}}`, "verification.fast: has 17 items, at most 16 are allowed"},
		{`{"verification":{"params":{"x":{"a":{}}}}}`, "verification.params.x.a: must be"},
		{`{"verification":{"params":{"a b":{"é":[]}}}}`, `verification.params["a b"]["é"]: must be`},
		{`{"intent":"` + strings.Repeat("é", 1201) + `"}`, "intent: has 1201 characters, at most 1200 are allowed"},
		{`{"milestone_id":"a\nb"}`, "milestone_id: must be one line of printable characters"},
		{`{"task_id":"a\u202eb"}`, "task_id: must be one line of printable characters"},
		{`{"builder":{"max_turns":"4"}}`, "builder.max_turns: must be integer, not string"},
		{`{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1}`, "and 2 more"},
	}
	for _, tt := range tests {
		_, err := Parse(merged(t, tt.over), installed)
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%.60s:\n got %v\nwant %s", tt.over, err, tt.want)
		}
	}
	for text, want := range map[string]string{
		"":                   "the task is empty",
		"[" + valid + "]":    "the task must be one JSON object",
		"null":               "the task must be one JSON object",
		"```json\n" + valid:  "the task at line 1, column 1: begins with a code fence",
		"Sure! " + valid:     "the task at line 1, column 1: is not JSON",
		valid + valid:        "something follows the JSON value",
		valid[:len(valid)-1]: "the JSON value is cut off",
		strings.Replace(valid, `:12,`, `:12,,`, 1):                            "is not JSON",
		strings.Replace(valid, `"intent"`, `"intent":"x","intent"`, 1):        "intent: the key appears twice",
		strings.Replace(valid, `:12,`, `:1e1,`, 1):                            "diff_limits.max_files_touched: must be a whole number",
		strings.Replace(valid, `"x"}}`, `"`+strings.Repeat("y", MaxBytes), 1): "bytes; at most 2097152 are read",
	} {
		_, err := Parse([]byte(text), installed)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %q", text, err, want)
		}
	}
}

// Every case of the corpus reports whether its task is one.
func TestParseCorpus(t *testing.T) {
	t.Parallel()
	cases, err := filepath.Glob("../../../testdata/corpus/cases/*")
	if err != nil || len(cases) < 100 {
		t.Fatalf("%d cases, %v", len(cases), err)
	}
	refused := 0
	for _, dir := range cases {
		var c struct{ Expected struct{ Code any } }
		b, err := os.ReadFile(filepath.Join(dir, "case.json"))
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(b, &c); err != nil {
			t.Fatal(err)
		}
		text := corpusTask(t, dir)
		_, err = Parse(text, installed)
		codes := codeList(c.Expected.Code)
		blocked := slices.Contains(codes, string(judge.BlockedOrchestrator))
		if err != nil {
			refused++
			if !blocked {
				t.Errorf("%s: %v", filepath.Base(dir), err)
			}
		}
		if err == nil && blocked && len(codes) == 1 {
			t.Errorf("%s: is taken", filepath.Base(dir))
		}
	}
	if refused < 15 {
		t.Errorf("only %d tasks of the corpus are refused", refused)
	}
}

func codeList(v any) []string {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		var s []string
		for _, x := range v {
			s = append(s, x.(string))
		}
		return s
	}
	return nil
}

func corpusTask(t *testing.T, dir string) []byte {
	t.Helper()
	if b, err := os.ReadFile(filepath.Join(dir, "task.raw.json")); err == nil {
		return b
	}
	over := "{}"
	if b, err := os.ReadFile(filepath.Join(dir, "task.json")); err == nil {
		over = string(b)
	}
	b := merged(t, over)
	if p, err := os.ReadFile(filepath.Join(dir, "patch.diff")); err == nil {
		patch, err := json.Marshal(map[string]any{"builder": map[string]any{"patch": string(p)}})
		if err != nil {
			t.Fatal(err)
		}
		var base, o map[string]any
		if json.Unmarshal(b, &base) != nil || json.Unmarshal(patch, &o) != nil {
			t.Fatal("merge")
		}
		lay(base, o)
		if b, err = json.Marshal(base); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

func TestSchema(t *testing.T) {
	t.Parallel()
	b := Schema(installed.Builders)
	s, err := schemas.Compile(b)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal([]byte(valid), &v); err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(v); err != nil {
		t.Error(err)
	}
	v.(map[string]any)["builder"].(map[string]any)["mode"] = "vim"
	if s.Validate(v) == nil {
		t.Error("takes a builder that is not installed")
	}
	for _, key := range []string{`"$schema"`, `"$id"`, `"oneOf"`, `"allOf"`} {
		if strings.Contains(string(b), key) {
			t.Errorf("has %s, which providers refuse", key)
		}
	}
	if string(Schema(installed.Builders)) != string(b) || !strings.Contains(string(b), `"enum":["claude-code","claude_code","cursor","external","patch"]`) {
		t.Errorf("not the same each time, or without the builders: %.300s", b)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(valid))
	f.Add([]byte(strings.Replace(valid, "execute", "question", 1)))
	f.Add([]byte(strings.Replace(valid, `"builder"`, `"Builder"`, 1)))
	f.Add([]byte(strings.Replace(valid, "src/**", "src/[a]", 1)))
	f.Add([]byte("```json\n{}\n```"))
	f.Fuzz(func(t *testing.T, b []byte) {
		task, err := Parse(b, installed)
		if err != nil {
			if len(err.Error()) > 4000 || err.Error() == "" {
				t.Fatalf("%q: %q", b, err)
			}
			return
		}
		if (task.Builder == nil) == (task.Control == nil) || task.TaskID == "" || len(task.Scope.AllowedGlobs) == 0 ||
			task.DiffLimits.MaxFilesTouched < 1 || task.DiffLimits.MaxLinesChanged > 20_000 {
			t.Fatalf("%q: %+v", b, task)
		}
		out, err := json.Marshal(task)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Parse(out, installed); err != nil {
			t.Fatalf("%s does not survive: %v", out, err)
		}
	})
}

// TASK.json validates against the seed's own schema, as far as that knows such tasks: it has
// no control and no other builders, and refuses every patch task by a slip of its own.
func TestContract(t *testing.T) {
	text, err := os.ReadFile("testdata/contract.task.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	contract, err := schemas.Compile(text)
	if err != nil {
		t.Fatal(err)
	}
	for _, over := range []string{
		`{}`, `{"task_kind":"verify_only"}`, `{"verification":{"params":null}}`, `{"scope":{"forbidden_globs":[]}}`,
		`{"task_kind":"question","question":{"prompt":"Which way?"}}`, `{"task_kind":"question","question":{"prompt":"Which way?","choices":["left","right"]}}`,
	} {
		read, err := Parse(merged(t, over), installed)
		if err != nil {
			t.Fatalf("%s: %v", over, err)
		}
		written, err := json.Marshal(read)
		if err != nil {
			t.Fatal(err)
		}
		var tree any
		if err := json.Unmarshal(written, &tree); err != nil {
			t.Fatal(err)
		}
		if err := contract.Validate(tree); err != nil {
			t.Errorf("%s: %v", written, err)
		}
	}
}
