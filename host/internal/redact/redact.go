package redact

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
)

// Mask stands where a secret was.
const Mask = "[redacted]"

// MinLen is the length in bytes below which a value is not masked: it would tear
// holes into ordinary text.
const MinLen = 6

// Set is a set of secret values. The nil Set masks nothing. It is safe for
// concurrent use.
type Set struct {
	replacer *strings.Replacer
	longest  int
}

// New makes a set of values. Each is also found as JSON, URL and base64 write it.
func New(values ...string) *Set {
	var forms []string
	for _, v := range values {
		v = strings.TrimSpace(v)
		if len(v) < MinLen {
			continue
		}
		quoted, _ := json.Marshal(v)
		forms = append(forms, v, strings.Trim(string(quoted), `"`), url.QueryEscape(v), url.PathEscape(v),
			base64.RawStdEncoding.EncodeToString([]byte(v)), base64.RawURLEncoding.EncodeToString([]byte(v)))
	}
	if len(forms) == 0 {
		return nil
	}
	slices.SortFunc(forms, func(a, b string) int { return len(b) - len(a) })
	s := &Set{longest: len(forms[0])}
	var pairs []string
	for _, f := range forms {
		pairs = append(pairs, f, Mask)
	}
	s.replacer = strings.NewReplacer(pairs...)
	return s
}

// String masks text.
func (s *Set) String(text string) string {
	if s == nil {
		return text
	}
	return s.replacer.Replace(text)
}

// Bytes masks b; b itself is not changed.
func (s *Set) Bytes(b []byte) []byte {
	if s == nil {
		return b
	}
	return []byte(s.replacer.Replace(string(b)))
}
