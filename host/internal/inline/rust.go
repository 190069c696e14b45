package inline

import "strings"

// longest is how much of an attribute is read.
const longest = 4096

// rustAt is where an item of Rust ends whose attributes begin at i and say that only tests
// have it; 0 where there is none. Fields, arms and statements are the code's.
func rustAt(code string, i int) int {
	test := false
	for strings.HasPrefix(code[i:], "#[") {
		end := closed(code[:min(len(code), i+longest)], i+1)
		if end == 0 {
			return 0
		}
		test = test || marksTest(strings.Join(strings.Fields(code[i+2:end-1]), ""))
		i = skip(code, end)
	}
	if !test {
		return 0
	}
	return itemEnd(code, i)
}

// marksTest reports whether an attribute marks a test, or what is compiled for tests alone.
func marksTest(attribute string) bool {
	name, args, _ := strings.Cut(attribute, "(")
	if name == "cfg" {
		for _, word := range strings.FieldsFunc(args, func(r rune) bool { return strings.ContainsRune("(),=", r) }) {
			if word == "test" {
				return !strings.Contains(args, "not(")
			}
		}
		return false
	}
	name = name[strings.LastIndexByte(name, ':')+1:]
	return strings.Contains(name, "test") && !strings.Contains(name, "=") || name == "bench" || name == "quickcheck"
}

// itemEnd is where the item ends whose first word is at i; 0 where it is none.
func itemEnd(code string, i int) int {
	for {
		i = skip(code, i)
		n := i
		for n < len(code) && ident(code[n]) {
			n++
		}
		word, after := code[i:n], skip(code, n)
		switch word {
		case "pub":
			if i = after; strings.HasPrefix(code[i:], "(") {
				if i = closed(code, i); i == 0 {
					return 0
				}
			}
			continue
		case "unsafe", "async", "default":
			i = after
			continue
		case "const", "extern":
			if next, _, _ := strings.Cut(code[after:], " "); next == "fn" || next == "unsafe" || next == "async" || next == "extern" {
				i = after
				continue
			}
			if word == "extern" && strings.HasPrefix(code[after:], "{") {
				return closed(code, after)
			}
			return until(code, i, false)
		case "use", "static", "type":
			return until(code, i, false)
		case "fn", "mod", "impl", "struct", "enum", "union", "trait", "macro_rules":
			return until(code, i, true)
		}
		if word != "" && strings.HasPrefix(code[after:], "!") {
			return until(code, i, strings.HasPrefix(code[skip(code, after+1):], "{"))
		}
		return 0
	}
}

// until is behind the next semicolon outside of brackets, or the next block.
func until(code string, i int, block bool) int {
	for ; i < len(code); i++ {
		switch code[i] {
		case ';':
			return i + 1
		case '(', '[', '{':
			end := closed(code, i)
			if end == 0 || block && code[i] == '{' {
				return end
			}
			i = end - 1
		case ')', ']', '}':
			return 0
		}
	}
	return 0
}
