package resultref

import (
	"errors"
	"regexp"
	"strings"
)

// prefix is where results are.
const prefix = "refs/relay/results/"

// maxKey is the longest key.
const maxKey = 100

var keyPattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// ValidKey says why a text is no key. A key is one part of a ref's name that every git and
// every file system takes.
func ValidKey(key string) error {
	switch {
	case len(key) > maxKey:
		return errors.New("it is longer than 100 characters")
	case !keyPattern.MatchString(key):
		return errors.New("a key has letters, digits, dots, dashes and underscores, and begins with a letter or a digit")
	case strings.Contains(key, "..") || strings.HasSuffix(key, ".") || strings.HasSuffix(strings.ToLower(key), ".lock"):
		return errors.New("git takes no name with .. in it, or a dot or .lock at its end")
	}
	return nil
}

// Ref is where the result of a key is.
func Ref(key string) string { return prefix + key }
