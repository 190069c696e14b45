package git

import (
	"errors"
	"os/exec"
	"strings"
)

// ErrorKind is the class of a failing call, for the text the user sees.
type ErrorKind string

// The classes.
const (
	Failed        ErrorKind = "failed"         // anything else
	Missing       ErrorKind = "missing"        // no git program
	Inside        ErrorKind = "inside"         // the only git program lies in the work tree
	NotRepository ErrorKind = "not-repository" // not in a work tree
	Bare          ErrorKind = "bare"           // no work tree
	NoCommits     ErrorKind = "no-commits"     // HEAD names no commit
	DubiousOwner  ErrorKind = "dubious-owner"  // someone else owns it
	BrokenConfig  ErrorKind = "broken-config"  // a config file can't be read
	OwnProgram    ErrorKind = "own-program"    // a remote would be reached by a program of the work tree
	Elsewhere     ErrorKind = "elsewhere"      // core.worktree leads to another folder
)

// Error is a failed call of git.
type Error struct {
	Kind ErrorKind
	Dir  string
	Args []string
	// Exit is git's exit status; -1 when it did not run or was ended.
	Exit int
	// Stderr is what git said, at most 4 KiB.
	Stderr string
	// Setting is what names the program, for OwnProgram.
	Setting string
	Err     error
}

// Error gives what is known on one line.
func (e *Error) Error() string {
	s := "git"
	args := e.Args
	for len(args) > 2 && args[0] != "" && args[0][0] == '-' { // a setting
		args = args[2:]
	}
	if len(args) > 0 {
		s += " " + args[0]
	}
	if e.Dir != "" {
		s += " in " + e.Dir
	}
	s += ": "
	if e.Stderr == "" && e.Err != nil {
		return s + e.Err.Error()
	}
	return s + strings.ReplaceAll(e.Stderr, "\n", "; ")
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// classify reads what git said; the calls run under LC_ALL=C, so the text is fixed.
func (e *Error) classify() ErrorKind {
	if errors.Is(e.Err, exec.ErrNotFound) {
		return Missing
	}
	if e.Exit != 128 {
		return Failed
	}
	for _, sign := range []struct {
		text string
		kind ErrorKind
	}{
		{"detected dubious ownership", DubiousOwner},
		{"bad config", BrokenConfig},
		{"bad numeric config value", BrokenConfig},
		{"bad boolean config value", BrokenConfig},
		{"unable to access", BrokenConfig}, // a config file without read permission
		{"not a git repository", NotRepository},
		{"invalid gitfile format", NotRepository},
		{"must be run in a work tree", NotRepository},
		{"cannot change to", NotRepository},
		{"does not have any commits yet", NoCommits},
	} {
		if strings.Contains(e.Stderr, sign.text) {
			return sign.kind
		}
	}
	return Failed
}
