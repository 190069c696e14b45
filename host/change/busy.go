package change

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/paxiom/relay/judge"
)

// AtWork is what the operator's git has to end before anything lands on the branch ("" is a detached
// HEAD), as a clause after "once"; "" is nothing. A commit that comes in between would be lost to
// what he does, or have git refuse it. An editor is waited for no longer than longestMoving.
func (e Env) AtWork(branch string, waited time.Duration) string {
	lock := filepath.Join(e.Git.GitDir, "index.lock") // a git that writes files has it
	switch {
	case there(lock):
		return strconv.Quote(lock) + " is gone, which a git that was killed leaves for you to remove"
	case e.rebasing(branch):
		return fmt.Sprintf("the rebase of the branch %q has ended", branch)
	case branch == "" && e.passing() != "":
		return "your git " + e.passing() + " has ended"
	case waited <= longestMoving && e.editing():
		return "the message of your commit is written"
	}
	return ""
}

// rebasing reports whether git is about to move the branch, in any work tree: it remembers where
// that was when the rebase began, and can't end it where it has moved since.
func (e Env) rebasing(branch string) bool {
	dirs := []string{e.Git.CommonDir}
	beside, _ := os.ReadDir(filepath.Join(e.Git.CommonDir, "worktrees"))
	for _, tree := range beside {
		dirs = append(dirs, filepath.Join(e.Git.CommonDir, "worktrees", tree.Name()))
	}
	return slices.ContainsFunc(dirs, func(dir string) bool {
		return slices.ContainsFunc([]string{"rebase-merge", "rebase-apply"}, func(kind string) bool {
			name, err := judge.ReadFile(filepath.Join(dir, kind, "head-name"), 64<<10)
			return err == nil && strings.TrimSpace(string(name)) == "refs/heads/"+branch
		})
	})
}

// passing is what keeps HEAD detached for a while: when that ends or is given up, what landed on
// it is on no branch. "" is nothing.
func (e Env) passing() string {
	for _, of := range [][2]string{{"rebase-merge", "rebase"}, {"rebase-apply", "rebase"}, {"BISECT_LOG", "bisect"}} {
		if there(filepath.Join(e.Git.GitDir, of[0])) {
			return of[1]
		}
	}
	return ""
}

// notRebasing refuses to move such a branch.
func (e Env) notRebasing(branch string) error {
	if e.rebasing(branch) {
		return headMoved(fmt.Sprintf("a rebase of the branch %q is under way", branch))
	}
	return nil
}

// editing reports whether an editor has the message of a commit, whose file git names to it: git
// refuses that commit if HEAD has moved by then.
func (e Env) editing() bool {
	dir, err := filepath.EvalSymlinks(e.Git.GitDir)
	if err != nil {
		return false
	}
	messages := []string{filepath.Join(dir, "COMMIT_EDITMSG"), filepath.Join(dir, "MERGE_MSG")}
	programs, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	return slices.ContainsFunc(programs, func(name string) bool {
		line, err := judge.ReadFile(name, 64<<10)
		return err == nil && slices.ContainsFunc(bytes.Split(line, []byte{0}), func(arg []byte) bool {
			return slices.Contains(messages, string(arg))
		})
	})
}
