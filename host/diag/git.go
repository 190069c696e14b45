package diag

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/git"
)

// Git says a failing call of git in words. What git itself said is the Why, but where it
// speaks of its own insides and a plain word says more.
func Git(err error) *Error {
	f := Wrap(err, judge.BlockedRepository, "git can't work with this repository", "`git status` shows git's own words")
	var g *git.Error
	if !errors.As(err, &g) {
		return f
	}
	switch g.Kind {
	case git.Missing:
		f.What, f.Fix = "git is not installed", "install git, then `git --version`"
	case git.Inside:
		f.What, f.Fix = "relay starts no git of the repository itself", "`command -v git` shows it: call relay in a repository that does not contain it"
	case git.NotRepository:
		f.What, f.Fix = "not a git repository", "`git init` here, or `cd` to a repository, or name one with `-C DIR`"
		if strings.Contains(g.Stderr, "any of the parent directories") {
			f.Why = "neither this folder nor one above it has a .git"
		}
	case git.Bare:
		dir := g.Dir
		if abs, err := filepath.Abs(dir); err == nil {
			dir = abs
		}
		f.What, f.Why = "this is a bare repository", fmt.Sprintf("%q", dir)+" has no work tree, and relay works on one"
		f.Fix = "`git clone " + Word(dir) + "` in another folder, and relay in the clone"
	case git.NoCommits:
		f.What, f.Fix = "this repository has no commit yet", "`git add -A`, then `git commit --allow-empty -m \"first commit\"`"
		f.Why = "relay starts from a commit, and what it lands becomes the next one"
	case git.DubiousOwner:
		f.What, f.Fix = "this repository belongs to someone else", "`git config --global --add safe.directory "+Word(g.Dir)+"` if you trust it"
	case git.Elsewhere:
		f.What, f.Why = "git's work tree is another folder", g.Stderr+", and relay was called in "+g.Dir
		f.Fix = "`git config --show-origin core.worktree` shows where that is set, `git config --unset core.worktree` takes it away"
	case git.BrokenConfig:
		f.What, f.Fix = "git can't read its configuration", "`git config --list` shows the broken line"
	}
	return f
}

// Dirty says that these paths of the work tree differ from HEAD.
func Dirty(paths []string) *Error {
	why := fmt.Sprintf("%q differs from HEAD", paths[0])
	if n := len(paths) - 1; n > 0 {
		why = fmt.Sprintf("%q and %d more differ from HEAD", paths[0], n)
	}
	f := New(judge.BlockedDirtyWorktree, "the work tree has changes that are not committed", why, "`git status`, then commit them or `git stash -u`")
	if slices.ContainsFunc(paths, func(p string) bool { return !strings.HasSuffix(p, "/") }) {
		return f
	}
	// Git ends the names of other repositories alone with a slash, and stashes none of them.
	f.What, f.Why = "the work tree has a repository of its own in it", fmt.Sprintf("%q is not a submodule, and git does not ignore it", paths[0])
	f.Fix = "`echo " + Word("/"+paths[0]) + " >> \"$(git rev-parse --git-path info/exclude)\"`, or move it elsewhere"
	return f
}
