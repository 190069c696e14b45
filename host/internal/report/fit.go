package report

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/paxiom/relay/host/internal/format"
	"github.com/paxiom/relay/schemas"
)

// limits is the part of a JSON Schema that says how much fits.
type limits struct {
	MaxLength  int                `json:"maxLength"`
	MinLength  int                `json:"minLength"`
	MaxItems   int                `json:"maxItems"`
	Items      *limits            `json:"items"`
	Properties map[string]*limits `json:"properties"`
}

var limitsOf = sync.OnceValue(func() map[string]*limits {
	out := map[string]*limits{}
	for _, name := range []string{schemas.Report, schemas.Blocked} {
		l := &limits{}
		if err := json.Unmarshal(schemas.Bytes(name), l); err != nil {
			panic("report: " + name + " schema: " + err.Error())
		}
		out[name] = l
	}
	return out
})

// fitter copies a document and makes it fit: what a builder or model wrote has no
// bounds and need not be UTF-8, what relay publishes has and is.
type fitter struct {
	notes   []string // what was left out, with counts
	clipped int      // texts that were shortened
}

// fit gives a copy of v in which texts and lists are within l.
func (f *fitter) fit(v reflect.Value, l *limits, path string) reflect.Value {
	if l == nil {
		l = &limits{}
	}
	out := reflect.New(v.Type()).Elem()
	switch v.Kind() {
	case reflect.String:
		out.SetString(f.text(v.String(), l))
	case reflect.Float64:
		if x := v.Float(); !math.IsNaN(x) && !math.IsInf(x, 0) {
			out.SetFloat(x)
		}
	case reflect.Pointer:
		if !v.IsNil() {
			out.Set(reflect.New(v.Type().Elem()))
			out.Elem().Set(f.fit(v.Elem(), l, path))
		}
	case reflect.Slice:
		n := v.Len()
		if l.MaxItems > 0 && n > l.MaxItems {
			f.notes = append(f.notes, fmt.Sprintf("%s: %d of %d shown", path, l.MaxItems, n))
			n = l.MaxItems
		}
		out.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			out.Index(i).Set(f.fit(v.Index(i), l.Items, path))
		}
	case reflect.Struct:
		out.Set(v) // time.Time and the like keep their private parts
		for i := range v.NumField() {
			name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
			if name == "" {
				continue
			}
			at := name
			if path != "" {
				at = path + "." + name
			}
			out.Field(i).Set(f.fit(v.Field(i), l.Properties[name], at))
		}
	default:
		out.Set(v)
	}
	return out
}

func (f *fitter) text(s string, l *limits) string {
	s = utf8Text(s)
	if s == "" && l.MinLength > 0 {
		return "(none)"
	}
	if l.MaxLength > 0 && utf8.RuneCountInString(s) > l.MaxLength {
		f.clipped++
		return format.Clip(s, l.MaxLength)
	}
	return s
}

// utf8Text writes bytes that are no UTF-8 as \xNN; other text is unchanged.
func utf8Text(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && n == 1 {
			fmt.Fprintf(&b, `\x%02x`, s[0])
		} else {
			b.WriteString(s[:n])
		}
		s = s[n:]
	}
	return b.String()
}
