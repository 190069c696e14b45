package outschema

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/paxiom/relay/sdk"
)

const asked = `{"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"https://example.org/x","type":"object",
	"additionalProperties":false,"required":["name"],"properties":{
	"name":{"type":"string","minLength":1,"maxLength":5},
	"note":{"type":"string"},
	"nothing":{"type":["string","null"]},
	"list":{"type":"array","maxItems":2,"items":{"type":"object","additionalProperties":false,"properties":{"a":{"type":"integer"}}}}}}`

func compile(t *testing.T, schema string) *Schema {
	t.Helper()
	s, err := Compile(json.RawMessage(schema))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestStrict(t *testing.T) {
	got, ok := compile(t, asked).Strict()
	b, _ := json.Marshal(got)
	want := `{"additionalProperties":false,"properties":{` +
		`"list":{"anyOf":[{"items":{"additionalProperties":false,"properties":{"a":{"anyOf":[{"type":"integer"},{"type":"null"}]}},"required":["a"],"type":"object"},"type":"array"},{"type":"null"}]},` +
		`"name":{"type":"string"},"note":{"anyOf":[{"type":"string"},{"type":"null"}]},"nothing":{"anyOf":[{"type":["string","null"]},{"type":"null"}]}},` +
		`"required":["list","name","note","nothing"],"type":"object"}`
	if !ok || string(b) != want {
		t.Errorf("got  %s\nwant %s", b, want)
	}
	for _, open := range []string{
		`{"type":"object"}`, `{"type":"object","additionalProperties":true,"properties":{}}`, `{"type":"string"}`,
		`{"type":"object","additionalProperties":false,"properties":{"x":{"type":"object","additionalProperties":{"type":"string"}}}}`,
	} {
		if got, ok := compile(t, open).Strict(); ok {
			t.Errorf("%s became %v", open, got)
		}
	}
}

func TestRead(t *testing.T) {
	s := compile(t, asked)
	for in, want := range map[string]string{
		`{"name":"x"}`:   `{"name":"x"}`,
		` {"name":"x"} `: `{"name":"x"}`,
		`{"name":"x","note":null,"nothing":null,"list":[{"a":null},{"a":12345678901234567890}]}`: `{"list":[{},{"a":12345678901234567890}],"name":"x","nothing":null}`,
		`{"name":null}`:       "",
		`{"name":""}`:         "",
		`{"name":"too long"}`: "",
		`{"name":"x","y":1}`:  "",
		`{"name":"x"} {}`:     "",
		`Here: {"name":"x"}`:  "",
		`[]`:                  "",
		``:                    "",
	} {
		got, err := s.Read([]byte(in))
		if f := sdk.AsFailure(err); want == "" {
			if f == nil || f.Reason != sdk.BadOutput || f.Detail == "" {
				t.Errorf("%s: %s %v", in, got, err)
			}
			continue
		}
		if err != nil || string(got) != want {
			t.Errorf("%s: %s %v", in, got, err)
		}
	}
}

func TestCompile(t *testing.T) {
	if s, err := Compile(nil); s != nil || err != nil {
		t.Errorf("%v %v", s, err)
	}
	for _, in := range []string{`[]`, `{`, `{"type":"nope"}`, `{"$ref":"https://example.org/other.json"}`, `{"$ref":"file:///etc/passwd"}`} {
		if _, err := Compile(json.RawMessage(in)); err == nil || sdk.AsFailure(err).Reason != sdk.BadRequest {
			t.Errorf("%s: %v", in, err)
		}
	}
}

// What is sent must be enough for what is checked: an answer that keeps to the
// bounds and to the strict form passes.
func TestResultSchemaRoundTrip(t *testing.T) {
	s := compile(t, `{"type":"object","additionalProperties":false,"required":["summary"],"properties":{"summary":{"type":"string"},"notes":{"type":"array","items":{"type":"string"}}}}`)
	if got, err := s.Read([]byte(`{"summary":"x","notes":null}`)); err != nil || strings.Contains(string(got), "null") {
		t.Errorf("%s %v", got, err)
	}
}

func TestUnfenced(t *testing.T) {
	for in, want := range map[string]string{
		"```json\n{\"a\":1}\n```": `{"a":1}`, " ```\n[1]\n```\n": `[1]`, `{"a":1}`: `{"a":1}`,
		"```json {}```": "```json {}```", "```\n{}\n```\ntext": "```\n{}\n```\ntext", "```\n{}\n```\n```\n{}\n```": "```\n{}\n```\n```\n{}\n```", "": "",
	} {
		if got := Unfenced(in); got != want {
			t.Errorf("%q: %q", in, got)
		}
	}
}
