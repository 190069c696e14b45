package diag

import (
	"context"
	"fmt"
	"strings"

	"github.com/paxiom/relay/host/change/fault"
	"github.com/paxiom/relay/judge"
)

// salvage is the advice where what was built could not land.
const salvage = "`relay salvage` has what was built"

// Fault words why a change could not be made, landed or taken back.
func Fault(e *fault.Error) *Error {
	f := &Error{Code: e.Code(), Why: e.Why, Err: e}
	if f.Why == "" && e.Err != nil {
		f.Why = why(e.Err)
	}
	path := Word(e.Path)
	switch e.Kind {
	case fault.InTheWay:
		f.What, f.Fix = fmt.Sprintf("%q could not be written", e.Path), "`git status` shows your own changes; "+salvage
	case fault.Staged:
		f.What, f.Why = "git's index holds changes that are not relay's", fmt.Sprintf("%q is staged", e.Path)
		f.Fix = "`git status` shows what is staged; commit or unstage it"
	case fault.Unread:
		f.What, f.Fix = fmt.Sprintf("%q could not be read, so nothing is written over it", e.Path), "`ls -ld "+path+"` shows it; "+salvage
	case fault.Moved:
		f.What, f.Fix = "the repository moved while the builder ran", "`git log` shows what came in between; "+salvage
	case fault.LookedAway, fault.LookedAwayUndo:
		f.What, f.Fix = fmt.Sprintf("%q can't be committed", e.Path), "`git ls-files -v` shows such files; "+salvage
		f.Why = "git was told to look away from it (skip-worktree, assume-unchanged or a sparse checkout)"
		if e.Kind == fault.LookedAwayUndo {
			f.What = fmt.Sprintf("%q can't be taken back", e.Path)
			f.Fix = "`git ls-files -v` shows such files; `git update-index --no-skip-worktree --no-assume-unchanged -- " + path + "` has it look at this one"
		}
	case fault.Nested:
		f.What, f.Fix = fmt.Sprintf("%q belongs to another repository", e.Path), "`relay run` inside that repository"
		f.Why = fmt.Sprintf("%q has a .git of its own, so it can't be part of this repository's commit", e.In)
	case fault.Secret:
		f.What, f.Why = "the change contains a credential", fmt.Sprintf("%q as git stores it: %s", e.Path, e.Why)
		f.Fix = "`git check-attr -a -- " + path + "` shows what converts it; take the value out of the task"
	case fault.Filter:
		f.What, f.Why = strings.TrimSuffix("a filter of git's failed: "+e.Why, ": "), why(e.Err)
		f.Fix = "`git config --get-regexp '^filter'` shows them; they run in a box, without network"
	case fault.Reverted:
		f.What, f.Fix = "the change could not be written; what had been written was reverted", salvage+"; fix the cause and run again"
	case fault.Ref:
		f.What, f.Fix = fmt.Sprintf("git could not move branch %q", e.Path), salvage+"; `git fsck` looks at the repository"
		if e.Path == "" {
			f.What = "git could not move HEAD"
		}
	case fault.Unsettled:
		f.What, f.Fix = "a change could be neither finished nor reverted", "`relay recover` continues from the journal once the cause is gone"
	case fault.CutOff:
		f.What, f.Why, f.Fix = "run "+e.Path+" was cut off and is not settled yet", "the work tree may hold a part of its change", "`relay recover`"
	case fault.UndoUnrecorded:
		f.What, f.Fix = "the undo could not be written down", "`relay recover` does so once the cause is gone"
	case fault.Busy:
		f.What, f.Why = "a git "+e.Path+" is in progress", "what landed on its HEAD would be on no branch once it ends"
		f.Fix = map[string]string{"rebase": "`git rebase --continue` or `git rebase --abort`", "bisect": "`git bisect reset`"}[e.Path] + ", then again"
	case fault.ReadOnly:
		f.What, f.Fix = fmt.Sprintf("relay may not write %q, where git keeps what it commits", e.Path), "`ls -ld "+path+"`"
	case fault.Date:
		f.What, f.Fix = "git can't read "+e.Path+" of your environment", "`unset "+e.Path+"`, or set it to a date such as 2026-01-31T07:00:00Z"
	case fault.FilterMissing:
		f.What, f.Why = fmt.Sprintf("a program of git's filter %q is missing", e.Why), fmt.Sprintf("%q is not in PATH, and git stores %q through it", e.In, e.Path)
		f.Fix = "install it; `git config --get-regexp '^filter'` shows the filters"
	case fault.Locked:
		f.What, f.Why = "another git holds a lock of this repository", fmt.Sprintf("%q is there", e.Path)
		f.Fix = "`rm " + path + "`, when no git is at work here"
	default:
		f.undo(e)
	}
	return f
}

// undo words what is in the way of taking a change back, or of a branch of what was kept.
func (f *Error) undo(e *fault.Error) {
	switch e.Kind {
	case fault.Dirty:
		d := Dirty(e.Paths)
		f.What, f.Why, f.Fix = d.What, d.Why, d.Fix
	case fault.Ignored:
		f.What, f.Why = fmt.Sprintf("%q is in the way of what would come back", e.Path), "git ignores it, so no commit has it"
		f.Fix = "`git check-ignore -v " + Word(e.Path) + "` says why; move it away"
	case fault.Elsewhere:
		f.What, f.Why = "the change can't be undone from here", fmt.Sprintf("%.12s is not in the history of HEAD, %.12s", e.Commit, e.Head)
		f.Fix = "`git branch --contains " + e.Commit + "` names the branches that have it; switch to one"
	case fault.Overtaken:
		of := fmt.Sprintf("%.12s", e.Commit)
		if e.Base != "" {
			of = fmt.Sprintf("%.12s..%.12s", e.Base, e.Commit)
		}
		f.What, f.Why = "the change can't be undone on its own", fmt.Sprintf("later work changed %s: HEAD is %.12s, on top of %.12s", e.Path, e.Head, e.Commit)
		f.Fix = "`git revert --no-edit " + of + "` takes it back under the later work, and stops for you where both have the same lines"
	case fault.NotItsOwn:
		f.What = "the change can't be undone on its own"
		f.Why = fmt.Sprintf("between %.12s, where the run began, and its commit %.12s are commits that are not its own", e.Base, e.Commit)
		f.Fix = fmt.Sprintf("`git log %.12s..%.12s` shows them; `git revert` takes single ones back", e.Base, e.Commit)
	case fault.BranchName:
		f.What, f.Why, f.Fix = fmt.Sprintf("%q is not a valid branch name", e.Path), "git refuses it", "`git check-ref-format --branch NAME` says which names are valid"
	case fault.BranchNotMade:
		f.What, f.Fix = fmt.Sprintf("the branch %q could not be made", e.Path), "`git branch` lists those that exist; choose another name"
	}
}

// Refused tells why a look at a change stops it, in one clause, from an error that stands in
// the way of looking, an interruption among them.
func Refused(ctx context.Context, err error) (why string, other error) {
	if f, ok := As(err); ok && ctx.Err() == nil && f.Code.Outcome() == judge.OutcomeStop {
		return f.What + " (" + f.Why + ")", nil
	}
	return "", err
}
