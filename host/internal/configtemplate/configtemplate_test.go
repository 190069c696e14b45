package configtemplate

import (
	"encoding/json"
	"reflect"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/paxiom/relay/host/internal/detect"
	"github.com/paxiom/relay/schemas"
)

var choices = map[string]Choice{
	"go": {Provider: "claude", Builder: "claude-code", Project: detect.Project{
		Sources: []string{"**/*.go", "docs/**"},
		Checks:  []detect.Check{{ID: "test", Cmd: "go", Args: []string{"test", "./..."}}}}},
	"other models":  {Provider: "gemini", Builder: "gemini-cli", Models: &Models{Orchestrator: "gemini-2.5-pro", Builder: "gemini-2.5-pro"}},
	"nothing found": {Provider: "claude", Builder: "patch"},
	"odd names":     {Provider: "claude", Builder: "patch", Project: detect.Project{Sources: []string{"a: b/**", "- x", "{y}/**", "\u00e9#/**"}}},
}

// Both forms say the same, and both are valid by the published schema.
func TestBothFormsAgree(t *testing.T) {
	for name, c := range choices {
		t.Run(name, func(t *testing.T) {
			j, err := JSON(c)
			if err != nil {
				t.Fatal(err)
			}
			if err := schemas.Validate("config", j); err != nil {
				t.Fatal(err)
			}
			y, err := YAML(c)
			if err != nil {
				t.Fatal(err)
			}
			var fromJSON, fromYAML map[string]any
			if err := json.Unmarshal(j, &fromJSON); err != nil {
				t.Fatal(err)
			}
			if err := yaml.Unmarshal(y, &fromYAML); err != nil {
				t.Fatalf("%v in:\n%s", err, y)
			}
			delete(fromJSON, "$schema")
			again, err := json.Marshal(fromYAML)
			if err != nil {
				t.Fatal(err)
			}
			fromYAML = nil
			if err := json.Unmarshal(again, &fromYAML); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(fromJSON, fromYAML) {
				t.Errorf("JSON %v\nYAML %v", fromJSON, fromYAML)
			}
		})
	}
}
