package judge

import (
	"context"
	"io"
)

// Git calls git on one untouched repository so that nothing configured there or by
// the user runs or writes on the way: no hook, no fsmonitor, no pager, no prompt,
// no network. Filters that the user configured (LFS) do run, since without them a
// clean tree looks dirty. Any failing call is an error, never an empty answer.
type Git struct {
	// Root is the top of the work tree, links resolved.
	Root string
	// GitDir is the git directory of this work tree; CommonDir is where refs and
	// objects are. They differ in a linked worktree.
	GitDir, CommonDir string
	// ObjectFormat is "sha1" or "sha256".
	ObjectFormat string
}

// StatusEntry is one line of git status: index and work tree state, and the path.
type StatusEntry struct {
	Index, Work byte // as in "git status --porcelain": ' ', M, T, A, D, U, ?
	Path        string
}

// GitErrorKind is the class of a failing call, for the text the user sees.
type GitErrorKind string

// The classes.
const (
	GitFailed        GitErrorKind = "failed"         // anything else
	GitMissing       GitErrorKind = "missing"        // no git program
	GitNotRepository GitErrorKind = "not-repository" // not in a work tree
	GitBare          GitErrorKind = "bare"           // no work tree
	GitNoCommits     GitErrorKind = "no-commits"     // HEAD names no commit
	GitDubiousOwner  GitErrorKind = "dubious-owner"  // someone else owns it
	GitBrokenConfig  GitErrorKind = "broken-config"  // a config file can't be read
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
	Err    error
}

// Error gives what is known on one line.
func (e *GitError) Error() string { return "git: " + string(e.Kind) + ": " + e.Stderr }

// Unwrap gives the cause.
func (e *GitError) Unwrap() error { return e.Err }

// OpenGit finds the repository that dir lies in. Errors are *GitError.
func OpenGit(ctx context.Context, dir string) (*Git, error) { return nil, &GitError{Kind: GitFailed} }

// Outside are the git directories that do not lie in Root: what box.Spec.GitDirs needs.
func (g *Git) Outside() []string { return nil }

// Run calls git for reading, with the work tree's root as the current directory.
// stdin may be nil. Errors are *GitError.
func (g *Git) Run(ctx context.Context, stdin io.Reader, args ...string) ([]byte, error) {
	return nil, &GitError{Kind: GitFailed, Args: args}
}

// Write calls git for changing the repository: still no hook and no fsmonitor, but
// locks are taken. env is added last, for example GIT_INDEX_FILE.
func (g *Git) Write(ctx context.Context, env []string, stdin io.Reader, args ...string) ([]byte, error) {
	return nil, &GitError{Kind: GitFailed, Args: args}
}

// Head gives the commit that HEAD names and the branch, "" when detached. An unborn
// branch is a *GitError of kind GitNoCommits.
func (g *Git) Head(ctx context.Context) (commit, branch string, err error) {
	return "", "", &GitError{Kind: GitFailed}
}

// Status gives everything that differs from HEAD: staged, unstaged and untracked,
// submodules included, ignored files not. It is the one call that scans the tree.
func (g *Git) Status(ctx context.Context) ([]StatusEntry, error) {
	return nil, &GitError{Kind: GitFailed}
}

// CheckIgnore says which of the paths (relative to Root) git ignores here. Tracked
// paths are never ignored.
func (g *Git) CheckIgnore(ctx context.Context, paths []string) (map[string]bool, error) {
	return nil, &GitError{Kind: GitFailed}
}
