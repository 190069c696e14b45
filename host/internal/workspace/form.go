package workspace

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"github.com/paxiom/relay/host/internal/beneath"
)

// form is what a schema says of the form of a report.
type form struct {
	Closed     any              `json:"additionalProperties"` // false: no other properties
	Properties map[string]*form `json:"properties"`
	Items      *form            `json:"items"`
	Enum       []any            `json:"enum"`
}

// formOf reads the schema of reports that the operator keeps in the workspace, such as seed
// 001's; nil where there is none.
func (w *Workspace) formOf() *form {
	b, err := beneath.ReadFile(w.root, w.rel+"/schemas/report.schema.json", 1<<20)
	f := new(form)
	if err != nil || json.Unmarshal(b, f) != nil {
		return nil
	}
	return f
}

// isReport reports whether a file is the report of a run.
func isReport(rel string) bool {
	return rel == "REPORT.json" || strings.HasPrefix(rel, "history/") && filepath.Base(rel) == "report.json"
}

// fit cuts a report to the form: the properties and codes that a closed schema does not have
// are left out of the copy, for programs that hold it to that schema.
func (f *form) fit(report []byte) []byte {
	dec := json.NewDecoder(bytes.NewReader(report))
	dec.UseNumber()
	var v any
	if f == nil || dec.Decode(&v) != nil {
		return report
	}
	out, err := json.MarshalIndent(f.cut(v), "", "  ")
	if err != nil {
		return report
	}
	return append(out, '\n')
}

func (f *form) cut(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			if p := f.Properties[k]; p != nil {
				v[k] = p.cut(x)
			} else if f.Closed == false {
				delete(v, k)
			}
		}
	case []any:
		for i := range v {
			if f.Items != nil {
				v[i] = f.Items.cut(v[i])
			}
		}
	case string:
		if len(f.Enum) > 0 && !slices.Contains(f.Enum, any(v)) {
			return nearest(v)
		}
	}
	return v
}

// nearest is the code of seed 001 that says most of what a later one does.
func nearest(code string) string {
	switch code {
	case "STOP_SECRET_IN_CHANGE", "STOP_POLICY_FORBIDDEN":
		return "STOP_SCOPE_VIOLATION_FORBIDDEN"
	case "STOP_OLD_TESTS_FAIL", "STOP_HIDDEN_CHECK_FAILED", "STOP_TESTS_MISSING":
		return "STOP_VERIFY_FAILED_SLOW"
	case "BLOCKED_BUDGET_CAP":
		return "BLOCKED_BUDGET_EXHAUSTED"
	case "BLOCKED_BEYOND_CEILING", "BLOCKED_TASK_INVALID":
		return "BLOCKED_ORCHESTRATOR_OUTPUT_INVALID"
	}
	if strings.HasPrefix(code, "BLOCKED_") {
		return "BLOCKED_MISSING_CONFIG"
	}
	if strings.HasPrefix(code, "STOP_") {
		return "STOP_INTERRUPTED"
	}
	return code
}
