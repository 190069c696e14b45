package judge

import (
	"errors"
	"os/exec"
	"strings"
)

// GitErrorKind is the class of a failing call, for the text the user sees.
type GitErrorKind string

// The classes.
const (
	GitFailed        GitErrorKind = "failed"         // anything else
	GitMissing       GitErrorKind = "missing"        // no git program
	GitInside        GitErrorKind = "inside"         // the only git program lies in the work tree
	GitNotRepository GitErrorKind = "not-repository" // not in a work tree
	GitBare          GitErrorKind = "bare"           // no work tree
	GitNoCommits     GitErrorKind = "no-commits"     // HEAD names no commit
	GitDubiousOwner  GitErrorKind = "dubious-owner"  // someone else owns it
	GitBrokenConfig  GitErrorKind = "broken-config"  // a config file can't be read
	GitOwnProgram    GitErrorKind = "own-program"    // a remote would be reached by a program of the work tree
	GitElsewhere     GitErrorKind = "elsewhere"      // core.worktree leads to another folder
)

// GitError is a failed call of git.
type GitError struct {
	Kind GitErrorKind
	Dir  string
	Args []string
	// Exit is git's exit status; -1 when it did not run or was ended.
	Exit int
	// Stderr is what git said, at most 4 KiB.
	Stderr string
	// Setting is what names the program, for GitOwnProgram.
	Setting string
	Err     error
}

// Error gives what is known on one line.
func (e *GitError) Error() string {
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
func (e *GitError) Unwrap() error { return e.Err }

// classify reads what git said; the calls run under LC_ALL=C, so the text is fixed.
func (e *GitError) classify() GitErrorKind {
	if errors.Is(e.Err, exec.ErrNotFound) {
		return GitMissing
	}
	if e.Exit != 128 {
		return GitFailed
	}
	for _, sign := range []struct {
		text string
		kind GitErrorKind
	}{
		{"detected dubious ownership", GitDubiousOwner},
		{"bad config", GitBrokenConfig},
		{"bad numeric config value", GitBrokenConfig},
		{"bad boolean config value", GitBrokenConfig},
		{"unable to access", GitBrokenConfig}, // a config file without read permission
		{"not a git repository", GitNotRepository},
		{"invalid gitfile format", GitNotRepository},
		{"must be run in a work tree", GitNotRepository},
		{"cannot change to", GitNotRepository},
		{"does not have any commits yet", GitNoCommits},
	} {
		if strings.Contains(e.Stderr, sign.text) {
			return sign.kind
		}
	}
	return GitFailed
}
