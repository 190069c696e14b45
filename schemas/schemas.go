package schemas

import "github.com/santhosh-tekuri/jsonschema/v6"

// Names of the schemas.
const (
	Task          = "task"
	BuilderResult = "builder_result"
	Report        = "report"
	State         = "state"
	Config        = "config"
	Blocked       = "blocked"
)

// Bytes gives the text of <name>.schema.json.
func Bytes(name string) []byte { panic("todo") }

// Compiled gives the schema, compiled once per process.
func Compiled(name string) (*jsonschema.Schema, error) { panic("todo") }

// Validate checks a JSON document against the schema; the error is one line that
// names the first place that is wrong.
func Validate(name string, doc []byte) error { panic("todo") }
