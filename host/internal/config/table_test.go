package config

import (
	"bytes"
	"flag"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/paxiom/relay/schemas"
)

var update = flag.Bool("update", false, "write the published schema and the reference page anew")

// Every field of the struct has a line in the table and the other way round.
func TestTableIsTheStruct(t *testing.T) {
	t.Run("configuration", func(t *testing.T) { tableIsTheStruct(t, table, reflect.TypeFor[Config]()) })
	t.Run("service", func(t *testing.T) { tableIsTheStruct(t, serviceTable, reflect.TypeFor[Service]()) })
}

func tableIsTheStruct(t *testing.T, table []*key, rt reflect.Type) {
	fields := map[string]reflect.Type{}
	var walk func(rt reflect.Type, at string)
	walk = func(rt reflect.Type, at string) {
		for i := range rt.NumField() {
			f := rt.Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "-" { // no part of what is configured
				continue
			}
			path, ft := join(at, name), f.Type
			if ft.Kind() == reflect.Pointer {
				ft = ft.Elem()
			}
			switch {
			case ft.Kind() == reflect.Struct:
				walk(ft, path)
			case ft.Kind() == reflect.Slice && ft.Elem().Kind() == reflect.Struct:
				fields[path] = ft
				walk(ft.Elem(), path+"[]")
			case ft.Kind() == reflect.Map && ft.Elem().Kind() == reflect.String:
				fields[path], fields[path+".*"] = ft, ft.Elem()
			case ft.Kind() == reflect.Map && ft.Elem().Kind() == reflect.Struct:
				fields[path] = ft
				walk(ft.Elem(), path+".*")
			default:
				fields[path] = ft
			}
		}
	}
	walk(rt, "")
	kinds := map[kind]reflect.Kind{kText: reflect.String, kBool: reflect.Bool, kWhole: reflect.Int, kNumber: reflect.Float64, kTexts: reflect.Slice, kObjects: reflect.Slice, kMap: reflect.Map, kCommand: reflect.Slice, kRef: reflect.Interface}
	seen := map[string]bool{}
	for _, k := range table {
		if seen[k.path] {
			t.Errorf("%s appears twice", k.path)
		}
		seen[k.path] = true
		if k.kind == kAny || strings.HasPrefix(k.path, "plugins.*") {
			continue // the plugin's own block, of which the host only takes the keys out
		}
		if ft := fields[k.path]; ft == nil || ft.Kind() != kinds[k.kind] {
			t.Errorf("%s: the struct has %v", k.path, ft)
		}
		if k.doc == "" || k.read == "" || !strings.HasSuffix(k.doc, ".") {
			t.Errorf("%s says not what it does or who reads it", k.path)
		}
	}
	for path := range fields {
		if !seen[path] {
			t.Errorf("%s is not in the table", path)
		}
	}
}

// No two keys share a variable, and every built-in value passes its own check.
func TestTableIsSound(t *testing.T) {
	names := map[string]string{}
	for _, k := range slices.Concat(table, serviceTable) {
		if !k.top() || k.path == "$schema" {
			continue
		}
		if other := names[envName(k.path)]; other != "" {
			t.Errorf("%s and %s share %s", k.path, other, envName(k.path))
		}
		names[envName(k.path)] = k.path
	}
	n := withWorkspace(builtin(), ".relay")
	if p := inspect(n); len(p) > 0 {
		t.Errorf("built-in values are refused: %v", p)
	}
	if p := inspectAs(builtinOf(serviceTable), serviceTable, serviceSpecs); len(p) > 0 {
		t.Errorf("built-in values of services are refused: %v", p)
	}
}

func TestPublished(t *testing.T) {
	for path, want := range map[string][]byte{"../../../schemas/config.schema.json": JSONSchema(), "../../../docs/reference/config.md": Reference(),
		"../../../schemas/service.schema.json": ServiceJSONSchema(), "../../../docs/reference/service.md": ServiceReference()} {
		if *update {
			if err := os.WriteFile(path, want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is stale: run `go test ./host/internal/config -update` (%v)", path, err)
		}
	}
}

// The published schema agrees with the loader about the seed's file and about typos.
func TestSchemaAgrees(t *testing.T) {
	s, err := schemas.Compile(JSONSchema())
	if err != nil {
		t.Fatal(err)
	}
	b, _ := os.ReadFile("testdata/relais.config.json")
	for text, ok := range map[string]bool{
		string(b): true, `{}`: true, `{"runner":{"max_tick_seconds":5}}`: true, `{"plugins":{"x":{"a":1}}}`: true,
		`{"runner":{"max_tick":5}}`: false, `{"runner":{"max_tick_seconds":"5"}}`: false, `{"runner":{"require_git":false}}`: false,
		`{"verification":{"templates":[{"id":"a"}]}}`: false,
	} {
		n, err := parseJSON([]byte(text), Origin{})
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Validate(n.forSchema()); (got == nil) != ok {
			t.Errorf("%.60s: %v", text, got)
		}
		if p := inspect(n); (len(p) == 0) != ok {
			t.Errorf("%.60s: loader: %v", text, p)
		}
	}
}

// forSchema gives plain values as the validator knows them.
func (n *node) forSchema() any { return n.plain() }
