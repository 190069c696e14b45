package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// syntaxError is a document that can't be read, with its line (0: not known).
type syntaxError struct {
	line   int
	reason string
}

func (e *syntaxError) Error() string {
	if e.line == 0 {
		return e.reason
	}
	return fmt.Sprintf("line %d: %s", e.line, e.reason)
}

// parse reads a document by the ending of its name. at is the place that every
// value gets, with its own line.
func parse(name string, b []byte, at Origin) (*node, error) {
	if len(b) > maxFileBytes {
		return nil, &syntaxError{0, fmt.Sprintf("the file is over %d bytes", maxFileBytes)}
	}
	b = bytes.TrimPrefix(b, []byte("\xef\xbb\xbf"))
	for i, rest := 0, b; len(rest) > 0; {
		r, n := utf8.DecodeRune(rest)
		if r == utf8.RuneError && n == 1 {
			return nil, &syntaxError{lineAt(b, int64(i)), "a byte that is not valid UTF-8"}
		}
		i, rest = i+n, rest[n:]
	}
	ext := filepath.Ext(name)
	if (ext == ".yaml" || ext == ".yml" || ext == ".toml") && brackets(b) > 200 {
		return nil, &syntaxError{0, "brackets are nested too deeply"} // their parsers recurse
	}
	var n *node
	var err error
	switch ext {
	case ".yaml", ".yml":
		n, err = parseYAML(b, at)
	case ".toml":
		n, err = parseTOML(b, at)
	default:
		n, err = parseJSON(b, at)
	}
	if err != nil {
		if se, ok := errors.AsType[*syntaxError](err); ok {
			se.reason = visible(se.reason)
		}
		return nil, err
	}
	if n.fields() == nil {
		return nil, &syntaxError{n.at.Line, "the document must be an object, not " + n.describe()}
	}
	return n, nil
}

// visible makes the parsers' messages, which quote the file, fit for a terminal.
func visible(s string) string {
	var b strings.Builder
	for _, r := range s {
		if unicode.IsPrint(r) {
			b.WriteRune(r)
		} else {
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		}
	}
	if r := []rune(b.String()); len(r) > 300 {
		return string(r[:300]) + "…"
	}
	return b.String()
}

// brackets gives how deep brackets are nested, those in texts included.
func brackets(b []byte) (deepest int) {
	depth := 0
	for _, c := range b {
		switch c {
		case '[', '{':
			depth++
			deepest = max(deepest, depth)
		case ']', '}':
			depth = max(depth-1, 0)
		}
	}
	return deepest
}

func lineAt(b []byte, offset int64) int {
	return 1 + bytes.Count(b[:min(max(offset, 0), int64(len(b)))], []byte("\n"))
}

type jsonParser struct {
	b     []byte
	d     *json.Decoder
	at    Origin
	nodes int
}

func parseJSON(b []byte, at Origin) (*node, error) {
	p := &jsonParser{b: b, d: json.NewDecoder(bytes.NewReader(b)), at: at}
	p.d.UseNumber()
	n, err := p.value(0)
	if err != nil {
		return nil, p.explain(err)
	}
	if _, err := p.d.Token(); !errors.Is(err, io.EOF) {
		return nil, &syntaxError{p.line(), "something follows the end of the document"}
	}
	return n, nil
}

func (p *jsonParser) line() int { return lineAt(p.b, p.d.InputOffset()) }

func (p *jsonParser) value(depth int) (*node, error) {
	t, err := p.d.Token()
	if err != nil {
		return nil, err
	}
	if p.nodes++; p.nodes > maxNodes {
		return nil, &syntaxError{p.line(), "too many values"}
	}
	n := &node{at: p.at}
	n.at.Line = p.line()
	d, isDelim := t.(json.Delim)
	if !isDelim {
		n.v, err = p.scalar(t)
		return n, err
	}
	if depth >= maxDepth {
		return nil, &syntaxError{p.line(), fmt.Sprintf("nested deeper than %d levels", maxDepth)}
	}
	if d == '[' {
		list := []*node{}
		for p.d.More() {
			c, err := p.value(depth + 1)
			if err != nil {
				return nil, err
			}
			list = append(list, c)
		}
		n.v = list
	} else {
		n.v = map[string]*node{}
		for p.d.More() {
			t, err := p.d.Token()
			if err != nil {
				return nil, err
			}
			key, line := t.(string), p.line()
			c, err := p.value(depth + 1)
			if err != nil {
				return nil, err
			}
			if c.fields() != nil || isList(c) {
				c.at.Line = line
			}
			if !n.put(key, c) {
				return nil, &syntaxError{line, "the key " + clipQuote(key) + " appears twice"}
			}
		}
	}
	_, err = p.d.Token() // the closing one
	return n, err
}

func isList(n *node) bool { _, ok := n.v.([]*node); return ok }

func (p *jsonParser) scalar(t json.Token) (any, error) {
	switch t := t.(type) {
	case json.Number:
		return number(t.String(), p.line())
	case string:
		if strings.ContainsRune(t, utf8.RuneError) {
			return nil, &syntaxError{p.line(), "a text with half a surrogate pair or U+FFFD"}
		}
		return t, nil
	default:
		return t, nil
	}
}

func number(s string, line int) (any, error) {
	if i, err := strconv.ParseInt(s, 10, 64); err == nil {
		return i, nil
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return nil, &syntaxError{line, "a number that is too large"}
	}
	return f, nil
}

// explain puts the decoder's words into ones about the file.
func (p *jsonParser) explain(err error) error {
	if _, ok := errors.AsType[*syntaxError](err); ok {
		return err
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		if len(bytes.TrimSpace(p.b)) == 0 {
			return &syntaxError{0, "the file is empty"}
		}
		return &syntaxError{lineAt(p.b, int64(len(bytes.TrimRight(p.b, " \t\r\n")))), "the file ends in the middle"}
	}
	// Where the decoder stopped is the end of the last good token; what it choked
	// on comes next, white space apart.
	off := p.d.InputOffset()
	rest := bytes.TrimLeft(p.b[off:], " \t\r\n")
	line := lineAt(p.b, int64(len(p.b)-len(rest)))
	after, comma := bytes.CutPrefix(rest, []byte(","))
	next := bytes.TrimLeft(after, " \t\r\n")
	before := bytes.TrimRight(p.b[:off], " \t\r\n")
	switch {
	case comma && len(next) > 0 && (next[0] == '}' || next[0] == ']'),
		bytes.HasSuffix(before, []byte(",")) && len(rest) > 0 && (rest[0] == '}' || rest[0] == ']'):
		return &syntaxError{line, "a comma with nothing after it; JSON allows none before \"}\" or \"]\""}
	case bytes.HasPrefix(rest, []byte("//")) || bytes.HasPrefix(rest, []byte("/*")) || bytes.HasPrefix(rest, []byte("#")) || bytes.HasPrefix(next, []byte("//")):
		return &syntaxError{line, "a comment; JSON has none, relay.config.yaml has"}
	}
	reason := err.Error()
	reason = strings.TrimPrefix(strings.TrimPrefix(reason, "json: "), "syntax error: ")
	return &syntaxError{line, reason}
}
