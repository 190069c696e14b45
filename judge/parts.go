package judge

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// ChangedParts names the parts of a file that a [Trigger] counts and that differ between
// two contents of it; nil content is a file that is not there. It is nil for a path of
// which all or nothing counts, and empty, not nil, where no such part differs. What can't
// be read as its format differs as a whole.
func ChangedParts(name string, old, now []byte) []string {
	t := TriggerOf(name)
	if t == nil || t.Part == "" {
		return nil
	}
	format, rest, _ := strings.Cut(t.Part, " ")
	changed := []string{}
	if bytes.Equal(old, now) {
		return changed
	}
	if format == "lines" {
		if !slices.Equal(oddLines(rest, old), oddLines(rest, now)) {
			changed = append(changed, "other lines than lists of dependencies")
		}
		return changed
	}
	read := jsonParts
	if format == "toml" {
		read = tomlParts
	}
	var names []string
	for n := range strings.FieldsSeq(rest) {
		if object, all := strings.CutSuffix(n, "*"); all {
			names = append(names, members(old, object)...)
		} else {
			names = append(names, n)
		}
	}
	was, errWas := read(old, names)
	is, errIs := read(now, names)
	if errWas != nil || errIs != nil {
		return append(changed, "what can't be read as "+format)
	}
	for i, n := range names {
		if was[i] != is[i] && !slices.Contains(changed, n) {
			changed = append(changed, n)
		}
	}
	return changed
}

// members names what an object of a JSON text has ("scripts." is its prefix): commands, which
// others call, and what is run before and after them. What can't be read has none.
func members(text []byte, prefix string) (names []string) {
	var top map[string]json.RawMessage
	var object map[string]json.RawMessage
	_ = json.Unmarshal(text, &top)
	_ = json.Unmarshal(top[strings.TrimSuffix(prefix, ".")], &object)
	for _, name := range slices.Sorted(maps.Keys(object)) {
		names = append(names, prefix+name, prefix+"pre"+name, prefix+"post"+name)
	}
	return names
}

var lineRules sync.Map // of *regexp.Regexp

// oddLines are the lines that do not match as a whole.
func oddLines(rule string, text []byte) (odd []string) {
	re, ok := lineRules.Load(rule)
	if !ok {
		re, _ = lineRules.LoadOrStore(rule, regexp.MustCompile("^(?:"+rule+")$"))
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\r\n")
		if strings.ContainsRune(line, '\r') || !re.(*regexp.Regexp).MatchString(line) {
			odd = append(odd, line)
		}
	}
	return odd
}

var errPart = errors.New("can't be read with certainty")

// jsonParts gives the value at each dotted name as one text, "" where there is none.
func jsonParts(text []byte, names []string) ([]string, error) {
	out := make([]string, len(names))
	if text == nil {
		return out, nil
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	top, err := jsonValue(dec, 0)
	if err != nil {
		return nil, err
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, errPart
	}
	if _, ok := top.(map[string]any); !ok {
		return nil, errPart
	}
	for i, n := range names {
		v := top
		for _, key := range strings.SplitN(n, ".", 2) { // a command's name may have more of them
			m, ok := v.(map[string]any)
			if !ok {
				break // what stands there in the place of an object counts
			}
			if v, ok = m[key]; !ok {
				v = nil
				break
			}
		}
		if v != nil {
			b, _ := json.Marshal(v)
			out[i] = string(b)
		}
	}
	return out, nil
}

// jsonValue reads one value. Two keys of one name are an error: readers differ about
// which of them counts.
func jsonValue(dec *json.Decoder, depth int) (any, error) {
	t, err := dec.Token()
	if err != nil || depth > 100 {
		return nil, errPart
	}
	switch t {
	case json.Delim('{'):
		m := map[string]any{}
		for dec.More() {
			key, err := dec.Token()
			name, ok := key.(string)
			if _, twice := m[name]; err != nil || !ok || twice {
				return nil, errPart
			}
			if m[name], err = jsonValue(dec, depth+1); err != nil {
				return nil, err
			}
		}
		_, err := dec.Token()
		return m, err
	case json.Delim('['):
		l := []any{}
		for dec.More() {
			v, err := jsonValue(dec, depth+1)
			if err != nil {
				return nil, err
			}
			l = append(l, v)
		}
		_, err := dec.Token()
		return l, err
	}
	return t, nil
}

// tomlParts gives for each dotted name the text of all statements about it, in their
// order: those whose key it is, lies below or above.
func tomlParts(text []byte, names []string) ([]string, error) {
	out := make([]string, len(names))
	table := ""
	for len(text) > 0 {
		n, err := tomlStatement(text)
		if err != nil {
			return nil, err
		}
		line := strings.TrimSpace(string(text[:n]))
		text = text[n:]
		if line == "" || line[0] == '#' {
			continue
		}
		key := ""
		if line[0] == '[' {
			end := strings.LastIndexByte(line, ']')
			if i := strings.IndexByte(line, '#'); i >= 0 { // a comment, or a "#" in quotes
				end = strings.LastIndexByte(line[:i], ']')
			}
			if end < 0 {
				return nil, errPart
			}
			if table, err = tomlKey(strings.Trim(line[:end], "[] \t")); err != nil {
				return nil, err
			}
			key = table
		} else {
			eq := strings.IndexByte(line, '=')
			if eq < 0 {
				return nil, errPart
			}
			if key, err = tomlKey(line[:eq]); err != nil {
				return nil, err
			}
			if table != "" {
				key = table + "." + key
			}
		}
		for i, n := range names {
			if key == n || strings.HasPrefix(key, n+".") || strings.HasPrefix(n, key+".") && line[0] != '[' {
				out[i] += line + "\n"
			}
		}
	}
	return out, nil
}

// tomlKey is a key without spaces and quotes. One that hides what it is, is an error.
func tomlKey(text string) (string, error) {
	if strings.ContainsAny(text, "\\=[]#") || strings.Contains(text, `""`) || strings.Contains(text, "''") {
		return "", errPart
	}
	var parts []string
	for p := range strings.SplitSeq(text, ".") {
		parts = append(parts, strings.Trim(strings.TrimSpace(p), `"'`))
	}
	return strings.Join(parts, "."), nil
}

// tomlStatement is the length of the statement that the text begins with: up to the end
// of the line on which all its brackets and quotes are closed.
func tomlStatement(text []byte) (int, error) {
	depth := 0
	for i := 0; i < len(text); {
		switch c := text[i]; c {
		case '\n':
			if depth <= 0 {
				return i + 1, nil
			}
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		case '#':
			for i < len(text) && text[i] != '\n' {
				i++
			}
			continue
		case '"', '\'':
			n := tomlString(text[i:])
			if n == 0 {
				return 0, errPart
			}
			i += n
			continue
		}
		i++
	}
	if depth > 0 {
		return 0, errPart
	}
	return len(text), nil
}

// tomlString is the length of the string that the text begins with, 0 when it does not end.
func tomlString(text []byte) int {
	quote, long := text[0], 1
	if bytes.HasPrefix(text, []byte{quote, quote, quote}) {
		long = 3
	}
	for i := long; i < len(text); i++ {
		switch {
		case text[i] == '\\' && quote == '"':
			i++
		case text[i] == '\n' && long == 1:
			return 0
		case bytes.HasPrefix(text[i:], bytes.Repeat([]byte{quote}, long)):
			for i += long; long == 3 && i < len(text) && text[i] == quote; i++ { // up to two more belong to it
			}
			return i
		}
	}
	return 0
}
