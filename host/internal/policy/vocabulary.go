package policy

import (
	"fmt"
	"reflect"
	"strings"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// Input is what a rule knows of a change. Examples have it as JSON; what they leave out is
// empty, and change.lines is the sum of the paths'.
type Input struct {
	Change       Change     `json:"change"`
	Task         Task       `json:"task"`
	Checks       []Check    `json:"checks"`
	HiddenChecks []string   `json:"hidden_checks"`
	Approvals    []Approval `json:"approvals"`
	Approvers    []string   `json:"approvers"` // the different keys of the approvals
	Run          Run        `json:"run"`
}

// Change is what would land. Lines are counted as diff_limits counts them.
type Change struct {
	Paths []Path `json:"paths"`
	Lines int64  `json:"lines"`
}

// Path is one path of it.
type Path struct {
	Path    string `json:"path"`
	Kind    string `json:"kind"` // added, modified, deleted or mode
	Added   int64  `json:"added"`
	Removed int64  `json:"removed"`
	Mode    string `json:"mode"` // as git has it; "" for one that is deleted
}

// Task is who asked for it, and for what.
type Task struct {
	ID          string   `json:"id"`
	Kind        string   `json:"kind"`
	Scope       []string `json:"scope"`
	RequestedBy string   `json:"requested_by"` // model, approved (a model's, allowed by the operator) or operator
}

// Check is one that ran. Tests are those that passed by name.
type Check struct {
	Name   string `json:"name"`
	Passed bool   `json:"passed"`
	Tests  int64  `json:"tests"`
}

// Approval is an operator's yes. Key is the fingerprint of who gave it, "" where nothing
// but this machine says so.
type Approval struct {
	Name string `json:"name"` // of what was approved: plan, criteria, changed tests, …
	Key  string `json:"key"`
}

// Run is the workflow and the models that took part, as reported.
type Run struct {
	Workflow string   `json:"workflow"` // tick, cycle or task
	Models   []string `json:"models"`
}

// field is a field of the vocabulary as CEL's checker has it.
type field struct {
	name string
	t    *cel.Type
	i    int // in its struct
}

// vocabulary gives CEL's types of the structs above, by the names of their JSON fields.
type vocabulary struct {
	types.Provider
	of map[string][]field
}

// words is made when it is first needed: most calls of relay have no rules.
var words = sync.OnceValue(makeVocabulary)

func makeVocabulary() *vocabulary {
	registry, err := types.NewRegistry()
	if err != nil {
		panic("policy: " + err.Error())
	}
	v := &vocabulary{registry, map[string][]field{}}
	v.typeOf(reflect.TypeFor[Input]())
	return v
}

// typeOf is the CEL type of a Go type, which is noted when it is a struct.
func (v *vocabulary) typeOf(t reflect.Type) *cel.Type {
	switch t.Kind() {
	case reflect.String:
		return cel.StringType
	case reflect.Int64:
		return cel.IntType
	case reflect.Bool:
		return cel.BoolType
	case reflect.Slice:
		return cel.ListType(v.typeOf(t.Elem()))
	}
	name := strings.ToLower(t.Name())
	var fields []field
	for i := range t.NumField() {
		f := t.Field(i)
		fields = append(fields, field{f.Tag.Get("json"), v.typeOf(f.Type), i})
	}
	v.of[name] = fields
	return cel.ObjectType(name)
}

// FindStructType is CEL's question for a type.
func (v *vocabulary) FindStructType(name string) (*types.Type, bool) {
	if _, ok := v.of[name]; ok {
		return types.NewTypeTypeWithParam(types.NewObjectType(name)), true
	}
	return v.Provider.FindStructType(name)
}

// FindStructFieldType is CEL's question for a field.
func (v *vocabulary) FindStructFieldType(name, of string) (*types.FieldType, bool) {
	for _, f := range v.of[name] {
		if f.name == of {
			return &types.FieldType{Type: f.t}, true
		}
	}
	return nil, false
}

// value is a Go value of the vocabulary as CEL has it.
func (v *vocabulary) value(of reflect.Value) ref.Val {
	switch of.Kind() {
	case reflect.String:
		return types.String(strings.ToValidUTF8(of.String(), "\ufffd"))
	case reflect.Int64:
		return types.Int(of.Int())
	case reflect.Bool:
		return types.Bool(of.Bool())
	case reflect.Slice:
		list := make([]ref.Val, of.Len())
		for i := range list {
			list[i] = v.value(of.Index(i))
		}
		return types.NewRefValList(types.DefaultTypeAdapter, list)
	}
	name := strings.ToLower(of.Type().Name())
	o := &object{t: cel.ObjectType(name), fields: map[string]ref.Val{}}
	for _, f := range v.of[name] {
		o.fields[f.name] = v.value(of.Field(f.i))
	}
	return o
}

// object is a struct of the vocabulary as a value of CEL.
type object struct {
	t      *cel.Type
	fields map[string]ref.Val
}

// ConvertToNative refuses: nothing needs it.
func (o *object) ConvertToNative(reflect.Type) (any, error) {
	return nil, fmt.Errorf("a %s is not a value of its own", o.t)
}

// ConvertToType refuses: nothing needs it.
func (o *object) ConvertToType(ref.Type) ref.Val {
	return types.NewErr("a %s can't be converted", o.t)
}

// Equal compares field by field.
func (o *object) Equal(other ref.Val) ref.Val {
	p, ok := other.(*object)
	if !ok || p.t.TypeName() != o.t.TypeName() {
		return types.False
	}
	for name, f := range o.fields {
		if f.Equal(p.fields[name]) != types.True {
			return types.False
		}
	}
	return types.True
}

// Type is the struct's.
func (o *object) Type() ref.Type { return o.t }

// Value is the object itself.
func (o *object) Value() any { return o }

// Get gives a field.
func (o *object) Get(name ref.Val) ref.Val {
	if s, ok := name.(types.String); ok {
		if f, ok := o.fields[string(s)]; ok {
			return f
		}
	}
	return types.NewErr("no such field")
}

// IsSet reports whether there is such a field.
func (o *object) IsSet(name ref.Val) ref.Val {
	s, _ := name.(types.String)
	_, ok := o.fields[string(s)]
	return types.Bool(ok)
}
