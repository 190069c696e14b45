package judge

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxPath is the longest path in bytes that may land.
const maxPath = 1000

// HostileName says what is wrong with a path that no builder may create or touch,
// wherever it lies, or "" when the name is fine: names that can't be shown or
// stored faithfully, that read otherwise than they are, or that some file system
// takes for git's own folder.
func HostileName(path string) string {
	switch {
	case path == "":
		return "is empty"
	case len(path) > maxPath:
		return fmt.Sprintf("is longer than %d bytes", maxPath)
	case !utf8.ValidString(path):
		return "is not valid UTF-8"
	}
	for _, r := range path {
		if why := hostileRune(r); why != "" {
			return "contains " + why
		}
	}
	for part := range strings.SplitSeq(path, "/") {
		switch {
		case looksLikeDotGit(part):
			return "has a component that a file system may take for .git"
		case strings.HasSuffix(part, " "):
			return "has a component that ends in a space"
		}
	}
	return ""
}

// hostileRune names the class of a character that may be in no path, or "".
func hostileRune(r rune) string {
	switch {
	case unicode.IsControl(r), r == '\u2028', r == '\u2029':
		return fmt.Sprintf("the control character %U", r)
	case unicode.Is(unicode.Cf, r):
		return fmt.Sprintf("the invisible or direction-changing character %U", r)
	}
	return ""
}

// looksLikeDotGit tells whether a component is .git on a file system that folds
// case, drops trailing dots and spaces, has short names or named streams.
func looksLikeDotGit(part string) bool {
	part, _, _ = strings.Cut(part, ":")
	part = strings.ToLower(strings.TrimRight(part, " ."))
	return part == ".git" || part == "git~1"
}
