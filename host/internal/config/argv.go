package config

import (
	"errors"
	"fmt"
	"strings"
)

// SplitCommand makes an argv of a text as a shell would of plain words and quotes. What
// only a shell can do is refused, since no shell runs it.
func SplitCommand(s string) ([]string, error) {
	var argv []string
	var word strings.Builder
	var quote rune
	in, escaped := false, false
	end := func() {
		if in {
			argv = append(argv, word.String())
		}
		word.Reset()
		in = false
	}
	for _, r := range s {
		switch {
		case escaped:
			if quote == '"' && !strings.ContainsRune("\"\\$`", r) {
				word.WriteByte('\\')
			}
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			escaped, in = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote == '"' && (r == '$' || r == '`'):
			return nil, shellFeature(s, r)
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, in = r, true
		case r == ' ' || r == '\t':
			end()
		case strings.ContainsRune("|&;<>()$`*?[]{}\n", r) || r == '#' && !in || r == '~' && !in:
			return nil, shellFeature(s, r)
		default:
			word.WriteRune(r)
			in = true
		}
	}
	if quote != 0 || escaped {
		return nil, errors.New("ends inside a quote or after a backslash")
	}
	end()
	switch {
	case len(argv) == 0 || argv[0] == "":
		return nil, errors.New("is empty")
	case strings.Contains(argv[0], "="):
		return nil, fmt.Errorf("sets a variable for the program, which only a shell does; write %s", argvForm(append([]string{"env"}, argv...)))
	}
	return argv, nil
}

func shellFeature(s string, r rune) error {
	return fmt.Errorf("holds %q, which only a shell understands, and no shell runs it; write the argv, for example %s", r, argvForm([]string{"sh", "-c", s}))
}

// argvForm is an argv as one writes it in YAML and JSON.
func argvForm(argv []string) string {
	words := make([]string, len(argv))
	for i, w := range argv {
		words[i] = clipQuote(w)
	}
	return "[" + strings.Join(words, ", ") + "]"
}

// testCommand checks a command in either form.
func testCommand(v any) string {
	if s, ok := v.(string); ok {
		if _, err := SplitCommand(s); err != nil {
			return err.Error()
		}
		return oneLine(v)
	}
	list := v.([]*node)
	if len(list) == 0 {
		return "is an empty list; leave the key out to run nothing"
	}
	if s := list[0].text(); s == "" || strings.HasPrefix(s, "-") {
		return "has no program as its first entry"
	}
	return ""
}
