package judge

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// ValidGlob says why a glob of a task or of the configuration is refused, or nil.
//
// The language is small so that nobody has to guess what a fence means: literals,
// "*" (any run of bytes inside one component), "?" (one character), and "**" as a
// whole component (any number of components, none included). Names that begin with
// a dot are ordinary, letter case counts, and a pattern is relative to the
// repository's root. Classes, braces, negation and escapes are refused.
func ValidGlob(glob string) error {
	switch {
	case glob == "":
		return errors.New("is empty")
	case len(glob) > 1000:
		return errors.New("is longer than 1000 bytes")
	case !utf8.ValidString(glob):
		return errors.New("is not valid UTF-8")
	case strings.HasPrefix(glob, "/"):
		return errors.New(`begins with "/"; patterns are relative to the repository's root`)
	case strings.HasPrefix(glob, "~"):
		return errors.New(`begins with "~"; patterns are relative to the repository's root`)
	}
	for _, r := range glob {
		if strings.ContainsRune(`!{}[]()\`, r) {
			return fmt.Errorf(`contains %q; only literals, "*", "?" and "**" as a whole component are understood`, r)
		}
		if why := hostileRune(r); why != "" {
			return fmt.Errorf("contains %s", why)
		}
	}
	for part := range strings.SplitSeq(glob, "/") {
		switch {
		case part == "":
			return errors.New(`has an empty component ("//" or a "/" at the end); write "dir/**" for all below dir`)
		case part == "." || part == "..":
			return fmt.Errorf("has the component %q", part)
		case part != "**" && strings.Contains(part, "**"):
			return fmt.Errorf(`has "**" inside the component %q; it must be a whole component`, part)
		}
	}
	return nil
}

// Match tells whether any of the globs matches the whole path. Of a glob that
// [ValidGlob] refuses, all but "*", "?" and "**" is taken literally.
//
// Time is bounded by the product of the lengths of glob and path; nothing
// backtracks across components.
func Match(globs []string, path string) bool {
	_, ok := compile(globs).first(path)
	return ok
}

// Leads tells whether any of the globs matches the path and begins with a name: "src/**"
// leads to src/a, and "**" means everything without leading anywhere.
func Leads(globs []string, path string) bool {
	_, ok := leading(globs).first(path)
	return ok
}

// leading is compile for the same.
func leading(globs []string) globSet {
	var lead []string
	for _, g := range globs {
		if first, _, _ := strings.Cut(g, "/"); !strings.ContainsAny(first, "*?") {
			lead = append(lead, g)
		}
	}
	return compile(lead)
}

// globSet is a list of globs, split once.
type globSet struct {
	globs []string
	parts [][]string
}

func compile(globs []string) globSet {
	s := globSet{globs: globs, parts: make([][]string, len(globs))}
	for i, g := range globs {
		s.parts[i] = strings.Split(g, "/")
	}
	return s
}

// Forbids is Match for globs of what is forbidden: one that names a folder also means
// what lies in it.
func Forbids(globs []string, path string) bool {
	_, ok := forbidding(globs).first(path)
	return ok
}

// forbidding is compile for the same. Only a literal last component is a name: of
// "**/*token*" the folder "tokenizer" is not meant.
func forbidding(globs []string) globSet {
	s := compile(globs)
	for i, parts := range s.parts {
		if !strings.ContainsAny(parts[len(parts)-1], "*?") {
			s.parts[i] = append(parts, "**")
		}
	}
	return s
}

// first gives the first glob that matches path.
func (s globSet) first(path string) (string, bool) {
	if len(s.globs) == 0 {
		return "", false
	}
	names := strings.Split(path, "/")
	reached := make([]bool, len(names)+1)
	for i, parts := range s.parts {
		if matchComponents(parts, names, reached) {
			return s.globs[i], true
		}
	}
	return "", false
}

// matchComponents runs the glob as a set of states: reached[i] says that what was
// read of the glob so far can have consumed the first i names.
func matchComponents(glob, names []string, reached []bool) bool {
	clear(reached)
	reached[0] = true
	for _, part := range glob {
		if part == "**" {
			for i := 1; i < len(reached); i++ {
				reached[i] = reached[i] || reached[i-1]
			}
			continue
		}
		for i := len(names); i > 0; i-- {
			reached[i] = reached[i-1] && matchComponent(part, names[i-1])
		}
		reached[0] = false
	}
	return reached[len(names)]
}

// matchComponent matches "*" and "?" inside one component. Going back to the last
// star alone is enough: an earlier star could only take what the last one can.
func matchComponent(glob, name string) bool {
	g, n := 0, 0
	star, taken := -1, 0
	for n < len(name) {
		switch {
		case g < len(glob) && glob[g] == '*':
			star, taken = g, n
			g++
		case g < len(glob) && glob[g] == '?':
			_, size := utf8.DecodeRuneInString(name[n:])
			g, n = g+1, n+size
		case g < len(glob) && glob[g] == name[n]:
			g, n = g+1, n+1
		case star >= 0:
			// By whole characters, or "?" would match a part of one.
			_, size := utf8.DecodeRuneInString(name[taken:])
			taken += size
			g, n = star+1, taken
		default:
			return false
		}
	}
	return strings.Trim(glob[g:], "*") == ""
}
