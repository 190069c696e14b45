package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Limits on what a configuration file may be.
const (
	maxFileBytes = 1 << 20
	maxDepth     = 32
	maxNodes     = 100_000
)

// node is one value of a configuration document, with its place.
type node struct {
	// v is map[string]*node, []*node, string, bool, int64, float64 or nil.
	v  any
	at Origin
	// order keeps the keys of a map as written.
	order []string
}

func newMap(at Origin) *node { return &node{v: map[string]*node{}, at: at} }

func (n *node) fields() map[string]*node {
	m, _ := n.v.(map[string]*node)
	return m
}

// put sets a key of a map node; false when it is there already.
func (n *node) put(key string, child *node) bool {
	m := n.fields()
	if _, twice := m[key]; twice {
		return false
	}
	m[key] = child
	n.order = append(n.order, key)
	return true
}

// lookup follows a path of keys; nil when there is nothing.
func (n *node) lookup(path ...string) *node {
	for _, k := range path {
		if n == nil {
			return nil
		}
		n = n.fields()[k]
	}
	return n
}

// set puts a value at a path, making the maps above it.
func (n *node) set(child *node, path ...string) {
	for _, k := range path[:len(path)-1] {
		next := n.fields()[k]
		if next == nil || next.fields() == nil {
			next = newMap(child.at)
			if _, there := n.fields()[k]; !there {
				n.order = append(n.order, k)
			}
			n.fields()[k] = next
		}
		n = next
	}
	last := path[len(path)-1]
	if _, there := n.fields()[last]; !there {
		n.order = append(n.order, last)
	}
	n.fields()[last] = child
}

// plain gives the value without its places, as encoding/json knows it.
func (n *node) plain() any {
	switch v := n.v.(type) {
	case map[string]*node:
		m := make(map[string]any, len(v))
		for k, c := range v {
			m[k] = c.plain()
		}
		return m
	case []*node:
		s := make([]any, len(v))
		for i, c := range v {
			s[i] = c.plain()
		}
		return s
	default:
		return v
	}
}

// fromPlain makes a node of a plain value, every part of it with the same place.
func fromPlain(v any, at Origin) *node {
	switch v := v.(type) {
	case []string:
		l := make([]*node, len(v))
		for i, s := range v {
			l[i] = &node{v: s, at: at}
		}
		return &node{v: l, at: at}
	case []any:
		l := make([]*node, len(v))
		for i, x := range v {
			l[i] = fromPlain(x, at)
		}
		return &node{v: l, at: at}
	case int:
		return &node{v: int64(v), at: at}
	default:
		return &node{v: v, at: at}
	}
}

// describe says what a value is, for a message about a wrong type.
func (n *node) describe() string {
	switch v := n.v.(type) {
	case nil:
		return "null"
	case map[string]*node:
		return "an object"
	case []*node:
		return "a list"
	case bool:
		return fmt.Sprintf("%v", v)
	case string:
		return "the text " + clipQuote(v)
	case int64:
		return "the number " + strconv.FormatInt(v, 10)
	case float64:
		return "the number " + strconv.FormatFloat(v, 'g', -1, 64)
	default:
		return fmt.Sprintf("%T", v)
	}
}

// whole gives an integer, also of a number written like 3.0.
func (n *node) whole() (int64, bool) {
	switch v := n.v.(type) {
	case int64:
		return v, true
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return int64(v), true
		}
	}
	return 0, false
}

func (n *node) number() (float64, bool) {
	switch v := n.v.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

func clipQuote(s string) string {
	if r := []rune(s); len(r) > 60 {
		s = string(r[:60]) + "…"
	}
	return strings.ReplaceAll(strconv.Quote(s), `\u2026`, "…")
}
