package main

import (
	"bytes"
	"cmp"
	"encoding"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/paxiom/relay/host"
	"github.com/paxiom/relay/host/checkcmd"
	"github.com/paxiom/relay/host/cycles"
	"github.com/paxiom/relay/host/pipelines"
	"github.com/paxiom/relay/host/plugins"
	"github.com/paxiom/relay/host/proof"
	"github.com/paxiom/relay/host/setup"
)

// outputs are the documents that commands print with --json, by their kinds.
var outputs = map[string]any{
	"relay.answer": host.AnswerResult{}, "relay.check.add": checkcmd.Tried{}, "relay.check.list": checkcmd.ListResult{}, "relay.check.new": checkcmd.NewResult{},
	"relay.check.run": checkcmd.RunResult{}, "relay.config": setup.ConfigResult{}, "relay.config_set": configSetDoc{}, "relay.cost": host.CostResult{},
	"relay.cycle": cycles.Result{}, "relay.cycle.show": host.CycleShow{}, "relay.demo": demoDoc{}, "relay.detached": host.Detached{},
	"relay.diff": host.DiffResult{}, "relay.doctor": setup.DoctorResult{}, "relay.dry_run": host.DryRunResult{}, "relay.error": errorDoc{},
	"relay.evidence": proof.ExportResult{}, "relay.evidence.verify": proof.VerifyResult{}, "relay.explain": explainDoc{}, "relay.gc": host.GCResult{},
	"relay.help": helpDoc{}, "relay.history": host.HistoryListResult{}, "relay.history.prune": host.PruneResult{}, "relay.init": setup.InitResult{}, "relay.init.prompts": setup.PromptFiles{},
	"relay.logs": logDoc{}, "relay.loop": host.LoopResult{}, "relay.man": manDoc{}, "relay.milestone": host.MilestoneResult{},
	"relay.pipeline.check": pipelines.CheckResult{}, "relay.pipeline.generate": pipelines.GenerateResult{}, "relay.pipeline.import": pipelines.Files{},
	"relay.pipeline.init": pipelines.Files{}, "relay.pipeline.run": pipelines.RunResult{}, "relay.pipeline.status": pipelines.StatusResult{},
	"relay.plugin.grant": plugins.Result{}, "relay.plugin.info": plugins.Result{}, "relay.plugin.install": plugins.Result{},
	"relay.plugin.key": plugins.Key{}, "relay.plugin.new": plugins.NewResult{}, "relay.plugin.outdated": plugins.OutdatedResult{}, "relay.plugin.pack": plugins.Packed{},
	"relay.plugin.remove": plugins.Result{}, "relay.plugin.revoke": plugins.Result{}, "relay.plugin.rules": plugins.Rules{},
	"relay.plugin.search": plugins.Found{}, "relay.plugins": plugins.ListResult{}, "relay.policy.test": setup.PolicyTest{}, "relay.queue": host.QueueResult{},
	"relay.recover": host.RecoverResult{}, "relay.report": host.DigestResult{}, "relay.review": reviewDoc{}, "relay.run": host.RunResult{},
	"relay.salvage": host.SalvageResult{}, "relay.service": cycles.ServiceResult{}, "relay.service.check": cycles.ServiceCheck{}, "relay.services": cycles.ServiceListResult{},
	"relay.show": host.ShowResult{}, "relay.stats": host.StatsResult{}, "relay.status": host.StatusResult{}, "relay.stop": host.StopResult{},
	"relay.task": pipelines.TaskResult{}, "relay.task.graph": pipelines.GraphResult{}, "relay.task.list": pipelines.TasksResult{}, "relay.tmux": tmuxDoc{},
	"relay.trust": setup.TrustResult{}, "relay.undo": host.UndoResult{}, "relay.verify": proof.VerifyResult{}, "relay.version": versionDoc{},
	"relay.wake": host.WakeResult{}, "relay.watch": watchDoc{},
}

type object = map[string]any

// describer makes schemas of types, by what encoding/json writes of them and what their comments say.
type describer struct {
	defs object
	docs map[string]map[string]string // by package: of types, and of fields as TYPE.FIELD

	missing []string // fields without a description
}

// named is how the comment of a type begins, and means nothing to readers of JSON.
var named = regexp.MustCompile(`^\w+ (is|are) `)

// doc is the comment of a type, or of one of its fields, as one line.
func (d *describer) doc(t reflect.Type, field string) string {
	dir, ours := strings.CutPrefix(t.PkgPath(), "github.com/paxiom/relay/")
	if t.PkgPath() == "main" {
		dir, ours = "cmd/relay", true
	}
	if !ours || t.Name() == "" {
		return ""
	}
	if d.docs[dir] == nil {
		d.docs[dir] = comments("../../" + dir)
	}
	return named.ReplaceAllString(d.docs[dir][strings.TrimSuffix(t.Name()+"."+field, ".")], "")
}

// comments are those of the types of a package, and of their fields.
func comments(dir string) map[string]string {
	found := map[string]string{}
	files, _ := filepath.Glob(dir + "/*.go")
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
		if err != nil {
			continue
		}
		keep := func(name string, groups ...*ast.CommentGroup) {
			for _, g := range groups {
				if text := strings.Join(strings.Fields(g.Text()), " "); text != "" && found[name] == "" {
					found[name] = text
				}
			}
		}
		for _, decl := range f.Decls {
			g, ok := decl.(*ast.GenDecl)
			if !ok || g.Tok != token.TYPE {
				continue
			}
			for _, spec := range g.Specs {
				s := spec.(*ast.TypeSpec)
				keep(s.Name.Name, s.Doc, g.Doc)
				if fields, ok := s.Type.(*ast.StructType); ok {
					for _, field := range fields.Fields.List {
						for _, name := range field.Names {
							keep(s.Name.Name+"."+name.Name, field.Doc, field.Comment)
						}
					}
				}
			}
		}
	}
	return found
}

func (d *describer) of(t reflect.Type) object {
	switch {
	case t == reflect.TypeFor[time.Time]():
		return object{"type": "string", "format": "date-time"}
	case t == reflect.TypeFor[json.RawMessage](), t.Implements(reflect.TypeFor[json.Marshaler]()), reflect.PointerTo(t).Implements(reflect.TypeFor[json.Marshaler]()):
		return object{}
	case t.Implements(reflect.TypeFor[encoding.TextMarshaler]()):
		return object{"type": "string"}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return object{"anyOf": []any{d.of(t.Elem()), object{"type": "null"}}}
	case reflect.String:
		return object{"type": "string"}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Float32, reflect.Float64:
		return object{"type": "number"}
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			return object{"type": []string{"string", "null"}}
		}
		return object{"type": []string{"array", "null"}, "items": d.of(t.Elem())}
	case reflect.Map:
		return object{"type": []string{"object", "null"}, "additionalProperties": d.of(t.Elem())}
	case reflect.Interface:
		return object{}
	case reflect.Struct:
		name := t.String()
		if t.Name() == "" {
			return d.structure(t)
		}
		if _, ok := d.defs[name]; !ok {
			d.defs[name] = object{}
			d.defs[name] = d.structure(t)
		}
		return object{"$ref": "#/$defs/" + name}
	}
	return object{"type": "integer"}
}

// element is what t, a pointer, a list or a map, holds in the end.
func element(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	return t
}

func (d *describer) structure(t reflect.Type) object {
	properties, required := object{}, []string{}
	var add func(t reflect.Type)
	add = func(t reflect.Type) {
		for i := range t.NumField() {
			f := t.Field(i)
			tag, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			inner := f.Type
			if inner.Kind() == reflect.Pointer {
				inner = inner.Elem()
			}
			switch {
			case tag == "-":
			case f.Anonymous && tag == "" && inner.Kind() == reflect.Struct:
				add(inner)
			case !f.IsExported():
			default:
				if tag == "" {
					tag = f.Name
				}
				property := d.of(f.Type)
				if doc := cmp.Or(d.doc(t, f.Name), fieldWords[tag], d.doc(element(f.Type), "")); doc != "" {
					property["description"] = doc
				} else {
					d.missing = append(d.missing, t.String()+"."+tag)
				}
				properties[tag] = property
				if !strings.Contains(options, "omit") && !slices.Contains(required, tag) { // of two the outer one is written
					required = append(required, tag)
				}
			}
		}
	}
	add(t)
	s := object{"type": "object", "properties": properties, "required": required}
	if doc := d.doc(t, ""); doc != "" {
		s["description"] = doc
	}
	return s
}

func outputSchema(t *testing.T) string {
	t.Helper()
	d := &describer{defs: object{}, docs: map[string]map[string]string{}}
	var kinds []any
	for _, kind := range slices.Sorted(maps.Keys(outputs)) {
		of := d.of(reflect.TypeOf(outputs[kind]))
		d.defs[kind] = object{"properties": object{"kind": object{"const": kind, "description": "Which document this is."}}, "allOf": []any{of}}
		kinds = append(kinds, object{"if": object{"properties": object{"kind": object{"const": kind}}}, "then": object{"$ref": "#/$defs/" + kind}})
	}
	if len(d.missing) > 0 {
		t.Errorf("fields without a description; add a comment to each: %v", d.missing)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetIndent("", " ")
	if err := enc.Encode(object{"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": "https://github.com/paxiom/relay/schemas/output.schema.json",
		"title": "what commands print with --json", "description": "One document on standard output: its field kind says which of $defs it is, and version which version of that; of relay.version and relay.plugin.pack it is the program's. A command that fails prints relay.error. Its field next is what to type next, a command first where there is one.",
		"type": "object", "required": []string{"kind", "version"}, "properties": object{"kind": object{"type": "string", "description": "Which document this is: the name of one of $defs."},
			"version": object{"type": []string{"integer", "string"}, "description": "The version of that document's format, or, of relay.version and relay.plugin.pack, the program's."}},
		"allOf": kinds, "$defs": d.defs}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

const outputSchemaFile = "schemas/output.schema.json"

// TestReferencePages holds the published one against it.
func TestOutputSchema(t *testing.T) {
	for _, bad := range []string{`{"version": 1}`, `{"kind": "relay.stop", "version": 1}`, `{"kind": "relay.error", "version": "1"}`} {
		doc, _ := jsonschema.UnmarshalJSON(strings.NewReader(bad))
		if s, err := published(); err != nil || s.Validate(doc) == nil {
			t.Errorf("%s passes (%v)", bad, err)
		}
	}
}

var published = sync.OnceValues(func() (*jsonschema.Schema, error) {
	b, err := os.ReadFile("../../" + outputSchemaFile)
	if err != nil {
		return nil, err
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("output.schema.json", doc); err != nil {
		return nil, err
	}
	return c.Compile("output.schema.json")
})

// marked is a next in which a command stands in backquotes, as in texts.
var marked = regexp.MustCompile("\"next\": \"[^\"]*`.*")

// asPublished holds what a command printed with --json against the published schema.
func asPublished(ts *testscript.TestScript, printed string) {
	schema, err := published()
	ts.Check(err)
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(printed))
	if err != nil {
		ts.Fatalf("with --json it printed no JSON: %v", err)
	}
	top, _ := doc.(map[string]any)
	if kind, _ := top["kind"].(string); outputs[kind] == nil {
		ts.Fatalf("no schema is published of %q: see outputs in output_schema_test.go", kind)
	}
	if next := marked.FindString(printed); next != "" {
		ts.Fatalf("marks in %s", next)
	}
	if err := schema.Validate(doc); err != nil {
		ts.Fatalf("not as schemas/output.schema.json says: %v", err)
	}
}
