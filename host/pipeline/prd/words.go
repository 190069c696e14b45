package prd

import (
	"fmt"
	"strings"
)

// Split makes an argv of one string: words at white space, single and double quotes,
// and a backslash before a quote, a space or a backslash. Whatever only a shell could
// carry out is an error that says how to write it as a list.
func Split(s string) ([]string, error) {
	var argv []string
	var word strings.Builder
	var quote byte
	in := false
	end := func() {
		if in {
			argv = append(argv, word.String())
		}
		word.Reset()
		in = false
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == 0:
			return nil, fmt.Errorf("holds a NUL byte")
		case quote == '\'':
			if c == quote {
				quote = 0
			} else {
				word.WriteByte(c)
			}
		case c == '\\' && i+1 < len(s) && strings.IndexByte(`"'\ `, s[i+1]) >= 0:
			i++
			in = true
			word.WriteByte(s[i])
		case strings.IndexByte("$`", c) >= 0:
			return nil, shellError(s, string(c))
		case quote == '"':
			if c == quote {
				quote = 0
			} else {
				word.WriteByte(c)
			}
		case c == '\'' || c == '"':
			quote, in = c, true
		case c == ' ' || c == '\t':
			end()
		case strings.IndexByte("|&;<>()*?[]{}#~!\n\r", c) >= 0 && (c != '~' && c != '#' || !in):
			return nil, shellError(s, string(c))
		default:
			in = true
			word.WriteByte(c)
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("the quote %c is not closed", quote)
	}
	end()
	if len(argv) > 0 && (argv[0] == "" || strings.Contains(argv[0], "=")) {
		return nil, shellError(s, argv[0])
	}
	return argv, nil
}

func shellError(s, what string) error {
	if strings.Contains(s, "&&") {
		return fmt.Errorf("%q needs a shell, and none is used: put the steps into a script and name it", "&&")
	}
	return fmt.Errorf(`%q needs a shell, and none is used: quote it, or write the command as a list: ["sh", "-c", …]`, what)
}
