package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
	"go.yaml.in/yaml/v3"
)

var yamlLine = regexp.MustCompile(`^(?:yaml: )?(?:line (\d+): )?(.*)$`)

func parseYAML(b []byte, at Origin) (*node, error) {
	d := yaml.NewDecoder(bytes.NewReader(b))
	var doc yaml.Node
	err := d.Decode(&doc)
	if errors.Is(err, io.EOF) {
		return newMap(at), nil
	}
	if err != nil {
		m := yamlLine.FindStringSubmatch(err.Error())
		line, _ := strconv.Atoi(m[1])
		return nil, &syntaxError{line, m[2]}
	}
	var more yaml.Node
	if err := d.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, &syntaxError{more.Line, "a second document; a configuration is one"}
	}
	p := &yamlParser{at: at}
	n, err := p.value(&doc, 0)
	if err == nil && n.v == nil { // only comments
		return newMap(at), nil
	}
	return n, err
}

type yamlParser struct {
	at    Origin
	nodes int
}

func (p *yamlParser) value(y *yaml.Node, depth int) (*node, error) {
	if p.nodes++; p.nodes > maxNodes {
		return nil, &syntaxError{y.Line, "too many values"}
	}
	if depth > maxDepth {
		return nil, &syntaxError{y.Line, fmt.Sprintf("nested deeper than %d levels", maxDepth)}
	}
	n := &node{at: p.at}
	n.at.Line = y.Line
	switch y.Kind {
	case yaml.DocumentNode:
		return p.value(y.Content[0], depth)
	case yaml.AliasNode:
		return p.value(y.Alias, depth+1)
	case yaml.SequenceNode:
		list := []*node{}
		for _, c := range y.Content {
			v, err := p.value(c, depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		n.v = list
	case yaml.MappingNode:
		n.v = map[string]*node{}
		for i := 0; i+1 < len(y.Content); i += 2 {
			k := y.Content[i]
			if k.Kind != yaml.ScalarNode || k.ShortTag() != "!!str" {
				return nil, &syntaxError{k.Line, "a key that is not a plain text"}
			}
			v, err := p.value(y.Content[i+1], depth+1)
			if err != nil {
				return nil, err
			}
			if v.fields() != nil || isList(v) {
				v.at.Line = k.Line
			}
			if !n.put(k.Value, v) {
				return nil, &syntaxError{k.Line, "the key " + clipQuote(k.Value) + " appears twice"}
			}
		}
	default:
		v, err := yamlScalar(y)
		n.v = v
		return n, err
	}
	return n, nil
}

func yamlScalar(y *yaml.Node) (any, error) {
	switch y.ShortTag() {
	case "!!null":
		return nil, nil
	case "!!bool":
		return strings.EqualFold(y.Value, "true"), nil
	case "!!int":
		var i int64
		if err := y.Decode(&i); err != nil {
			return nil, &syntaxError{y.Line, "a number that is too large"}
		}
		return i, nil
	case "!!float":
		var f float64
		if err := y.Decode(&f); err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
			return nil, &syntaxError{y.Line, "a number that is none or too large"}
		}
		return f, nil
	case "!!str", "!!timestamp":
		return y.Value, nil
	default:
		return nil, &syntaxError{y.Line, "the type " + clipQuote(y.Tag) + " isn't allowed in a configuration"}
	}
}

func parseTOML(b []byte, at Origin) (*node, error) {
	var doc map[string]any
	if err := toml.Unmarshal(b, &doc); err != nil {
		if de, ok := errors.AsType[*toml.DecodeError](err); ok {
			line, _ := de.Position()
			return nil, &syntaxError{line, strings.TrimPrefix(de.Error(), "toml: ")}
		}
		return nil, &syntaxError{0, strings.TrimPrefix(err.Error(), "toml: ")}
	}
	p := &tomlParser{at: at, lines: tomlLines(b)}
	return p.value(doc, "", 0)
}

type tomlParser struct {
	at    Origin
	lines map[string]int
}

func (p *tomlParser) value(v any, path string, depth int) (*node, error) {
	n := &node{v: v, at: p.at}
	n.at.Line = p.lines[path]
	if depth > maxDepth {
		return nil, &syntaxError{n.at.Line, fmt.Sprintf("nested deeper than %d levels", maxDepth)}
	}
	switch v := v.(type) {
	case map[string]any:
		n.v = map[string]*node{}
		for _, k := range slices.Sorted(maps.Keys(v)) {
			c, err := p.value(v[k], path+"\x00"+k, depth+1)
			if err != nil {
				return nil, err
			}
			n.put(k, c)
		}
	case []any:
		list := make([]*node, len(v))
		for i, x := range v {
			c, err := p.value(x, path, depth+1)
			if err != nil {
				return nil, err
			}
			list[i] = c
		}
		n.v = list
	case string, bool, int64:
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, &syntaxError{n.at.Line, "a number that is none or too large"}
		}
	default:
		return nil, &syntaxError{n.at.Line, "a date or time, which isn't allowed in a configuration"}
	}
	return n, nil
}

// tomlLines finds the line of each key; the library's decoder keeps none.
func tomlLines(b []byte) map[string]int {
	lines := map[string]int{}
	var p unstable.Parser
	p.Reset(b)
	prefix := ""
	join := func(base string, it unstable.Iterator) string {
		for it.Next() {
			k := it.Node()
			base += "\x00" + string(k.Data)
			if _, there := lines[base]; !there {
				lines[base] = p.Shape(k.Raw).Start.Line
			}
		}
		return base
	}
	for p.NextExpression() {
		switch e := p.Expression(); e.Kind {
		case unstable.Table, unstable.ArrayTable:
			prefix = join("", e.Key())
		case unstable.KeyValue:
			join(prefix, e.Key())
		}
	}
	return lines
}
