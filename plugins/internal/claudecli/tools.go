package claudecli

import (
	"slices"
	"strings"
)

// Tools is a list of tools with what they may do: "Read", "Bash(git log *)".
type Tools []string

// ParseTools reads a list with commas between its entries. A tool that edits files
// may also make them, as in the program itself: Edit brings Write with it.
func ParseTools(list string) Tools {
	var tools Tools
	depth, begin := 0, 0
	take := func(end int) {
		if t := strings.TrimSpace(list[begin:end]); t != "" {
			tools = append(tools, t)
		}
		begin = end + 1
	}
	for i, r := range list {
		switch {
		case r == '(':
			depth++
		case r == ')' && depth > 0:
			depth--
		case r == ',' && depth == 0:
			take(i)
		}
	}
	take(len(list))
	names := tools.Names()
	if slices.Contains(names, "Edit") && !slices.Contains(names, "Write") {
		tools = append(tools, "Write")
	}
	return tools
}

// Names are the tools without what they are limited to, each once.
func (t Tools) Names() []string {
	var names []string
	for _, entry := range t {
		name, _, _ := strings.Cut(entry, "(")
		if name = strings.TrimSpace(name); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
