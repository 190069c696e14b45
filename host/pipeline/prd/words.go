package prd

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
)

// Split makes an argv of one string: words at white space, single and double quotes,
// and a backslash before a quote, a space or a backslash. && between two commands is a word
// of its own: see [Command.Steps]. Whatever else only a shell could carry out is an error
// that says how to write it as a list.
func Split(s string) ([]string, error) {
	var argv []string
	var word strings.Builder
	var quote byte
	in, quoted, begins := false, false, true // begins: a program comes next
	end := func() (err error) {
		if in {
			if w := word.String(); w == and && quoted {
				err = errors.New(`"&&" as an argument can't be told from the one between two commands: put the command into a script and name it`)
			} else if begins && (w == "" || inShell[w] != "" || strings.Contains(w, "=")) {
				err = shellError(s, w)
			}
			argv, begins = append(argv, word.String()), false
		}
		word.Reset()
		in, quoted = false, false
		return err
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
			quote, in, quoted = c, true, true
		case c == ' ' || c == '\t':
			if err := end(); err != nil {
				return nil, err
			}
		case strings.HasPrefix(s[i:], and) && (len(argv) > 0 || in):
			if err := end(); err != nil {
				return nil, err
			}
			if begins {
				return nil, shellError(s, and)
			}
			argv, begins, i = append(argv, and), true, i+1
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
	if err := end(); err != nil {
		return nil, err
	}
	if len(argv) > 0 && begins {
		return nil, shellError(s, and)
	}
	return argv, nil
}

// inShell are the words that only a shell carries out, with one that does.
var inShell = map[string]string{"cd": "sh", ".": "sh", "export": "sh", "exit": "sh", "set": "sh", "unset": "sh", "eval": "sh", "exec": "sh", "ulimit": "sh", "trap": "sh",
	"source": "bash", "pushd": "bash", "shopt": "bash"}

func shellError(s, what string) error {
	return fmt.Errorf(`%q needs a shell, and none is used (only && between commands works): quote it, or write the command as a list: [%q, "-c", %q]`, what, cmp.Or(inShell[what], "sh"), s)
}
