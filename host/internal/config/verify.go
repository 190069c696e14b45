package config

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/paxiom/relay/host/internal/keys"
)

// problem is one thing that is wrong with one place of a configuration.
type problem struct {
	at   Origin
	path string
	text string
}

func (p problem) String() string {
	s := p.at.where()
	if p.path != "" {
		if s != "" {
			s += ", "
		}
		s += p.path
	}
	return s + ": " + p.text
}

// where names the place of a value for a message.
func (o Origin) where() string {
	switch {
	case o.Name != "":
		return o.Name
	case o.Line > 0:
		return fmt.Sprintf("line %d", o.Line)
	default:
		return ""
	}
}

// inspector checks one layer against a table.
type inspector struct {
	keys  []*key
	found []problem
}

func (c *inspector) add(n *node, path, format string, args ...any) {
	c.found = append(c.found, problem{n.at, path, fmt.Sprintf(format, args...)})
}

// inspect checks everything that can be said of one document alone: keys, types,
// ranges, patterns.
func inspect(n *node) []problem { return inspectAs(n, table, specs) }

func inspectAs(n *node, keys []*key, root *spec) []problem {
	c := &inspector{keys: keys}
	if c.noKeys(n, ""); len(c.found) > 0 {
		return c.found // and nothing else: other words would repeat the value
	}
	c.section(n, root, "")
	return c.found
}

// noKeys refuses texts that look like keys, wherever they stand, and references to keys
// that are none. It never repeats them.
func (c *inspector) noKeys(n *node, path string) {
	switch v := n.v.(type) {
	case string:
		if what := keys.LooksLike(v); what != "" {
			c.add(n, path, "this looks like %s, and a configuration never holds one; %s", what, keyHelp)
		}
	case []*node:
		for i, x := range v {
			c.noKeys(x, fmt.Sprintf("%s[%d]", path, i))
		}
	case map[string]*node:
		for _, name := range n.order {
			child, at := v[name], join(path, printable(name))
			_, text := child.v.(string)
			switch {
			case text && name == "secret" && strings.Count(path, ".") == 1 && (child.v == "broker" || child.v == "environment"): // says how keys are given
			case text && strings.HasPrefix(path, "plugins.") && !strings.HasSuffix(path, ".keys") && keyName.MatchString(name):
				c.add(child, at, "keys are not set here; %s", keyHelp)
			case text && name == "keys" && strings.HasPrefix(path, "plugins."):
				c.add(child, at, "expected an object of variables; %s", keyHelp)
			default:
				c.noKeys(child, at)
			}
		}
	}
}

// keyName is how people call a setting that takes a key.
var keyName = regexp.MustCompile(`(?i)^(.*[_-])?(api_?key|access_?key|secret|password|token)$`)

// keyHelp is what to do with a key.
const keyHelp = `put it into a file that only you can read and write "plugins": {"NAME": {"keys": {"VARIABLE": "file:~/…"}}}, or take it from a variable or a password store: docs/providers.md; a key that was in a shared file is to be renewed`

func (c *inspector) section(n *node, s *spec, at string) {
	if n.fields() == nil {
		c.add(n, at, "expected an object, got %s", n.describe())
		return
	}
	for _, name := range n.order {
		child, path := n.fields()[name], join(at, name)
		next := s.children[name]
		switch {
		case next == nil:
			c.unknown(child, s, at, name)
		case next.key != nil:
			c.value(child, next, path)
		default:
			c.section(child, next, path)
		}
	}
	c.needed(n, s, at)
}

// needed asks for the keys that an element of a list must have. Those of a section may stand
// in another layer: [Loaded.external] asks for them when all are there.
func (c *inspector) needed(n *node, s *spec, at string) {
	if !strings.Contains(at, "[") {
		return
	}
	for _, name := range s.order {
		if k := s.children[name].key; k != nil && k.need && n.fields()[name] == nil {
			c.add(n, at, "the key %q is missing", name)
		}
	}
}

func (c *inspector) unknown(n *node, s *spec, at, name string) {
	hint := ""
	if near := Nearest(name, s.order); near != "" {
		hint = "; did you mean " + join(at, near) + "?"
	} else if elsewhere := c.pathOf(name); elsewhere != "" {
		hint = "; did you mean " + elsewhere + "?"
	} else if len(s.order) > 0 && len(s.order) <= 12 {
		hint = "; known here: " + strings.Join(s.order, ", ")
	}
	c.add(n, join(at, printable(name)), "unknown key%s", hint)
}

// pathOf finds a key by its last name alone, or by one near to it.
func (c *inspector) pathOf(name string) string {
	byName := map[string]string{}
	for _, k := range c.keys {
		if k.top() {
			byName[k.path[strings.LastIndexByte(k.path, '.')+1:]] = k.path
		}
	}
	if p := byName[name]; p != "" {
		return p
	}
	return byName[Nearest(name, slices.Sorted(maps.Keys(byName)))]
}

// value checks a value against its key: the type, what lies in it, and what the key asks of
// a value of the right type.
func (c *inspector) value(n *node, s *spec, path string) {
	k := s.key
	if n.v == nil {
		c.add(n, path, "null is not a value; leave the key out to get the default")
		return
	}
	before := len(c.found)
	v, ok := c.typed(n, s, path)
	switch {
	case !ok && k.kind == kText:
		c.add(n, path, "expected %s, got %s%s", k.expects(), n.describe(), quoteHint(n))
	case !ok:
		c.add(n, path, "expected %s, got %s", k.expects(), n.describe())
	case len(c.found) > before || v == nil:
	case k.only != "" && !k.isOnly(v):
		c.add(n, path, "%s is refused: %s", n.describe(), k.only)
	case k.check != nil:
		if why := k.check(v); why != "" {
			c.add(n, path, "%s", why)
		}
	}
}

// typed gives a value as its kind has it, and checks what lies in it; false says that it is
// none of that kind. It is nil where its key asks no more.
func (c *inspector) typed(n *node, s *spec, path string) (v any, ok bool) {
	k := s.key
	text, isText := n.v.(string)
	switch k.kind {
	case kText:
		if isText {
			c.text(n, k, path, text)
		}
		return text, isText
	case kBool:
		v, ok = n.v.(bool)
		return v, ok
	case kWhole:
		i, ok := n.whole()
		return i, ok && k.bounds(float64(i))
	case kNumber:
		f, ok := n.number()
		return f, ok && k.bounds(f)
	case kCommand, kTexts, kObjects:
		if k.kind == kCommand && isText {
			return text, true
		}
		list, ok := n.v.([]*node)
		if ok {
			c.items(n, list, s, path)
		}
		return list, ok
	case kMap:
		if n.fields() != nil {
			c.values(n, s, path)
		}
		return n.fields(), n.fields() != nil
	case kAny:
		for _, name := range s.order {
			if child := n.fields()[name]; child != nil {
				c.value(child, s.children[name], join(path, name))
			}
		}
		return nil, n.fields() != nil
	case kRef:
		if _, err := keys.Parse(n.plain()); err != nil {
			c.add(n, path, "%v", err)
		}
		return nil, true
	}
	panic("config: a kind without a type")
}

// bounds reports whether a number lies between the key's min and max.
func (k *key) bounds(f float64) bool { return k.min <= f && f <= k.max }

// isOnly compares with the one value that a fixed key has. Defaults that stand in
// the workspace are compared when the workspace is known.
func (k *key) isOnly(v any) bool {
	if s, ok := k.def.(string); ok && strings.Contains(s, "{workspace}") {
		return true
	}
	return v == k.def
}

func quoteHint(n *node) string {
	switch n.v.(type) {
	case int64, float64, bool:
		return "; put it in quotes"
	}
	return ""
}

func (c *inspector) text(n *node, k *key, path, text string) {
	limit := cmp.Or(int(k.max), 500)
	switch {
	case utf8.RuneCountInString(text) > limit:
		c.add(n, path, "the text is longer than %d characters", limit)
	case strings.ContainsRune(text, 0):
		c.add(n, path, "the text holds a NUL character")
	case len(k.enum) > 0 && !slices.Contains(k.enum, text):
		hint := ""
		if near := Nearest(text, k.enum); near != "" {
			hint = fmt.Sprintf("; did you mean %q?", near)
		}
		c.add(n, path, "expected %s, got %s%s", k.expects(), n.describe(), hint)
	}
}

func (c *inspector) items(n *node, l []*node, s *spec, path string) {
	limit := cmp.Or(int(s.key.max), 500)
	if len(l) > limit {
		c.add(n, path, "the list has %d entries; %d are the most", len(l), limit)
		return
	}
	for i, x := range l {
		at := fmt.Sprintf("%s[%d]", path, i)
		if s.key.kind == kObjects {
			c.section(x, s.each, at)
		} else if t, ok := x.v.(string); !ok {
			c.add(x, at, "expected a text, got %s%s", x.describe(), quoteHint(x))
		} else if strings.ContainsRune(t, 0) || utf8.RuneCountInString(t) > 2000 {
			c.add(x, at, "the text holds a NUL character or is longer than 2000 characters")
		}
	}
}

func (c *inspector) values(n *node, s *spec, path string) {
	for _, name := range n.order {
		child, at := n.fields()[name], join(path, printable(name))
		if s.each.key != nil {
			c.value(child, s.each, at)
		} else {
			c.section(child, s.each, at)
		}
	}
}

func join(at, name string) string {
	if at == "" {
		return name
	}
	return at + "." + name
}

// printable makes a key from a file fit for a message.
func printable(s string) string {
	q := clipQuote(s)
	if q == `"`+s+`"` && !strings.ContainsAny(s, " .") {
		return s
	}
	return q
}
