package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"sync"
	"unicode/utf16"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Mask stands where a secret was.
const Mask = "[redacted]"

// MinLen is the length in bytes below which a value is not masked: it would tear
// holes into ordinary text.
const MinLen = 6

// Set is a set of secret values. The nil Set masks nothing. It is safe for
// concurrent use.
type Set struct {
	at      map[uint64][][]byte // forms by their first MinLen bytes, the longest first
	begin   map[string]bool     // what forms begin with, shorter than MinLen
	maybe   [1 << 14]bool       // whether a form may begin so: they can be thousands
	longest int
	stays   func(form string) bool // nil for none
	late    func() *Set            // nil for none
}

// New makes a set of values, each in all of its [Forms]. It is nil when no value is
// long enough.
func New(values ...string) *Set { return newSet(values, nil) }

func newSet(values []string, stays func(string) bool) *Set {
	var forms []string
	for _, v := range values {
		if v = strings.TrimSpace(v); len(v) >= MinLen {
			forms = append(forms, Forms(v)...)
		}
	}
	if len(forms) == 0 {
		return nil
	}
	slices.SortFunc(forms, func(a, b string) int { return len(b) - len(a) })
	s := &Set{at: map[uint64][][]byte{}, begin: map[string]bool{}, longest: len(forms[0]), stays: stays}
	for _, f := range forms {
		if len(f) < MinLen {
			continue
		}
		key := head([]byte(f))
		s.at[key], s.maybe[slot(key)] = append(s.at[key], []byte(f)), true
		for n := 1; n < MinLen; n++ {
			s.begin[f[:n]] = true
		}
	}
	return s
}

// With is the set and further values, which are asked for when a text is first masked.
// Of those a form is left where stays, which is asked once for each, says so.
func (s *Set) With(values func() []string, stays func(form string) bool) *Set {
	if s == nil {
		s = &Set{}
	}
	var asked sync.Map
	s.late = sync.OnceValue(func() *Set {
		return newSet(values(), func(form string) bool {
			known, ok := asked.Load(form)
			if !ok {
				known, _ = asked.LoadOrStore(form, stays(form))
			}
			return known.(bool)
		})
	})
	return s
}

// Forms are a value as it is, in UTF-16, and as JSON, URLs (every byte of them, too), hexadecimal digits and base64 write it,
// the latter for each of the three places that it can have in what was encoded.
func Forms(v string) []string {
	quoted, _ := json.Marshal(v)
	out := []string{v, string(quoted[1 : len(quoted)-1]), url.QueryEscape(v), url.PathEscape(v), hex.EncodeToString([]byte(v)), strings.ToUpper(hex.EncodeToString([]byte(v)))}
	var escaped strings.Builder
	for i := range len(v) {
		fmt.Fprintf(&escaped, "%%%02x", v[i])
	}
	out = append(out, escaped.String(), strings.ToUpper(escaped.String()))
	var wide []byte // UTF-16, of either order
	for _, u := range utf16.Encode([]rune(v)) {
		wide = append(wide, byte(u>>8), byte(u))
	}
	out = append(out, string(wide), string(append(wide[1:len(wide):len(wide)], 0)))
	for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		out = append(out, encoding.EncodeToString([]byte(v)))
		for before := range 3 {
			text := encoding.EncodeToString([]byte(strings.Repeat("\x00", before) + v))
			text = text[(before*8+5)/6:] // without what the bytes before have a part in
			if (before+len(v))%3 != 0 {
				text = text[:len(text)-1] // and those after
			}
			if len(text) >= 16 {
				out = append(out, text)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// head is what b begins with, slot its place in maybe.
func head(b []byte) (key uint64) {
	for _, c := range b[:MinLen] {
		key = key<<8 | uint64(c)
	}
	return key
}

func slot(key uint64) uint64 { return key * 0x9E3779B97F4A7C15 >> 50 }

// String masks text.
func (s *Set) String(text string) string {
	if s == nil || text == "" {
		return text
	}
	return string(s.Bytes([]byte(text)))
}

// Bytes masks b; b itself is not changed.
func (s *Set) Bytes(b []byte) []byte {
	if s == nil || len(b) == 0 {
		return b
	}
	out, _ := s.mask(nil, b, len(b))
	if s.late != nil {
		out = s.late().Bytes(out)
	}
	return out
}

// mask appends b to dst with every secret masked that starts before limit, and gives
// what it has not looked at.
func (s *Set) mask(dst, b []byte, limit int) (out, rest []byte) {
	pos := 0
	for pos < limit {
		start, end := s.next(b, pos)
		if start < 0 || start >= limit {
			break
		}
		dst = append(append(dst, b[pos:start]...), Mask...)
		pos = end
	}
	cut := max(pos, limit)
	return append(dst, b[pos:cut]...), b[cut:]
}

// next finds the first secret at or after from, the longest where several start.
func (s *Set) next(b []byte, from int) (start, end int) {
	var key uint64
	for i := from; i < len(b); i++ {
		key = (key<<8 | uint64(b[i])) & (1<<(8*MinLen) - 1)
		start := i - MinLen + 1
		if start < from || !s.maybe[slot(key)] {
			continue
		}
		for _, f := range s.at[key] {
			if bytes.HasPrefix(b[start:], f) && (s.stays == nil || !s.stays(string(f))) {
				return start, start + len(f)
			}
		}
	}
	return -1, 0
}

// Message masks every string and bytes field of m, in place, at any depth, and reports
// whether there was anything to mask.
func (s *Set) Message(m proto.Message) (masked bool) {
	return s != nil && m != nil && s.message(m.ProtoReflect())
}

func (s *Set) message(m protoreflect.Message) (masked bool) {
	m.Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case fd.IsMap(): // the protocol has none
		case fd.IsList():
			for i := range v.List().Len() {
				w, set, found := s.value(fd, v.List().Get(i))
				if set {
					v.List().Set(i, w)
				}
				masked = masked || found
			}
		default:
			w, set, found := s.value(fd, v)
			if set {
				m.Set(fd, w)
			}
			masked = masked || found
		}
		return true
	})
	return masked
}

// value masks one value: set says that w is to stand in its place, masked that something was
// found in it.
func (s *Set) value(fd protoreflect.FieldDescriptor, v protoreflect.Value) (w protoreflect.Value, set, masked bool) {
	switch fd.Kind() {
	case protoreflect.StringKind:
		text := s.String(v.String())
		return protoreflect.ValueOfString(text), text != v.String(), text != v.String()
	case protoreflect.BytesKind:
		b := s.Bytes(v.Bytes())
		return protoreflect.ValueOfBytes(b), !bytes.Equal(b, v.Bytes()), !bytes.Equal(b, v.Bytes())
	case protoreflect.MessageKind:
		masked = s.message(v.Message())
	}
	return v, false, masked
}

// Writer masks a stream, also where a secret is split over two writes. What may be the
// beginning of a secret is held back until more comes, or Flush; the rest is written
// at once. It is not safe for concurrent use.
type Writer struct {
	set  *Set
	late func() *Set // the set, when it is made by the first write
	to   io.Writer
	held []byte
}

// NewWriter masks what is written before it reaches w.
func NewWriter(s *Set, w io.Writer) *Writer {
	if s != nil && s.late != nil {
		w = &Writer{late: s.late, to: w}
	}
	return &Writer{set: s, to: w}
}

// Write takes all of p; an error is that of the writer below.
func (w *Writer) Write(p []byte) (int, error) {
	if w.late != nil {
		w.set, w.late = w.late(), nil
	}
	if w.set == nil {
		return w.to.Write(p)
	}
	w.held = append(w.held, p...)
	out, rest := w.set.mask(nil, w.held, len(w.held)-w.set.begun(w.held))
	w.held = append(w.held[:0], rest...)
	if len(out) == 0 {
		return len(p), nil
	}
	_, err := w.to.Write(out)
	return len(p), err
}

// begun is how many bytes at the end of b can be the beginning of a secret that continues.
func (s *Set) begun(b []byte) int {
	for n := min(s.longest-1, len(b)); n > 0; n-- {
		end := b[len(b)-n:]
		if n < MinLen && s.begin[string(end)] {
			return n
		}
		if n >= MinLen && slices.ContainsFunc(s.at[head(end)], func(f []byte) bool { return len(f) > n && bytes.HasPrefix(f, end) }) {
			return n
		}
	}
	return 0
}

// Flush writes what was held back.
func (w *Writer) Flush() (err error) {
	if len(w.held) > 0 {
		out, _ := w.set.mask(nil, w.held, len(w.held))
		w.held = nil
		_, err = w.to.Write(out)
	}
	if next, ok := w.to.(*Writer); ok {
		err = errors.Join(err, next.Flush())
	}
	return err
}
