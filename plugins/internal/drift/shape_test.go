package drift

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// A recording that was doctored is noticed by its shape, and other values are not.
func TestChanges(t *testing.T) {
	b, err := os.ReadFile("../claudecli/testdata/build.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	recorded := Of(bytes.Split(bytes.TrimSpace(b), []byte("\n")), 0)
	for name, tc := range map[string]struct {
		old, with string
		exit      int
		says      string // "": no change
	}{
		"the same":         {},
		"another value":    {old: `"text":"Done: Add now adds."`, with: `"text":"Something else."`},
		"exit code":        {exit: 1, says: "exit code 1, was 0"},
		"renamed field":    {old: `"is_error":false,"num_turns"`, with: `"failed":false,"num_turns"`, says: "result/success: is_error is gone"},
		"new field":        {old: `"is_error":false,"num_turns"`, with: `"extra":{"deep":[1]},"is_error":false,"num_turns"`, says: "result/success: extra is new, object"},
		"another type":     {old: `"num_turns":`, with: `"num_turns":"","x":`, says: "num_turns is string, was number"},
		"renamed event":    {old: `"subtype":"init"`, with: `"subtype":"hello"`, says: "system/hello"},
		"another order":    {old: `"type":"user"`, with: `"type":"tool"`, says: "tool/tool_result"},
		"line of text":     {old: `{"type":"system","subtype":"init"`, with: "Welcome!\n" + `{"type":"system","subtype":"init"`, says: "text that is not an event"},
		"event that ended": {old: `{"type":"system","subtype":"init"`, with: `{"type":"system","subtype":"init"}` + "\n" + `{"was":"init"`, says: "is gone"},
	} {
		t.Run(name, func(t *testing.T) {
			text := string(b)
			if tc.old != "" {
				if text = strings.ReplaceAll(text, tc.old, tc.with); text == string(b) {
					t.Fatalf("%s is not in the recording", tc.old)
				}
			}
			said := strings.Join(recorded.Changes(Of(bytes.Split([]byte(strings.TrimSpace(text)), []byte("\n")), tc.exit)), "\n")
			if strings.Contains(said, "deep") {
				t.Errorf("a part of what is new is told by itself: %q", said)
			}
			if (said == "") != (tc.says == "") || !strings.Contains(said, tc.says) {
				t.Errorf("said %q", said)
			}
		})
	}
}

func TestTidy(t *testing.T) {
	got := tidy(`{"at":"2027-01-02T03:04:05.678Z","id":"0a1b2c3d-0000-4000-8000-0a1b2c3d4e5f","cwd":"/tmp/x/repo","duration_ms":12.5,"url":"http://127.0.0.1:4711/v1"}`,
		"session-1", "/tmp/x/repo", "/tmp/y", "http://127.0.0.1:4711")
	want := `{"at":"2026-11-21T09:00:00.000Z","id":"session-1","cwd":"/repo","duration_ms":0,"url":"http://127.0.0.1:9900/v1"}`
	if got != want {
		t.Error(got)
	}
}

// What every case shows is one line.
func TestSummary(t *testing.T) {
	sum, text := summary([]string{"a", "b", "c"}, []string{"result: x is new, string", "", "result: x is new, string\nexit code 1, was 0"})
	if want := "1 of 3 cases as recorded, 2 differences"; sum != want {
		t.Errorf("%q, want %q", sum, want)
	}
	if want := "  result: x is new, string (2 cases, such as a)\n  exit code 1, was 0 (c)\n"; text != want {
		t.Errorf("%q, want %q", text, want)
	}
	if sum, text = summary([]string{"a"}, []string{""}); sum != "all 1 cases as recorded" || text != "" {
		t.Errorf("%q, %q", sum, text)
	}
}
