package main

import (
	"encoding/json"

	"github.com/paxiom/relay/plugins/internal/outschema"
)

// review is the transport for reviewers: the program reads the repository in a
// read-only run, and its answer is held to a schema. The program has a review of its
// own (`codex exec review`), which turns what the model found into prose, drops its
// verdict and counts no tokens.
const review = "review"

// reviewSchema holds the answer of a review for which the request has no schema.
var reviewSchema = mustCompile(`{
  "type": "object", "additionalProperties": false,
  "required": ["verdict", "explanation", "findings"],
  "properties": {
    "verdict": {"type": "string", "enum": ["correct", "incorrect"], "description": "correct: nothing that must be fixed before the change lands"},
    "explanation": {"type": "string", "minLength": 1},
    "findings": {"type": "array", "items": {
      "type": "object", "additionalProperties": false,
      "required": ["title", "body", "priority", "confidence", "file", "first_line", "last_line"],
      "properties": {
        "title": {"type": "string", "minLength": 1},
        "body": {"type": "string", "description": "why it is a problem, and for whom"},
        "priority": {"type": "integer", "minimum": 0, "maximum": 3, "description": "0: drop everything. 3: nice to have"},
        "confidence": {"type": "number", "minimum": 0, "maximum": 1},
        "file": {"type": "string", "description": "relative to the repository's root"},
        "first_line": {"type": "integer", "minimum": 1},
        "last_line": {"type": "integer", "minimum": 1}
      }
    }}
  }
}`)

func mustCompile(schema string) *outschema.Schema {
	s, err := outschema.Compile(json.RawMessage(schema))
	if err != nil {
		panic(err) // it is ours
	}
	return s
}
