package change

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/judge"
)

// busy is what the operator's git has to end before a change lands on the branch, as a clause
// after "once"; "" is nothing. A commit that comes in between would be lost to what he does, or
// have git refuse it.
func (e Env) busy(branch string) string {
	lock := filepath.Join(e.Git.GitDir, "index.lock") // a git that writes files has it
	switch {
	case there(lock):
		return strconv.Quote(lock) + " is gone; if no git is at work here, type `rm " + diag.Word(lock) + "`"
	case e.rebasing(branch):
		return fmt.Sprintf("the rebase of the branch %q has ended", branch)
	case e.editing():
		return "the message of your commit is written"
	}
	return ""
}

// rebasing reports whether git is about to move the branch: it remembers where that was when the
// rebase began, and can't end it where it has moved since.
func (e Env) rebasing(branch string) bool {
	for _, dir := range []string{"rebase-merge", "rebase-apply"} {
		name, err := judge.ReadFile(filepath.Join(e.Git.GitDir, dir, "head-name"), 64<<10)
		if err == nil && strings.TrimSpace(string(name)) == "refs/heads/"+branch {
			return true
		}
	}
	return false
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
