package judge

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"
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
	if before, rest, ok := strings.Cut(glob, "{"); ok {
		if list, after, ok := strings.Cut(rest, "}"); ok && strings.Contains(list, ",") && !strings.ContainsAny(list+after, "{}") {
			var each []string
			for alternative := range strings.SplitSeq(list, ",") {
				each = append(each, fmt.Sprintf("%q", before+alternative+after))
			}
			return errors.New("has alternatives in braces; write one pattern for each: " + strings.Join(each, ", "))
		}
	}
	for _, r := range glob {
		if strings.ContainsRune(`!{}[]()\`, r) {
			return fmt.Errorf(`contains %q; only literals, "*", "?" and "**" as a whole component are understood`, r)
		}
	}
	if why := hostileText(glob); why != "" {
		return fmt.Errorf("contains %s", why)
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

// Match reports whether any of the globs matches the whole path. Of a glob that
// [ValidGlob] refuses, all but "*", "?" and "**" is taken literally.
func Match(globs []string, path string) bool {
	_, ok := compile(globs).first(path)
	return ok
}

// Leads reports whether any of the globs matches the path and begins with a name: "src/**"
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

// globSet is a list of globs, with the patterns that the matcher reads.
type globSet struct {
	globs    []string
	patterns []pattern
	fold     []pattern // patterns as a file system may fold them; nil where letters count
}

func compile(globs []string) globSet {
	s := globSet{globs: globs, patterns: make([]pattern, len(globs))}
	for i, g := range globs {
		s.patterns[i] = newPattern(g)
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
	for i, g := range globs {
		if !strings.ContainsAny(g[strings.LastIndexByte(g, '/')+1:], "*?") {
			s.patterns[i] = newPattern(g + "/**")
		}
	}
	return s
}

// folding is compile for globs that mean a path in every spelling that a file system
// may take for the same.
func folding(globs []string) globSet {
	s := compile(globs)
	for _, g := range globs {
		s.fold = append(s.fold, newPattern(foldLetters(g)))
	}
	return s
}

// first gives the first glob that matches path.
func (s globSet) first(path string) (string, bool) {
	if i := s.index(path); i >= 0 {
		return s.globs[i], true
	}
	return "", false
}

// index gives the place of the first glob that matches path, or -1.
func (s globSet) index(path string) int {
	if i := firstOf(s.patterns, path); i >= 0 || len(s.fold) == 0 {
		return i
	}
	return firstOf(s.fold, foldSpelling(path))
}

func firstOf(patterns []pattern, path string) int {
	if path == "" {
		return -1
	}
	path = runes(path)
	return slices.IndexFunc(patterns, func(p pattern) bool { return p.matches(path) })
}

// pattern is a glob as the matcher reads it.
type pattern struct {
	text string
	// folder is text without the "/**" at its end, or "". What a glob says of all that lies
	// in a folder, it says of the folder; the matcher does not where a "*" comes before.
	folder string
	// literal is a part that a path must have to match: most paths have not, and looking
	// for it is cheap.
	literal string
}

func newPattern(glob string) pattern {
	p := pattern{text: runes(glob)}
	for rest := p.text; rest != ""; {
		end := strings.IndexAny(rest, "*?/")
		if end < 0 {
			end = len(rest)
		}
		if end > len(p.literal) {
			p.literal = rest[:end]
		}
		rest = rest[min(end+1, len(rest)):]
	}
	// One "**" is as good as two in a row, of which the matcher takes the last for something.
	if strings.Contains(p.text, "**/**") {
		parts := strings.Split(p.text, "/")
		p.text = strings.Join(slices.CompactFunc(parts, func(a, b string) bool { return a == "**" && b == "**" }), "/")
	}
	if strings.ContainsAny(p.text, `\[{`) {
		p.text = literally.Replace(p.text)
	}
	if folder, ok := strings.CutSuffix(p.text, "/**"); ok {
		p.folder = folder
	}
	return p
}

// literally quotes what means something to the matcher and nothing in a glob.
var literally = strings.NewReplacer(`\`, `\\`, "[", `\[`, "{", `\{`)

func (p *pattern) matches(path string) bool {
	return strings.Contains(path, p.literal) &&
		(p.folder != "" && doublestar.MatchUnvalidated(p.folder, path) || doublestar.MatchUnvalidated(p.text, path))
}

// runes puts a NUL, which no path and no valid glob has, for each byte that is no UTF-8:
// the matcher would take it for the character U+FFFD.
func runes(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	var out strings.Builder
	for i, r := range s {
		if r == utf8.RuneError && !strings.HasPrefix(s[i:], string(r)) {
			r = 0
		}
		out.WriteRune(r)
	}
	return out.String()
}

// Covers reports whether every path that glob matches is matched by one of globs. It errs
// on the safe side: where several globs cover it only together, or in another way of
// writing, it says false.
func Covers(globs []string, glob string) bool {
	g := splitGlob(glob)
	return slices.ContainsFunc(globs, func(by string) bool { return includes(splitGlob(by), g, isDeep, coversName) })
}

// Meets reports whether some path matches both glob and one of globs.
func Meets(globs []string, glob string) bool {
	g := splitGlob(glob)
	return slices.ContainsFunc(globs, func(by string) bool { return meets(splitGlob(by), g, isDeep, meetsName) })
}

// splitGlob gives the components. "**/*" is another way to write "**".
func splitGlob(glob string) []string {
	if glob == "**/*" {
		glob = "**"
	}
	return strings.Split(glob, "/")
}

func isDeep(part string) bool { return part == "**" }

func isStar(r rune) bool { return r == '*' }

func coversName(by, part string) bool {
	return includes([]rune(by), []rune(part), isStar, func(by, r rune) bool { return by == r || by == '?' })
}

func meetsName(a, b string) bool {
	return meets([]rune(a), []rune(b), isStar, func(a, b rune) bool { return a == b || a == '?' || b == '?' })
}

// includes reports that the pattern by matches all that g matches. many are symbols for
// any number of things, none included; one compares two others. It follows where by must
// be after each symbol of g, whatever that stood for.
func includes[T any](by, g []T, many func(T) bool, one func(by, g T) bool) bool {
	at := make([]bool, len(by)+1)
	at[0] = true
	closure := func() {
		for i := range by {
			at[i+1] = at[i+1] || at[i] && many(by[i])
		}
	}
	for _, sym := range g {
		closure()
		next := make([]bool, len(by)+1)
		for i := range by {
			switch {
			case many(by[i]):
				next[i] = next[i] || at[i]
			case !many(sym) && at[i] && one(by[i], sym):
				next[i+1] = true
			}
		}
		at = next
	}
	closure()
	return at[len(by)]
}

// meets reports that some sequence of things matches both patterns.
func meets[T any](a, b []T, many func(T) bool, one func(a, b T) bool) bool {
	ok := make([][]bool, len(a)+1) // ok[i][j]: what is left from i and j on can meet
	for i := len(a); i >= 0; i-- {
		ok[i] = make([]bool, len(b)+1)
		for j := len(b); j >= 0; j-- {
			anyA, anyB := i < len(a) && many(a[i]), j < len(b) && many(b[j])
			ok[i][j] = i == len(a) && j == len(b) ||
				anyA && (ok[i+1][j] || j < len(b) && ok[i][j+1]) ||
				anyB && (ok[i][j+1] || i < len(a) && ok[i+1][j]) ||
				i < len(a) && j < len(b) && !anyA && !anyB && one(a[i], b[j]) && ok[i+1][j+1]
		}
	}
	return ok[0][0]
}
