package judge

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxPath is the longest path in bytes that may land.
const maxPath = 1000

// HostileName says what is wrong with a path that no builder may create, wherever it lies,
// or "" when the name is fine: names that can't be shown or stored faithfully, that read
// otherwise than they are, or that some file system takes for git's own folder.
func HostileName(path string) string {
	if why := UnsafeName(path); why != "" {
		return why
	}
	if !utf8.ValidString(path) {
		return "is not valid UTF-8"
	}
	if why := hostileText(path); why != "" {
		return "contains " + why
	}
	for part := range strings.SplitSeq(path, "/") {
		switch {
		case strings.HasSuffix(part, " "):
			return "has a component that ends in a space"
		case shortName.MatchString(part):
			return "has a component that a file system may take for the short name of another file"
		}
	}
	return ""
}

// shortName is the form in which FAT, NTFS and network drives name a file a second time, in
// eight letters and three: CLAUDE~1 is .claude there, and PACKAG~1.JSO package.json.
var shortName = regexp.MustCompile(`^[^~.]{1,6}~[0-9]{1,6}(\.[^.]{0,3})?$`)

// UnsafeName says what is wrong with a path that even a repository which has it already may
// not have touched, or "": what can't be stored, and what some file system takes for git's
// own folder.
func UnsafeName(path string) string {
	switch {
	case path == "":
		return "is empty"
	case len(path) > maxPath:
		return fmt.Sprintf("is longer than %d bytes", maxPath)
	}
	for part := range strings.SplitSeq(path, "/") {
		if looksLikeDotGit(part) {
			return "has a component that a file system may take for .git"
		}
	}
	return ""
}

// hostileText names the first character that may not be where it is in a path, or "".
func hostileText(s string) string {
	var before rune
	for _, r := range s {
		if why := hostileRune(before, r); why != "" {
			return why
		}
		before = r
	}
	return ""
}

// hostileRune names the class of a character that may not follow before in a path, or "".
func hostileRune(before, r rune) string {
	switch {
	case unicode.IsControl(r), r == '\u2028', r == '\u2029':
		return fmt.Sprintf("the control character %U", r)
	case unicode.Is(unicode.Cf, r), unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r), unicode.Is(unicode.Variation_Selector, r) && !forEmoji(before, r):
		return fmt.Sprintf("the invisible or direction-changing character %U", r)
	}
	return ""
}

// forEmoji reports whether r is one of the two variation selectors by which people write
// emoji, in names of files too, and follows a sign that it can stand for. After a letter
// it would be a second spelling of a name: file systems that fold case leave it out.
func forEmoji(before, r rune) bool {
	return (r == '\ufe0e' || r == '\ufe0f') && before > unicode.MaxASCII && !unicode.IsLetter(before)
}

// looksLikeDotGit reports whether a component is .git on a file system that folds
// case, drops trailing dots and spaces, has short names or named streams, or that
// takes a backslash for the end of a component. Git refuses them all in its index.
func looksLikeDotGit(part string) bool {
	for name := range strings.SplitSeq(part, `\`) {
		if folded := foldName(name); folded == ".git" || folded == "git~1" {
			return true
		}
	}
	return false
}

// looksLikeGitmodules tells the same of .gitmodules, which git's index does not hold as
// a symbolic link.
func looksLikeGitmodules(part string) bool {
	name := foldName(part)
	return name == ".gitmodules" || name == "gi7eba~1" || len(name) == len("gitmod~1") && strings.HasPrefix(name, "gitmod~")
}

// foldName is what such a file system makes of a name.
func foldName(name string) string {
	name, _, _ = strings.Cut(name, ":")
	return foldLetters(strings.TrimRight(name, " ."))
}

// foldLetters makes one spelling of all that differ by case, as Unicode folds it: the
// long s is an s, the Kelvin sign a k, and a ligature its letters.
func foldLetters(s string) string {
	return ligatures.Replace(strings.Map(foldRune, s))
}

// ligatures are the signs whose full folding is plain letters.
var ligatures = strings.NewReplacer("\u00df", "ss", "\u1e9e", "ss", "\ufb00", "ff", "\ufb01", "fi", "\ufb02", "fl", "\ufb03", "ffi", "\ufb04", "ffl", "\ufb05", "st", "\ufb06", "st")
