package inline

import (
	"path"
	"slices"
	"strings"
)

// largest is how much of a file is read.
const largest = 1 << 20

// Knows reports whether tests may lie in a file of that name, and be told apart.
func Knows(name string) bool { return slices.Contains([]string{".rs", ".zig", ".d"}, path.Ext(name)) }

// PutBack is a changed file with the tests that it had before, in the place of those that it
// has now. It is "" where there is nothing to put back; ok is false where that can't be told.
func PutBack(name, base, now string) (text string, ok bool) {
	lang := path.Ext(name)
	if !Knows(name) || base == now {
		return "", true
	}
	if max(len(base), len(now)) > largest {
		return "", false
	}
	was, ok := scan(lang, base)
	if !ok {
		return "", false
	}
	if len(was.tests) == 0 {
		return "", true
	}
	is, ok := scan(lang, now)
	if !ok {
		return "", false
	}
	if slices.EqualFunc(was.tests, is.tests, same) {
		return "", true
	}
	if text, ok = exchange(now, is, was.tests); !ok {
		return "", false
	}
	made, ok := scan(lang, text) // whatever went wrong shows here
	return text, ok && sorted(made.tests) == sorted(was.tests)
}

func same(a, b item) bool { return a.in == b.in && a.text == b.text }

func sorted(tests []item) string {
	var all []string
	for _, t := range tests {
		all = append(all, t.in+"\x00"+t.text)
	}
	slices.Sort(all)
	return strings.Join(all, "\x00")
}

// item is a test, or what only tests have.
type item struct {
	in         string // what it lies in: the heads of the blocks around it
	start, end int
	text       string
}

// scanned is what a file consists of.
type scanned struct {
	tests  []item
	closes map[string][]int // where the blocks of each head end
}

// exchange replaces the tests of a file: each in its place where they correspond, else at
// the end of what they lay in.
func exchange(src string, is scanned, tests []item) (string, bool) {
	type edit struct {
		start, end int
		text       string
	}
	var edits []edit
	inPlace := slices.EqualFunc(is.tests, tests, func(a, b item) bool { return a.in == b.in })
	gone := slices.Clone(tests) // and not among those of now
	for i, t := range is.tests {
		e := edit{start: t.start, end: t.end}
		if inPlace {
			e.text = tests[i].text
		} else if at := slices.IndexFunc(gone, func(g item) bool { return same(g, t) }); at >= 0 {
			gone = slices.Delete(gone, at, at+1)
			continue
		}
		edits = append(edits, e)
	}
	if inPlace {
		gone = nil
	}
	for _, t := range gone {
		at := []int{len(src)}
		if t.in != "" {
			at = is.closes[t.in]
		}
		if len(at) != 1 {
			return "", false
		}
		edits = append(edits, edit{at[0], at[0], "\n" + t.text + "\n"})
	}
	slices.SortStableFunc(edits, func(a, b edit) int { return a.start - b.start })
	var out strings.Builder
	from := 0
	for _, e := range edits {
		out.WriteString(src[from:e.start] + e.text)
		from = e.end
	}
	return out.String() + src[from:], true
}

// scan finds the tests of a file; ok is false where its quotes and braces don't add up.
func scan(lang, src string) (out scanned, ok bool) {
	code, ok := blank(lang, src)
	if ok = ok && balanced(code); !ok { // so that each bracket is closed, and nothing is looked for in vain
		return out, false
	}
	out.closes = map[string][]int{}
	var heads []string
	begin := 0 // of the head of the next block
	for i := 0; i < len(code); i++ {
		if end := testAt(lang, code, i); end > i {
			start := withComments(src, i)
			out.tests = append(out.tests, item{strings.Join(heads, "\x00"), start, end, src[start:end]})
			i, begin = end-1, end
			continue
		}
		switch code[i] {
		case '{':
			heads = append(heads, strings.Join(strings.Fields(src[begin:i]), " "))
			begin = i + 1
		case '}':
			in := strings.Join(heads, "\x00")
			out.closes[in] = append(out.closes[in], i)
			heads, begin = heads[:len(heads)-1], i+1
		case ';':
			begin = i + 1
		}
	}
	return out, true
}

// withComments goes back over the lines of comments before an item, which are its own.
func withComments(src string, at int) int {
	for {
		line := strings.LastIndexByte(src[:at], '\n') + 1
		if strings.TrimSpace(src[line:at]) != "" || line == 0 {
			return at
		}
		before := strings.LastIndexByte(src[:line-1], '\n') + 1
		if !strings.HasPrefix(strings.TrimSpace(src[before:line]), "//") {
			return at
		}
		at = before
	}
}

// testAt is where the test ends that begins at i; 0 where none does.
func testAt(lang, code string, i int) int {
	if lang == ".rs" {
		return rustAt(code, i)
	}
	word := "unittest"
	if lang == ".zig" {
		word = "test"
	}
	if !strings.HasPrefix(code[i:], word) || i > 0 && (ident(code[i-1]) || code[i-1] == '.') {
		return 0
	}
	rest := code[i+len(word):]
	name := strings.TrimLeft(rest, " \t\r\n")
	if len(name) == len(rest) && !strings.HasPrefix(name, "{") {
		return 0
	}
	if lang == ".zig" {
		name = strings.TrimLeft(strings.TrimLeftFunc(name, func(r rune) bool { return r < 0x80 && ident(byte(r)) }), " \t\r\n")
	}
	if !strings.HasPrefix(name, "{") {
		return 0
	}
	return closed(code, len(code)-len(name))
}
