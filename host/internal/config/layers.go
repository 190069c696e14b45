package config

import (
	"encoding/hex"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/viper"
)

// layers are the values of a configuration, which viper lays over one another: built-in
// ones are its defaults, files and the environment its configuration, flags what is set.
//
// Viper knows keys in small letters. Others, and those with a sign of our own in them, go
// in as their bytes in hexadecimal. What it holds of each key is the whole node, which
// brings its origin along.
type layers struct{ v *viper.Viper }

const (
	delimiter = "\x00"
	itself    = "\x01" // where the node of a key is, beside those below it
	encoded   = "\x02" // begins a key in hexadecimal
)

func newLayers(builtin *node) layers {
	l := layers{viper.NewWithOptions(viper.KeyDelimiter(delimiter))}
	walk(builtin, "", l.v.SetDefault)
	return l
}

// over lays the values of a file or of the environment over those before; nil has none.
func (l layers) over(n *node) {
	if n != nil {
		_ = l.v.MergeConfigMap(nested(n)) // never fails
	}
}

// set lays the values of a flag over all others.
func (l layers) set(n *node) { walk(n, "", l.v.Set) }

// tree gives what holds.
func (l layers) tree() *node { return unnested(l.v.AllSettings()) }

// walk calls put for each node and its path.
func walk(n *node, path string, put func(string, any)) {
	put(path+itself, n)
	for k, c := range n.fields() {
		walk(c, path+encode(k)+delimiter, put)
	}
}

func nested(n *node) map[string]any {
	out := map[string]any{itself: n}
	for k, c := range n.fields() {
		out[encode(k)] = nested(c)
	}
	return out
}

// unnested is the reverse. A value that is no map has nothing below it, whatever a layer
// beneath it had there.
func unnested(m map[string]any) *node {
	n, _ := m[itself].(*node)
	if n == nil || n.fields() == nil {
		return n
	}
	out := newMap(n.at)
	for _, k := range slices.Sorted(maps.Keys(m)) {
		if k != itself {
			out.put(decode(k), unnested(m[k].(map[string]any)))
		}
	}
	return out
}

func encode(key string) string {
	if key == "" || strings.ToLower(key) != key || strings.ContainsAny(key, delimiter+itself+encoded) {
		return encoded + hex.EncodeToString([]byte(key))
	}
	return key
}

func decode(key string) string {
	if digits, ok := strings.CutPrefix(key, encoded); ok {
		b, _ := hex.DecodeString(digits)
		return string(b)
	}
	return key
}
