package inline

import (
	"strings"
	"unicode/utf8"
)

func ident(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= 0x80
}

// skip goes over space.
func skip(code string, i int) int { return len(code) - len(strings.TrimLeft(code[i:], " \t\r\n")) }

// closed is behind the bracket that closes the one at i; 0 where none does.
func closed(code string, i int) int {
	end, _ := brackets(code, i)
	return end
}

// balanced reports whether all brackets are closed, each by its own.
func balanced(code string) bool {
	for i := 0; i < len(code); i++ {
		if !strings.ContainsRune("()[]{}", rune(code[i])) {
			continue
		}
		end, ok := brackets(code, i)
		if !ok {
			return false
		}
		i = end - 1
	}
	return true
}

func brackets(code string, i int) (end int, ok bool) {
	var open []byte
	for ; i < len(code); i++ {
		switch b := code[i]; b {
		case '(':
			open = append(open, ')')
		case '[':
			open = append(open, ']')
		case '{':
			open = append(open, '}')
		case ')', ']', '}':
			if len(open) == 0 || open[len(open)-1] != b {
				return 0, false
			}
			if open = open[:len(open)-1]; len(open) == 0 {
				return i + 1, true
			}
		}
	}
	return 0, false
}

// blank is a source of the same length with spaces for its comments, texts and characters;
// ok is false where one of them has no end.
func blank(lang, src string) (code string, ok bool) {
	out := []byte(src)
	for i := 0; i < len(src); {
		n := dead(lang, src, i)
		if n < 0 {
			return "", false
		}
		for j := i; j < i+n; j++ {
			if out[j] != '\n' {
				out[j] = ' '
			}
		}
		i += max(n, 1)
	}
	return string(out), true
}

// dead is the length of the comment, text or character that begins at i; 0 where none
// does, -1 where it has no end.
func dead(lang, src string, i int) int {
	rest := src[i:]
	switch {
	case strings.HasPrefix(rest, "//"), lang == ".zig" && strings.HasPrefix(rest, `\\`):
		line, _, _ := strings.Cut(rest, "\n")
		return len(line)
	case lang != ".zig" && strings.HasPrefix(rest, "/*"):
		return comment(rest, "/*", "*/", lang == ".rs")
	case lang == ".d" && strings.HasPrefix(rest, "/+"):
		return comment(rest, "/+", "+/", true)
	case lang == ".d" && rest[0] == '`':
		return to(rest, 1, "`")
	case lang == ".d" && rest[0] == 'q' && len(rest) > 1 && rest[1] == '"':
		return -1 // delimited texts
	case lang != ".zig" && rest[0] == 'r' && raw(src, i):
		marks := len(rest) - 1 - len(strings.TrimLeft(rest[1:], "#"))
		if !strings.HasPrefix(rest[1+marks:], `"`) || marks > 0 && lang == ".d" {
			return 0
		}
		return to(rest, marks+2, `"`+strings.Repeat("#", marks))
	case rest[0] == '"':
		return quoted(rest, '"')
	case rest[0] == '\'':
		if _, n := utf8.DecodeRuneInString(rest[1:]); lang == ".rs" && !strings.HasPrefix(rest[1:], `\`) && !strings.HasPrefix(rest[1+n:], "'") {
			return 0 // a lifetime
		}
		return quoted(rest, '\'')
	}
	return 0
}

// raw reports whether the r at i can begin a raw text: r, br or cr, and no end of a name.
func raw(src string, i int) bool {
	if i > 0 && (src[i-1] == 'b' || src[i-1] == 'c') {
		i--
	}
	return i == 0 || !ident(src[i-1])
}

func to(rest string, from int, end string) int {
	if at := strings.Index(rest[from:], end); at >= 0 {
		return from + at + len(end)
	}
	return -1
}

func quoted(rest string, quote byte) int {
	for i := 1; i < len(rest); i++ {
		switch rest[i] {
		case '\\':
			i++
		case quote:
			return i + 1
		}
	}
	return -1
}

func comment(rest, open, end string, nested bool) int {
	depth := 1
	for i := len(open); i < len(rest); i++ {
		switch {
		case strings.HasPrefix(rest[i:], end):
			if depth--; depth == 0 {
				return i + len(end)
			}
			i++
		case nested && strings.HasPrefix(rest[i:], open):
			depth++
			i++
		}
	}
	return -1
}
