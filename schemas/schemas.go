package schemas

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Names of the schemas.
const (
	Task          = "task"
	BuilderResult = "builder_result"
	Report        = "report"
	State         = "state"
	Blocked       = "blocked"
	Evidence      = "evidence"
	Attestation   = "attestation"
	TaskList      = "prd"

	// What the models of a pipeline answer.
	PipelinePlan     = "pipeline_plan"
	PipelineReview   = "pipeline_review"
	PipelineCleanup  = "pipeline_cleanup"
	PipelineCriteria = "pipeline_criteria"
	PipelineTasks    = "pipeline_tasks"

	// Examiner is what the model that writes a hidden check answers.
	Examiner = "examiner"
)

//go:embed *.schema.json
var files embed.FS

// Bytes gives the text of <name>.schema.json. It panics where there is none.
func Bytes(name string) []byte {
	b, err := files.ReadFile(name + ".schema.json")
	if err != nil {
		panic("schemas: no schema named " + name)
	}
	return b
}

var compiled sync.Map // name → func() (*jsonschema.Schema, error)

// Compiled gives the schema, compiled once per process.
func Compiled(name string) (*jsonschema.Schema, error) {
	f, _ := compiled.LoadOrStore(name, sync.OnceValues(func() (*jsonschema.Schema, error) {
		return Compile(Bytes(name))
	}))
	return f.(func() (*jsonschema.Schema, error))()
}

// Compile compiles a schema that is not one of relay's own, for example a task
// schema made from the installed builders. References to other documents fail, and so
// does what would cost too much to apply.
func Compile(schema []byte) (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	const url = "mem:///schema.json"
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	p := &patterns{known: map[string]*regexp.Regexp{}, left: maxPatterns}
	c.UseRegexpEngine(p.compile)
	if err := c.AddResource(url, doc); err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	s, err := c.Compile(url)
	switch {
	case p.bad != nil:
		err = p.bad
	case err == nil:
		err = bound(s)
	}
	if err != nil {
		return nil, Explain(err)
	}
	return s, nil
}

// seedTaskID is the $id of the task schema that seed 001 publishes and that
// workspaces made by other programs hold a copy of.
const seedTaskID = "https://relais.local/schemas/task.schema.json"

// Narrowing makes of an operator's task schema what it adds to relay's own. A copy of seed
// 001's, changed or not, loses three parts: a rule about questions in the wrong place, which
// refuses every patch; its list of two builders; and that a builder is always there, which
// refuses every control task. What was tightened in such a copy stays.
func Narrowing(schema []byte) []byte {
	var s map[string]any
	if json.Unmarshal(schema, &s) != nil || s["$id"] != seedTaskID {
		return schema
	}
	const misplaced = `{"if":{"properties":{"task_kind":{"const":"question"}}},"then":{"properties":{"mode":{"const":"claude_code"}}}}`
	same := func(v any, text string) bool {
		b, err := json.Marshal(v) // with its keys in order
		return err == nil && string(b) == text
	}
	properties, _ := s["properties"].(map[string]any)
	builder, _ := properties["builder"].(map[string]any)
	fields, _ := builder["properties"].(map[string]any)
	if rules, ok := builder["allOf"].([]any); ok {
		if rules = slices.DeleteFunc(rules, func(r any) bool { return same(r, misplaced) }); len(rules) == 0 {
			delete(builder, "allOf")
		} else {
			builder["allOf"] = rules
		}
	}
	if mode, ok := fields["mode"].(map[string]any); ok && same(mode["enum"], `["claude_code","patch"]`) {
		delete(mode, "enum")
	}
	if _, ok := properties["control"]; !ok && properties != nil {
		properties["control"] = true
		if required, ok := s["required"].([]any); ok {
			s["required"] = slices.DeleteFunc(required, func(v any) bool { return v == "builder" })
		}
	}
	out, err := json.Marshal(s)
	if err != nil {
		return schema
	}
	return out
}

// Validate checks a JSON document against one of relay's schemas; the error is one
// line that names the first place that is wrong.
func Validate(name string, doc []byte) error {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(doc))
	if err != nil {
		return fmt.Errorf("not valid JSON: %w", err)
	}
	s, err := Compiled(name)
	if err != nil {
		return err
	}
	return Explain(s.Validate(v))
}

// Explain makes one line of what a compiled schema found, or the compiler in a schema: the first leaf of the
// validator's tree, with its place.
func Explain(err error) error {
	if se := (*jsonschema.SchemaValidationError)(nil); errors.As(err, &se) { // it wraps nothing
		err = se.Err
	}
	var ve *jsonschema.ValidationError
	if !errors.As(err, &ve) {
		return err
	}
	for len(ve.Causes) > 0 {
		ve = ve.Causes[0]
	}
	at, text := "/"+strings.Join(ve.InstanceLocation, "/"), ve.Error()
	if _, after, ok := strings.Cut(text, "': "); ok {
		text = after
	}
	if len(text) > 300 {
		text = text[:300] + "…"
	}
	return fmt.Errorf("at %s: %s", at, strings.Join(strings.Fields(text), " "))
}

type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("schemas are never loaded from elsewhere: %s", url)
}
