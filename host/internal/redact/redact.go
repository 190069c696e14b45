package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/url"
	"slices"
	"strings"

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
	forms [][]byte // longest first
}

// New makes a set of values. Each is also found as JSON, URL and base64 write it.
// It is nil when no value is long enough.
func New(values ...string) *Set {
	var forms []string
	for _, v := range values {
		v = strings.TrimSpace(v)
		if len(v) < MinLen {
			continue
		}
		quoted, err := json.Marshal(v)
		if err == nil {
			forms = append(forms, string(quoted[1:len(quoted)-1]))
		}
		forms = append(forms, v, url.QueryEscape(v), url.PathEscape(v),
			base64.RawStdEncoding.EncodeToString([]byte(v)), base64.RawURLEncoding.EncodeToString([]byte(v)))
	}
	if len(forms) == 0 {
		return nil
	}
	slices.SortFunc(forms, func(a, b string) int {
		if d := len(b) - len(a); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	s := &Set{}
	for _, f := range slices.Compact(forms) {
		s.forms = append(s.forms, []byte(f))
	}
	return s
}

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
	start = -1
	window := b[from:]
	for _, f := range s.forms {
		i := bytes.Index(window, f)
		if i < 0 || (start >= 0 && from+i >= start) {
			continue
		}
		start, end = from+i, from+i+len(f)
		window = b[from:min(len(b), start+len(f))]
	}
	return start, end
}

// Message masks every string and bytes field of m, in place, at any depth.
func (s *Set) Message(m proto.Message) {
	if s != nil && m != nil {
		s.message(m.ProtoReflect())
	}
}

func (s *Set) message(m protoreflect.Message) {
	m.Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case fd.IsMap(): // the protocol has none
		case fd.IsList():
			for i := range v.List().Len() {
				if w, ok := s.value(fd, v.List().Get(i)); ok {
					v.List().Set(i, w)
				}
			}
		default:
			if w, ok := s.value(fd, v); ok {
				m.Set(fd, w)
			}
		}
		return true
	})
}

// value gives the masked form of a scalar, and false when there is nothing to set.
func (s *Set) value(fd protoreflect.FieldDescriptor, v protoreflect.Value) (protoreflect.Value, bool) {
	switch fd.Kind() {
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(s.String(v.String())), true
	case protoreflect.BytesKind:
		return protoreflect.ValueOfBytes(s.Bytes(v.Bytes())), true
	case protoreflect.MessageKind:
		s.message(v.Message())
	}
	return v, false
}

// Writer masks a stream, also where a secret is split over two writes. What may be the
// beginning of a secret is held back until more comes, or Flush; the rest is written
// at once. It is not safe for concurrent use.
type Writer struct {
	set  *Set
	to   io.Writer
	held []byte
}

// NewWriter masks what is written before it reaches w.
func NewWriter(s *Set, w io.Writer) *Writer { return &Writer{set: s, to: w} }

// Write takes all of p; an error is that of the writer below.
func (w *Writer) Write(p []byte) (int, error) {
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

// begun is how many bytes at the end of b can be the beginning of a secret that goes on.
func (s *Set) begun(b []byte) (most int) {
	for _, f := range s.forms {
		for n := min(len(f)-1, len(b)); n > most; n-- {
			if bytes.HasSuffix(b, f[:n]) {
				most = n
			}
		}
	}
	return most
}

// Flush writes what was held back.
func (w *Writer) Flush() error {
	if len(w.held) == 0 {
		return nil
	}
	out := w.set.Bytes(w.held)
	w.held = nil
	_, err := w.to.Write(out)
	return err
}
