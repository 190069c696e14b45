package schemas

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
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
	Config        = "config"
	Blocked       = "blocked"
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

// Bytes gives the text of <name>.schema.json. It panics for a name that is not one
// of the constants.
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
// schema made from the installed builders. References to other documents fail.
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
	if err := c.AddResource(url, doc); err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	return c.Compile(url)
}

// seedTaskID is the $id of the task schema that seed 001 publishes and that
// workspaces made by other programs hold a copy of.
const seedTaskID = "https://relais.local/schemas/task.schema.json"

// IsSeedTask tells the task schema of seed 001, whatever its format, from one that
// somebody wrote to narrow tasks. The seed's refuses every patch task and every
// control task, by a rule in the wrong place; relay's own is that schema put right,
// so the copy adds nothing.
func IsSeedTask(schema []byte) bool {
	var id struct {
		ID string `json:"$id"`
	}
	return json.Unmarshal(schema, &id) == nil && id.ID == seedTaskID
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

// Explain makes one line of what a compiled schema found: the first leaf of the
// validator's tree, with its place.
func Explain(err error) error {
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
