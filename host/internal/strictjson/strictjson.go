package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// MaxBytes is the largest document that is read where the caller sets no limit.
const MaxBytes = 2 << 20

// MaxDepth is how deep arrays and objects may be nested.
const MaxDepth = 32

// maxNumber is the longest number literal in bytes, and maxExponent the largest
// exponent: readers that compute exactly would need memory without end for 1e999999999.
const (
	maxNumber   = 64
	maxExponent = 400
)

// numberSigns are what a number literal is made of.
const numberSigns = "0123456789+-.eE"

// Error says where a document is refused and why, in words fit for a model or a
// person.
type Error struct {
	Line, Column int    // 1-based, in bytes; 0 when it is about the whole document
	Path         string // such as "scope.allowed_globs[2]"; "" at the top or when unknown
	Reason       string
}

// Error gives place and reason on one line.
func (e *Error) Error() string {
	switch {
	case e.Path != "":
		return e.Path + ": " + e.Reason
	case e.Line > 0:
		return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Reason)
	default:
		return e.Reason
	}
}

// Decode reads one value of at most max bytes: map[string]any, []any, string,
// json.Number, bool or nil. Every error is an *Error.
func Decode(b []byte, max int) (any, error) {
	if err := checkText(b, max); err != nil {
		return nil, err
	}
	if err := checkTokens(b); err != nil {
		return nil, err
	}
	if !json.Valid(b) {
		return nil, syntaxError(b, json.Unmarshal(b, new(json.RawMessage)))
	}
	return (&reader{b: b}).value()
}

// checkText refuses what is no JSON text at all, with a reason that says what it is.
func checkText(b []byte, max int) error {
	trimmed := bytes.TrimLeft(b, " \t\r\n")
	switch {
	case len(b) > max:
		return &Error{Reason: fmt.Sprintf("has %d bytes; at most %d are read", len(b), max)}
	case len(trimmed) == 0:
		return &Error{Reason: "is empty; one JSON value is expected"}
	case bytes.HasPrefix(trimmed, []byte("\ufeff")):
		return &Error{Line: 1, Column: 1, Reason: "begins with a byte order mark; the JSON value alone is expected"}
	case bytes.HasPrefix(trimmed, []byte("```")):
		return &Error{Line: 1, Column: 1, Reason: "begins with a code fence; the JSON value alone is expected, without Markdown"}
	case !utf8.Valid(b):
		i := 0
		for {
			r, n := utf8.DecodeRune(b[i:])
			if r == utf8.RuneError && n == 1 {
				return at(b, i, "a byte that is not valid UTF-8")
			}
			i += n
		}
	}
	return nil
}

// at gives the place of byte i.
func at(b []byte, i int, format string, args ...any) *Error {
	i = min(max(i, 0), len(b))
	line := bytes.Count(b[:i], []byte{'\n'}) + 1
	return &Error{Line: line, Column: i - bytes.LastIndexByte(b[:i], '\n'), Reason: fmt.Sprintf(format, args...)}
}

// checkTokens looks at depth, at escapes in strings and at numbers, which the
// standard reader takes in silence or at any price. It need not be right about
// text that is no JSON: the syntax is checked next.
func checkTokens(b []byte) error {
	depth := 0
	for i := 0; i < len(b); {
		switch c := b[i]; {
		case c == '{' || c == '[':
			if depth++; depth > MaxDepth {
				return at(b, i, "arrays and objects are nested more than %d deep", MaxDepth)
			}
			i++
		case c == '}' || c == ']':
			depth--
			i++
		case c == '"':
			n, err := stringEnd(b, i)
			if err != nil {
				return err
			}
			i = n
		case c == '-' || c >= '0' && c <= '9':
			n := i + 1
			for n < len(b) && strings.IndexByte(numberSigns, b[n]) >= 0 {
				n++
			}
			if !smallNumber(string(b[i:n])) {
				return at(b, i, "the number %.20s is longer or larger than is read", b[i:n])
			}
			i = n
		default:
			i++
		}
	}
	return nil
}

// smallNumber reports whether a literal is short and its exponent is small.
func smallNumber(s string) bool {
	if len(s) > maxNumber {
		return false
	}
	if k := strings.IndexAny(s, "eE"); k >= 0 {
		e, err := strconv.Atoi(s[k+1:])
		return err == nil && e >= -maxExponent && e <= maxExponent
	}
	return true
}

// stringEnd gives the position after the string that begins at i, and refuses
// escapes that stand for no character: lone halves of surrogate pairs, and NUL.
func stringEnd(b []byte, i int) (int, error) {
	for i++; i < len(b) && b[i] != '"'; i++ {
		if b[i] != '\\' {
			continue
		}
		u, ok := escaped(b, i)
		switch {
		case !ok:
			i++
		case u == 0:
			return 0, at(b, i, `a string holds \u0000`)
		case u >= 0xdc00 && u <= 0xdfff:
			return 0, at(b, i, `\u%04x is half of a surrogate pair`, u)
		case u >= 0xd800 && u <= 0xdbff:
			if low, ok := escaped(b, i+6); !ok || low < 0xdc00 || low > 0xdfff {
				return 0, at(b, i, `\u%04x is half of a surrogate pair`, u)
			}
			i += 11
		default:
			i += 5
		}
	}
	return i + 1, nil
}

// escaped reads the \uXXXX at i.
func escaped(b []byte, i int) (uint64, bool) {
	if i+6 > len(b) || b[i] != '\\' || b[i+1] != 'u' {
		return 0, false
	}
	u, err := strconv.ParseUint(string(b[i+2:i+6]), 16, 32)
	return u, err == nil
}

func syntaxError(b []byte, err error) error {
	var s *json.SyntaxError
	if !errors.As(err, &s) {
		return &Error{Reason: err.Error()}
	}
	// The offset is that after the byte that was wrong.
	i := int(s.Offset) - 1
	if s.Error() == "unexpected end of JSON input" {
		return at(b, len(b), "the JSON value is cut off")
	}
	if strings.Contains(s.Error(), "after top-level value") {
		return at(b, i, "something follows the JSON value; it must be the only thing there is")
	}
	return at(b, i, "is not JSON: %s", s.Error())
}

// Join gives the path of a key below path.
func Join(path, key string) string {
	plain := key != "" && len(key) <= 80
	for _, c := range key {
		plain = plain && (c == '_' || c == '-' || c == '$' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z')
	}
	if !plain {
		return fmt.Sprintf("%s[%.80q]", path, key)
	}
	if path == "" {
		return key
	}
	return path + "." + key
}

// Index gives the path of an array's element.
func Index(path string, i int) string { return fmt.Sprintf("%s[%d]", path, i) }
