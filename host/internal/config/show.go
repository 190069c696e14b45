package config

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Value is one leaf of the configuration for config show.
type Value struct {
	Key    string `json:"key"`
	Value  any    `json:"value"` // as JSON
	Origin Origin `json:"origin"`
}

// Origin says where the value at a dotted key came from; the zero Origin when there
// is none.
func (l *Loaded) Origin(key string) Origin {
	if n := l.tree.lookup(strings.Split(key, ".")...); n != nil {
		return n.at
	}
	return Origin{}
}

// Values are all values in the order of the reference.
func (l *Loaded) Values() []Value { return valuesOf(table, l.tree) }

func valuesOf(keys []*key, tree *node) []Value {
	var out []Value
	for _, k := range keys {
		if !k.top() {
			continue
		}
		n := tree.lookup(strings.Split(k.path, ".")...)
		switch {
		case n == nil:
		case k.kind == kMap:
			out = leaves(out, n, k.path)
		default:
			out = append(out, Value{k.path, n.plain(), n.at})
		}
	}
	return out
}

// leaves lists the values below a map of the user's own names.
func leaves(out []Value, n *node, path string) []Value {
	for _, name := range slices.Sorted(maps.Keys(n.fields())) {
		c := n.fields()[name]
		if c.fields() != nil && len(c.fields()) > 0 {
			out = leaves(out, c, join(path, name))
		} else {
			out = append(out, Value{join(path, name), c.plain(), c.at})
		}
	}
	return out
}

// String names the place for a person: "relay.config.json:14", "RELAY_BOX_MEANS".
func (o Origin) String() string {
	switch {
	case o.Name != "":
		return o.Name
	case o.File != "" && o.Line > 0:
		return o.File + ":" + num(float64(o.Line))
	case o.File != "":
		return o.File
	default:
		return string(o.Layer)
	}
}

func (n *node) fieldsOrNil() map[string]*node {
	if n == nil {
		return nil
	}
	return n.fields()
}

func equalPlain(a, b *node) bool { return reflect.DeepEqual(a.plain(), b.plain()) }

// canonical gives a value as JSON with sorted keys.
func canonical(n *node) string {
	b, err := json.Marshal(n.plain())
	if err != nil {
		return err.Error()
	}
	return string(b)
}
