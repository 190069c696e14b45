package strictjson

import (
	"bytes"
	"encoding/json"
	"strings"
)

// reader builds the value from a text whose syntax is known to be right. It is here
// since the standard one costs ten times as much token by token, and the one that
// builds values takes a key twice.
type reader struct {
	b []byte
	i int
	// way leads to the value that is being read: the keys and numbers on it become a
	// path only when there is something to say.
	way []step
}

// step is a key of an object, or the number of an element.
type step struct {
	key string
	n   int // -1: it is a key
}

// value reads what begins at i or after the space there.
func (r *reader) value() (any, error) {
	switch r.next() {
	case '{':
		return r.object()
	case '[':
		return r.array()
	case '"':
		return r.text()
	case 't':
		r.i += len("true")
		return true, nil
	case 'f':
		r.i += len("false")
		return false, nil
	case 'n':
		r.i += len("null")
		return nil, nil
	}
	begin := r.i
	for r.i < len(r.b) && strings.IndexByte(numberSigns, r.b[r.i]) >= 0 {
		r.i++
	}
	return json.Number(r.b[begin:r.i]), nil
}

// next is the byte after the space at i, which is passed over.
func (r *reader) next() byte {
	for r.b[r.i] == ' ' || r.b[r.i] == '\n' || r.b[r.i] == '\t' || r.b[r.i] == '\r' {
		r.i++
	}
	return r.b[r.i]
}

// more passes over what stands in front of another element, or behind the last one.
func (r *reader) more(end byte) bool {
	c := r.next()
	if c == ',' {
		r.i++
		c = r.next()
	}
	if c == end {
		r.i++
	}
	return c != end
}

func (r *reader) object() (any, error) {
	m := map[string]any{}
	r.i++
	for r.more('}') {
		key, err := r.text()
		if err != nil {
			return nil, err
		}
		r.way = append(r.way, step{key, -1})
		if _, ok := m[key]; ok {
			return nil, r.error("the key appears twice")
		}
		r.next() // the colon
		r.i++
		if m[key], err = r.value(); err != nil {
			return nil, err
		}
		r.way = r.way[:len(r.way)-1]
	}
	return m, nil
}

func (r *reader) array() (any, error) {
	a := []any{}
	r.i++
	for r.more(']') {
		r.way = append(r.way, step{n: len(a)})
		v, err := r.value()
		if err != nil {
			return nil, err
		}
		a = append(a, v)
		r.way = r.way[:len(r.way)-1]
	}
	return a, nil
}

func (r *reader) text() (string, error) {
	begin := r.i
	end, err := stringEnd(r.b, begin)
	if err != nil {
		return "", err
	}
	r.i = end
	quoted := r.b[begin:end]
	if bytes.IndexByte(quoted, '\\') < 0 {
		return string(quoted[1 : len(quoted)-1]), nil
	}
	var s string
	if err := json.Unmarshal(quoted, &s); err != nil {
		return "", r.error(err.Error())
	}
	return s, nil
}

// error is about the value that is being read.
func (r *reader) error(reason string) error {
	path := ""
	for _, s := range r.way {
		if s.n < 0 {
			path = Join(path, s.key)
		} else {
			path = Index(path, s.n)
		}
	}
	return &Error{Path: path, Reason: reason}
}
