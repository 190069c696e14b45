package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/paxiom/relay/host/internal/keys"
)

// kind is the type of a key's value.
type kind uint8

const (
	kText kind = iota
	kBool
	kWhole
	kNumber
	kTexts   // list of texts
	kObjects // list of objects; their keys are listed with "[]"
	kMap     // object with names of the user's own; its values are listed with "*"
	kAny     // checked elsewhere, by the plugin's own schema, but for the keys below it
	kCommand // an argv: a list of texts, or one text that is split without a shell
	kRef     // says where a key is; see package keys
)

// key is one line of the table that everything about the configuration is made
// from: defaults, checks, published schema, reference page and environment names.
type key struct {
	path string
	kind kind
	// def is the built-in value; nil means that the key is absent by default.
	// "{workspace}" in a text stands for workspace_dir.
	def any
	// min and max bound numbers, inclusive; max is the longest text in characters
	// (0: 500) or the longest list (0: 500).
	min, max float64
	enum     []string
	// only, when set, is why no value but def makes sense: def is accepted, anything
	// else refused with this reason.
	only string
	// need: an object that is given must have the key.
	need   bool
	check  func(v any) string // says what is wrong with a value of the right type
	narrow narrowing          // what a repository's value may do
	why    string             // what a looser value does, where that is more than its name says
	doc    string             // what it does, in one or two sentences
	read   string             // which code reads it
}

// spec is the table as a tree.
type spec struct {
	key      *key // nil for a section
	children map[string]*spec
	order    []string
	each     *spec // of a list of objects or a map
}

var (
	table = buildTable(coreKeys, workKeys, checkKeys, cycleKeys, pipelineKeys)
	specs = buildSpecs(table)
)

func buildTable(parts ...[]key) []*key {
	var out []*key
	for _, part := range parts {
		for i := range part {
			out = append(out, &part[i])
		}
	}
	return out
}

func buildSpecs(keys []*key) *spec {
	root := &spec{children: map[string]*spec{}}
	for _, k := range keys {
		at := root
		for _, name := range strings.Split(strings.NewReplacer("[]", ".[]").Replace(k.path), ".") {
			at = at.child(name)
		}
		at.key = k
	}
	return root
}

func (s *spec) child(name string) *spec {
	if name == "[]" || name == "*" {
		if s.each == nil {
			s.each = &spec{children: map[string]*spec{}}
		}
		return s.each
	}
	if s.children[name] == nil {
		s.children[name] = &spec{children: map[string]*spec{}}
		s.order = append(s.order, name)
	}
	return s.children[name]
}

// find gives the spec of a dotted key, nil when there is none.
func (s *spec) find(path string) *spec {
	for _, name := range strings.Split(path, ".") {
		child := s.children[name]
		if child == nil { // a name of the user's own
			child = s.each
		}
		if s = child; s == nil {
			return nil
		}
	}
	return s
}

// top tells keys of the file itself from keys of list entries and map values.
func (k *key) top() bool { return !strings.ContainsAny(k.path, "[*") }

// expects says what the value of a key must be.
func (k *key) expects() string {
	if k.only != "" {
		return fmt.Sprintf("only %s", display(k.def))
	}
	switch k.kind {
	case kBool:
		return "true or false"
	case kWhole:
		return fmt.Sprintf("a whole number from %s to %s", num(k.min), num(k.max))
	case kNumber:
		return fmt.Sprintf("a number from %s to %s", num(k.min), num(k.max))
	case kTexts:
		return "a list of texts"
	case kCommand:
		return "a command: a text, or a list of texts"
	case kObjects:
		return "a list of objects"
	case kMap, kAny:
		return "an object"
	case kRef:
		return keys.Forms
	}
	if len(k.enum) > 0 {
		quoted := make([]string, len(k.enum))
		for i, e := range k.enum {
			quoted[i] = strconv.Quote(e)
		}
		return "one of " + strings.Join(quoted, ", ")
	}
	return "a text"
}

func num(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

func display(v any) string {
	switch v := v.(type) {
	case nil:
		return "none"
	case string:
		return strconv.Quote(v)
	case []string:
		quoted := make([]string, len(v))
		for i, s := range v {
			quoted[i] = strconv.Quote(s)
		}
		return "[" + strings.Join(quoted, ", ") + "]"
	default:
		return fmt.Sprint(v)
	}
}

// Nearest returns the candidate that a person may have meant, "" when none is near. Those
// that begin like the name, or end with it as a word, come after those that are spelled nearly
// like it; of a short word half would be another one.
func Nearest(name string, candidates []string) string {
	limit := max(2, len(name)/3)
	if len(name) <= 4 {
		limit = 1
	}
	best, bestD := "", math.MaxInt
	for _, c := range candidates {
		a, b := strings.ToLower(name), strings.ToLower(c)
		d := distance(a, b)
		if d > limit {
			if min(len(a), len(b)) < 4 || !strings.HasPrefix(a, b) && !strings.HasPrefix(b, a) && !strings.HasSuffix(b, "_"+a) {
				continue
			}
			d += limit
		}
		if d < bestD {
			best, bestD = c, d
		}
	}
	return best
}

// distance is the number of letters to insert, delete, replace or swap.
func distance(a, b string) int {
	if len(a) > 100 || len(b) > 100 {
		return 1000
	}
	var before, prev []int
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, prev, row = prev, row, make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(prev[j]+1, row[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return row[len(b)]
}
