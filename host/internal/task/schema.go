package task

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/paxiom/relay/host/internal/strictjson"
	"github.com/paxiom/relay/schemas"
)

// Schema gives the JSON Schema that a provider is asked to answer in: that of
// schemas/task.schema.json with builder.mode limited to builders (see [Options]),
// and without the rules across keys and the header, which providers refuse.
// [Parse] holds an answer to all of it.
func Schema(builders []string) []byte {
	s := adapted(builders)
	for _, key := range []string{"$schema", "$id", "oneOf", "allOf"} {
		delete(s, key)
	}
	delete(s["properties"].(map[string]any)["builder"].(map[string]any), "allOf")
	return encode(s)
}

// adapted is the published schema with the enum of the installed builders.
func adapted(builders []string) map[string]any {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(schemas.Bytes(schemas.Task)))
	if err != nil {
		panic("task: schemas/task.schema.json: " + err.Error())
	}
	s := v.(map[string]any)
	if len(builders) > 0 {
		names := slices.Compact(slices.Sorted(slices.Values(builders)))
		builder := s["properties"].(map[string]any)["builder"].(map[string]any)
		builder["properties"].(map[string]any)["mode"] = map[string]any{"type": "string", "enum": names}
	}
	return s
}

func encode(s map[string]any) []byte {
	b, err := json.Marshal(s)
	if err != nil {
		panic("task: " + err.Error())
	}
	return b
}

var compiled sync.Map // the enum → *jsonschema.Schema

// compile gives the schema with all its rules, once for each set of builders.
func compile(builders []string) (*jsonschema.Schema, error) {
	key := strings.Join(builders, "\x00")
	if s, ok := compiled.Load(key); ok {
		return s.(*jsonschema.Schema), nil
	}
	s, err := schemas.Compile(encode(adapted(builders)))
	if err != nil {
		return nil, err
	}
	compiled.Store(key, s)
	return s, nil
}

// explain turns the validator's tree of errors into problems in plain words.
func explain(err error, tree any) []Problem {
	root, ok := err.(*jsonschema.ValidationError)
	if !ok {
		return strictjson.Bad("", err.Error()).Problems
	}
	var ps []Problem
	var leaves func(e *jsonschema.ValidationError)
	leaves = func(e *jsonschema.ValidationError) {
		if len(e.Causes) == 0 {
			ps = append(ps, describe(e, place(tree, e.InstanceLocation))...)
		}
		for _, c := range e.Causes {
			leaves(c)
		}
	}
	leaves(root)
	slices.SortFunc(ps, func(a, b Problem) int { return strings.Compare(a.String(), b.String()) })
	return slices.Compact(ps)
}

// place writes an instance's location as a path.
func place(tree any, location []string) string {
	path := ""
	for _, part := range location {
		switch v := tree.(type) {
		case []any:
			path += "[" + part + "]"
			tree = nil
			if i, err := strconv.Atoi(part); err == nil && i >= 0 && i < len(v) {
				tree = v[i]
			}
		case map[string]any:
			path = strictjson.Join(path, part)
			tree = v[part]
		}
	}
	return path
}

// describe says what one rule of the schema expects.
func describe(e *jsonschema.ValidationError, path string) []Problem {
	one := func(format string, args ...any) []Problem {
		return strictjson.Bad(path, fmt.Sprintf(format, args...)).Problems
	}
	switch k := e.ErrorKind.(type) {
	case *kind.Required:
		var ps []Problem
		for _, key := range k.Missing {
			ps = append(ps, Problem{Path: strictjson.Join(path, key), Reason: "is required" + because(path, key)})
		}
		return ps
	case *kind.AdditionalProperties:
		var ps []Problem
		for _, key := range k.Properties {
			ps = append(ps, Problem{Path: strictjson.Join(path, key), Reason: "is not a key of a task"})
		}
		return ps
	case *kind.Type:
		return one("must be %s, not %s", strings.Join(k.Want, " or "), k.Got)
	case *kind.Enum:
		return one("must be one of %s, not %s", quoted(k.Want), quoted([]any{k.Got}))
	case *kind.Not:
		return one(`must not be "patch" when task_kind is "question"`)
	case *kind.MinLength:
		return one("must not be empty")
	case *kind.MaxLength:
		return one("has %d characters, at most %d are allowed", k.Got, k.Want)
	case *kind.MinItems:
		return one("must have at least %d item", k.Want)
	case *kind.MaxItems:
		return one("has %d items, at most %d are allowed", k.Got, k.Want)
	case *kind.Minimum:
		return one("must be at least %s", k.Want.RatString())
	case *kind.Maximum:
		return one("must be at most %s", k.Want.RatString())
	default:
		return one("does not fit the schema (%s)", strings.Join(k.KeywordPath(), "/"))
	}
}

// because gives the condition of a key that is required only sometimes.
func because(path, key string) string {
	switch {
	case path == "builder" && key == "patch":
		return ` when builder.mode is "patch"`
	case path == "" && key == "question":
		return ` when task_kind is "question"`
	}
	return ""
}

func quoted(values []any) string {
	var s []string
	for _, v := range values {
		s = append(s, fmt.Sprintf("%.80q", fmt.Sprint(v)))
	}
	return strings.Join(s, ", ")
}
