package schemas

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"regexp/syntax"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// What a schema may cost. One of a stranger's is compiled and applied on the host, where no
// limit of a box holds: a few hundred bytes of references could keep it busy for ever, and a
// few of patterns fill its memory.
const (
	maxWork     = 10_000    // schemas that one value is held to
	maxDepth    = 16        // how deep a value is looked into for that
	maxPattern  = 4096      // bytes of a pattern
	maxPatterns = 1_000_000 // instructions of all patterns
)

// patterns compiles those of one schema, each once.
type patterns struct {
	known map[string]*regexp.Regexp
	left  int
	bad   error // why the schema is refused, in fewer words than the validator's, which repeat the pattern
}

func (p *patterns) compile(text string) (jsonschema.Regexp, error) {
	if known := p.known[text]; known != nil {
		return known, nil
	}
	if len(text) > maxPattern {
		p.bad = fmt.Errorf("a pattern has %d bytes; at most %d are read", len(text), maxPattern)
		return nil, p.bad
	}
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, err
	}
	prog, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return nil, err
	}
	if p.left -= len(prog.Inst); p.left < 0 {
		p.bad = errors.New("its patterns are too large")
		return nil, p.bad
	}
	compiled, err := regexp.Compile(text)
	if err == nil {
		p.known[text] = compiled
	}
	return compiled, err
}

// bound refuses a schema that refers to itself without end, or that would hold one value
// to more schemas than can be afforded.
func bound(s *jsonschema.Schema) error {
	_, err := (&bounds{known: map[atDepth]*work{}}).of(s, maxDepth)
	return err
}

// work is how many schemas a value is held to, the worst part of it included: as an object,
// which is no array, and as an array.
type work struct{ object, array int }

type atDepth struct {
	schema *jsonschema.Schema
	left   int // how much deeper the value goes
}

type bounds struct {
	known map[atDepth]*work // nil while it is counted
}

func (b *bounds) of(s *jsonschema.Schema, left int) (total work, err error) {
	if s == nil || left < 0 {
		return total, nil
	}
	at := atDepth{s, left}
	if n, ok := b.known[at]; ok {
		if n == nil {
			return total, errors.New("the schema refers to itself without end")
		}
		return *n, nil
	}
	b.known[at] = nil
	if s.DynamicRef != nil || s.RecursiveRef != nil {
		return total, errors.New("the schema has a $dynamicRef; only $ref is followed")
	}
	total = work{1, 1}
	for _, c := range slices.Concat([]*jsonschema.Schema{s.Ref, s.Not, s.If, s.Then, s.Else}, s.AllOf, s.AnyOf, s.OneOf,
		slices.Collect(maps.Values(s.DependentSchemas)), schemasOf(s.Dependencies)) {
		n, err := b.of(c, left)
		if err != nil {
			return total, err
		}
		total.object, total.array = total.object+n.object, total.array+n.array
		if err := total.bound(); err != nil {
			return total, err
		}
	}
	// A property has one name, an item one place; the others may all be about it.
	object, err := b.part(left-1, slices.Collect(maps.Values(s.Properties)), slices.Concat(slices.Collect(maps.Values(s.PatternProperties)),
		[]*jsonschema.Schema{s.PropertyNames, s.UnevaluatedProperties}, schemasOf(s.AdditionalProperties)))
	if err != nil {
		return total, err
	}
	array, err := b.part(left-1, slices.Concat(s.PrefixItems, schemasOf(s.Items)), slices.Concat(
		[]*jsonschema.Schema{s.Items2020, s.Contains, s.UnevaluatedItems}, schemasOf(s.AdditionalItems)))
	if err != nil {
		return total, err
	}
	total.object, total.array = total.object+object, total.array+array
	b.known[at] = &total
	return total, total.bound()
}

// part counts for a part of a value: one of some schemas holds, and all of the others.
func (b *bounds) part(left int, one, all []*jsonschema.Schema) (int, error) {
	var worst, sum work
	for i, c := range append(one[:len(one):len(one)], all...) {
		n, err := b.of(c, left)
		if err != nil {
			return 0, err
		}
		if i < len(one) {
			worst = work{max(worst.object, n.object), max(worst.array, n.array)}
			continue
		}
		sum = work{sum.object + n.object, sum.array + n.array}
		if err := sum.bound(); err != nil {
			return 0, err
		}
	}
	return max(worst.object+sum.object, worst.array+sum.array), nil
}

func (w work) bound() error {
	if max(w.object, w.array) > maxWork {
		return fmt.Errorf("the schema holds one value to more than %d schemas", maxWork)
	}
	return nil
}

// schemasOf are those of a field that the validator keeps for several forms of a keyword.
func schemasOf(v any) (out []*jsonschema.Schema) {
	switch v := v.(type) {
	case *jsonschema.Schema:
		out = append(out, v)
	case []*jsonschema.Schema:
		out = v
	case map[string]any:
		for _, one := range v {
			out = append(out, schemasOf(one)...)
		}
	}
	return out
}
