package drift

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Shape is an output without its values.
type Shape struct {
	Order  []string                     // kinds of events; the same several times in a row is one
	Fields map[string]map[string]string // by kind, then by path: the types of JSON found there
	Exit   int
}

// Of is the shape of a run that printed lines.
func Of(lines [][]byte, exit int) Shape {
	s := Shape{Fields: map[string]map[string]string{}, Exit: exit}
	for _, line := range lines {
		var event any
		k := "text that is not an event"
		if json.Unmarshal(line, &event) == nil {
			k = kind(event)
			if s.Fields[k] == nil {
				s.Fields[k] = map[string]string{}
			}
			fields(s.Fields[k], "", event)
		}
		if len(s.Order) == 0 || s.Order[len(s.Order)-1] != k {
			s.Order = append(s.Order, k)
		}
	}
	return s
}

// tells are the fields by which the programs tell kinds of events apart.
var tells = []string{"type", "subtype", "role", "event.type", "event.delta.type", "event.content_block.type", "item.type", "message.content.0.type"}

func kind(event any) string {
	var words []string
	for _, path := range tells {
		if word, ok := at(event, strings.Split(path, ".")).(string); ok {
			words = append(words, word)
		}
	}
	return strings.Join(words, "/")
}

func at(v any, path []string) any {
	for _, name := range path {
		switch in := v.(type) {
		case map[string]any:
			v = in[name]
		case []any:
			if len(in) == 0 {
				return nil
			}
			v = in[0]
		default:
			return nil
		}
	}
	return v
}

// fields adds the types of all that is in a value.
func fields(types map[string]string, path string, v any) {
	name := "null"
	switch v := v.(type) {
	case bool:
		name = "bool"
	case float64:
		name = "number"
	case string:
		name = "string"
	case []any:
		name = "list"
		for _, e := range v {
			fields(types, path+"[]", e)
		}
	case map[string]any:
		name = "object"
		for k, e := range v {
			fields(types, strings.TrimPrefix(path+"."+k, "."), e)
		}
	}
	if path == "" {
		return
	}
	all := strings.Split(types[path], " or ")
	if !slices.Contains(all, name) {
		all = append(all, name)
	}
	slices.Sort(all)
	types[path] = strings.TrimPrefix(strings.Join(all, " or "), " or ")
}

// Changes says in lines how a shape differs from this one, which was recorded.
func (s Shape) Changes(now Shape) []string {
	var out []string
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if s.Exit != now.Exit {
		say("exit code %d, was %d", now.Exit, s.Exit)
	}
	if was, is := apart(s.Order, now.Order); len(was)+len(is) > 0 {
		say("events %s, were %s", list(is), list(was))
	}
	for _, k := range slices.Sorted(maps.Keys(s.Fields)) {
		was, is := s.Fields[k], now.Fields[k]
		if is == nil {
			continue // the order tells
		}
		both := maps.Clone(was)
		maps.Copy(both, is)
		for _, path := range slices.Sorted(maps.Keys(both)) {
			switch {
			case was[path] == is[path], inside(path, was, is):
			case is[path] == "":
				say("%s: %s is gone", k, path)
			case was[path] == "":
				say("%s: %s is new, %s", k, path, is[path])
			default:
				say("%s: %s is %s, was %s", k, path, is[path], was[path])
			}
		}
	}
	return out
}

// inside says that a path is in something that is new or gone as a whole.
func inside(path string, was, is map[string]string) bool {
	end := max(strings.LastIndex(path, "."), strings.LastIndex(path, "[]"))
	for ; end > 0; end = max(strings.LastIndex(path[:end], "."), strings.LastIndex(path[:end], "[]")) {
		if whole := path[:end]; (was[whole] == "") != (is[whole] == "") {
			return true
		}
	}
	return false
}

// apart leaves out what two lists have in common at both ends, but for one neighbor that
// says where it is.
func apart(a, b []string) ([]string, []string) {
	if slices.Equal(a, b) {
		return nil, nil
	}
	for len(a) > 1 && len(b) > 1 && a[0] == b[0] && a[1] == b[1] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 1 && len(b) > 1 && a[len(a)-1] == b[len(b)-1] && a[len(a)-2] == b[len(b)-2] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return a, b
}

func list(kinds []string) string {
	if len(kinds) == 0 {
		return "(none)"
	}
	return "(" + strings.Join(kinds, ", ") + ")"
}
