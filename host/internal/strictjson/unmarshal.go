package strictjson

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Unmarshal decodes b (at most MaxBytes) into v, which is a pointer as for
// encoding/json. A key that is not exactly the name of a field is an error. Types
// that decode themselves see what is theirs unchecked but for syntax.
func Unmarshal(b []byte, v any) error { return unmarshal(b, v, false) }

// UnmarshalOpen is Unmarshal for a format that may grow: other keys are passed over, but for
// those that differ from the name of a field in letter case only.
func UnmarshalOpen(b []byte, v any) error { return unmarshal(b, v, true) }

func unmarshal(b []byte, v any, open bool) error {
	tree, err := Decode(b, MaxBytes)
	if err != nil {
		return err
	}
	t := reflect.TypeOf(v)
	if t == nil || t.Kind() != reflect.Pointer {
		return fmt.Errorf("strictjson: decode into %T, which is not a pointer", v)
	}
	if err := checkKeys(tree, t.Elem(), "", open); err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(b))
	if !open {
		d.DisallowUnknownFields()
	}
	if err := d.Decode(v); err != nil {
		return typeError(err)
	}
	return nil
}

// typeError names the place of a value of the wrong type.
func typeError(err error) error {
	if t, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return &Error{Path: t.Field, Reason: fmt.Sprintf("must be %s, not %s", kindName(t.Type), t.Value)}
	}
	return &Error{Reason: err.Error()}
}

func kindName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return "a whole number in range, without fraction or exponent"
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "a whole number from 0 up, without fraction or exponent"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Slice, reflect.Array:
		return "an array"
	case reflect.Struct, reflect.Map:
		return "an object"
	default:
		return "a " + t.String()
	}
}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

// checkKeys holds every key of an object to the exact name of a field: encoding/json
// also takes names that differ in letter case, some of them in Unicode's sense.
func checkKeys(v any, t reflect.Type, path string, open bool) error {
	for t.Kind() == reflect.Pointer && !t.Implements(unmarshaler) {
		t = t.Elem()
	}
	if t.Implements(unmarshaler) || reflect.PointerTo(t).Implements(unmarshaler) {
		return nil
	}
	switch v := v.(type) {
	case map[string]any:
		return checkObject(v, t, path, open)
	case []any:
		if t.Kind() != reflect.Slice && t.Kind() != reflect.Array {
			return nil
		}
		for i, e := range v {
			if err := checkKeys(e, t.Elem(), Index(path, i), open); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkObject(v map[string]any, t reflect.Type, path string, open bool) error {
	var field map[string]reflect.Type
	switch t.Kind() {
	case reflect.Struct:
		field = fields(t)
	case reflect.Map:
	default:
		return nil
	}
	for key, e := range v {
		ft, ok := field[key]
		if field == nil {
			ft, ok = t.Elem(), true
		}
		if !ok && open && !slices.ContainsFunc(slices.Collect(maps.Keys(field)), func(name string) bool { return strings.EqualFold(name, key) }) {
			continue
		}
		if !ok {
			return &Error{Path: Join(path, key), Reason: "is not a key that is known here"}
		}
		if err := checkKeys(e, ft, Join(path, key), open); err != nil {
			return err
		}
	}
	return nil
}

// fields gives the exact names of a struct's fields, embedded ones included.
func fields(t reflect.Type) map[string]reflect.Type {
	names := map[string]reflect.Type{}
	for _, f := range reflect.VisibleFields(t) {
		tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() || f.Tag.Get("json") == "-" || f.Anonymous && tag == "" {
			continue
		}
		tag = cmp.Or(tag, f.Name)
		names[tag] = f.Type
	}
	return names
}
