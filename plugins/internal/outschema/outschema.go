package outschema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/paxiom/relay/sdk"
)

// Schema is a schema that was asked for. Nil means that none was.
type Schema struct {
	tree     map[string]any
	compiled *jsonschema.Schema
}

const self = "relay:asked"

// Compile reads a schema. Empty bytes give nil. The error is a *sdk.Failure.
func Compile(schema json.RawMessage) (*Schema, error) {
	if len(schema) == 0 {
		return nil, nil
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	tree, ok := v.(map[string]any)
	if err == nil && !ok {
		err = errors.New("it is not an object")
	}
	var s *jsonschema.Schema
	if err == nil {
		c := jsonschema.NewCompiler()
		c.UseLoader(nothing{})
		if err = c.AddResource(self, v); err == nil {
			s, err = c.Compile(self)
		}
	}
	if err != nil {
		return nil, sdk.Fail(sdk.BadRequest, "the output schema is not a JSON Schema", sdk.Cause(err), sdk.EffectNone)
	}
	return &Schema{tree, s}, nil
}

// nothing loads no other schema: a request's schema is whole.
type nothing struct{}

func (nothing) Load(url string) (any, error) {
	return nil, fmt.Errorf("the schema refers to %s, which is not in it", url)
}

// Strict gives the schema in the form that strict structured output takes: every
// object is closed and requires all its properties, those that were optional may be
// null, and keywords that the servers refuse are left out. Ok is false when the
// schema can't be put so (an open object, a choice between schemas at the top).
func (s *Schema) Strict() (schema map[string]any, ok bool) {
	if t, _ := s.tree["type"].(string); t != "object" {
		return nil, false
	}
	out, err := strict(s.tree)
	if err != nil {
		return nil, false
	}
	return out, true
}

// Tree is the schema as it was asked for, without what only names it.
func (s *Schema) Tree() map[string]any {
	out := maps.Clone(s.tree)
	delete(out, "$schema")
	delete(out, "$id")
	return out
}

var errOpen = errors.New("an object that is open")

// kept are the keywords that strict output takes as they are. Bounds of texts,
// numbers and lists are not among them: not every server takes them, and Read holds
// the answer to them anyway.
var kept = []string{"type", "description", "enum", "const", "title", "$ref"}

func strict(in map[string]any) (map[string]any, error) {
	out := map[string]any{}
	for _, k := range kept {
		if v, ok := in[k]; ok {
			out[k] = v
		}
	}
	for _, k := range []string{"anyOf", "oneOf"} {
		list, ok := in[k].([]any)
		if !ok {
			continue
		}
		all, err := strictAll(list)
		if err != nil {
			return nil, err
		}
		out["anyOf"] = all
	}
	if items, ok := in["items"].(map[string]any); ok {
		one, err := strict(items)
		if err != nil {
			return nil, err
		}
		out["items"] = one
	}
	for _, k := range []string{"$defs", "definitions"} {
		defs, ok := in[k].(map[string]any)
		if !ok {
			continue
		}
		done, err := strictMap(defs)
		if err != nil {
			return nil, err
		}
		out[k] = done
	}
	if in["type"] == "object" || in["properties"] != nil {
		return out, closed(in, out)
	}
	return out, nil
}

func strictAll(list []any) ([]any, error) {
	out := make([]any, 0, len(list))
	for _, v := range list {
		m, ok := v.(map[string]any)
		if !ok {
			return nil, errors.New("a schema that is not an object")
		}
		one, err := strict(m)
		if err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	return out, nil
}

func strictMap(in map[string]any) (map[string]any, error) {
	out := map[string]any{}
	for name, v := range in {
		m, ok := v.(map[string]any)
		if !ok {
			return nil, errors.New("a schema that is not an object")
		}
		one, err := strict(m)
		if err != nil {
			return nil, err
		}
		out[name] = one
	}
	return out, nil
}

// closed gives out the properties of the object in, all of them required.
func closed(in, out map[string]any) error {
	if extra, said := in["additionalProperties"]; said && extra != false {
		return errOpen
	}
	props, _ := in["properties"].(map[string]any)
	if props == nil && in["additionalProperties"] != false || in["patternProperties"] != nil {
		return errOpen
	}
	done, err := strictMap(props)
	if err != nil {
		return err
	}
	need := required(in)
	for name, v := range done {
		if !need[name] {
			done[name] = map[string]any{"anyOf": []any{v, map[string]any{"type": "null"}}}
		}
	}
	names := make([]any, 0, len(done))
	for _, name := range slices.Sorted(maps.Keys(done)) {
		names = append(names, name)
	}
	out["type"], out["properties"], out["required"], out["additionalProperties"] = "object", done, names, false
	return nil
}

func required(in map[string]any) map[string]bool {
	out := map[string]bool{}
	list, _ := in["required"].([]any)
	for _, v := range list {
		if name, ok := v.(string); ok {
			out[name] = true
		}
	}
	return out
}

// Read takes an answer that is one JSON value, drops the nulls with which a model
// leaves out an optional property (see Strict), and checks it. The error is a
// BadOutput failure whose detail says what is wrong, and where.
func (s *Schema) Read(answer []byte) (json.RawMessage, error) {
	bad := func(err error) error {
		return sdk.Fail(sdk.BadOutput, "the model's answer doesn't match the schema",
			sdk.Detail(strings.ToValidUTF8(clip(err.Error(), 2000)+"\n"+clip(string(answer), 2000), "\uFFFD")))
	}
	dec := json.NewDecoder(bytes.NewReader(answer))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, bad(fmt.Errorf("it is not JSON: %w", err))
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, bad(errors.New("there is more than one JSON value"))
	}
	if prune(v, s.tree) {
		b, err := json.Marshal(v)
		if err != nil {
			return nil, bad(err)
		}
		answer = b
	}
	if err := s.compiled.Validate(v); err != nil {
		return nil, bad(err)
	}
	return bytes.TrimSpace(answer), nil
}

// Wish asks a model in words for an answer in the schema, where nothing else can.
// Nothing is asked for without a schema.
func (s *Schema) Wish() string {
	if s == nil {
		return ""
	}
	b, err := json.Marshal(s.Tree())
	if err != nil {
		panic(err) // it was JSON
	}
	return "\n\nEnd with one JSON value that fits this JSON Schema, and nothing around it:\n" + string(b) + "\n"
}

// Result reads the document that a builder's model ended its work with. One that
// can't be used is told, and given as it is: the host decides what a build without a
// good result is worth.
func (s *Schema) Result(answer string, out sdk.Events) json.RawMessage {
	answer = Unfenced(answer)
	if s == nil {
		return json.RawMessage(answer)
	}
	doc, err := s.Read([]byte(answer))
	if f := sdk.AsFailure(err); f != nil {
		out.Notice("the result of the build can't be used: " + f.Summary)
		return json.RawMessage(answer)
	}
	return doc
}

// Unfenced takes a Markdown code fence around the whole of an answer away. Programs
// that can't ask for structured output often get their answer in one.
func Unfenced(answer string) string {
	text := strings.TrimSpace(answer)
	inside, fenced := strings.CutPrefix(text, "```")
	first, rest, several := strings.Cut(inside, "\n")
	body, closed := strings.CutSuffix(strings.TrimSpace(rest), "```")
	if !fenced || !several || !closed || strings.ContainsAny(first, "{}[] \"") || strings.Contains(body, "\n```") {
		return answer
	}
	return strings.TrimSpace(body)
}

// prune takes null members out of v where the schema has the property as optional
// and not as null. It reports whether it changed anything.
func prune(v any, schema map[string]any) (changed bool) {
	switch v := v.(type) {
	case map[string]any:
		props, _ := schema["properties"].(map[string]any)
		need := required(schema)
		for name, member := range v {
			p, _ := props[name].(map[string]any)
			if member == nil && p != nil && !need[name] && !nullable(p) {
				delete(v, name)
				changed = true
				continue
			}
			if p != nil && prune(member, p) {
				changed = true
			}
		}
	case []any:
		items, _ := schema["items"].(map[string]any)
		for _, member := range v {
			if items != nil && prune(member, items) {
				changed = true
			}
		}
	}
	return changed
}

func nullable(schema map[string]any) bool {
	switch t := schema["type"].(type) {
	case string:
		return t == "null"
	case []any:
		return slices.Contains(t, any("null"))
	}
	return true // not said: leave it to the check
}

func clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return s[:limit] + " …"
}
