package fault

import (
	"errors"
	"slices"
	"strings"

	"github.com/paxiom/relay/judge"
)

// Kind says what is in the way. Beside each stands what an [Error] of that kind has.
type Kind int

// The kinds of faults.
const (
	InTheWay       Kind = iota + 1 // Path holds the operator's changes, or is not what was compared; Why
	Staged                         // Path is in git's index, and not of the change
	Unread                         // Path can't be compared; Err
	Moved                          // the branch is not where the box began; Why
	LookedAway                     // git was told not to look at Path, which can't be committed
	LookedAwayUndo                 // the same, where it can't be taken back
	Nested                         // Path belongs to the repository in the folder In
	Secret                         // Path holds a credential as git stores it; Why
	Filter                         // a filter of git's failed; Why is what it said, Err
	Reverted                       // the work tree is what it was, since it could not be written; Err
	Ref                            // git could not move the branch Path ("" is a detached HEAD); Err
	Unsettled                      // a change can be neither finished nor reverted; Err
	CutOff                         // the run Path has to be recovered first
	UndoUnrecorded                 // what an undo did could not be written down; Err
	Busy                           // git is in the middle of what Path names: a rebase or a bisect
	ReadOnly                       // Path is a folder of git's that relay may not write; Err
	Date                           // git can't read the variable Path of the environment; Err
	FilterMissing                  // In is the program of git's filter Why, which stores Path
	Locked                         // Path is another git's lock
	Dirty                          // Paths differ from HEAD
	Ignored                        // Path would come back where git ignores a file
	Elsewhere                      // Commit is not in the history of Head
	Overtaken                      // what came after Commit, which begins after Base, changed Path; Head
	NotItsOwn                      // between Base and Commit are commits of others
	BranchName                     // git takes no branch of the name Path
	BranchNotMade                  // the branch Path could not be made; Err
)

// Each kind in a word or two, for a log, and how it ends what relay was about to do.
var kinds = map[Kind]struct {
	name string
	code judge.Code
}{
	InTheWay: {"in the way", judge.StopHeadMoved}, Staged: {"staged", judge.StopHeadMoved}, Unread: {"can't be read", judge.StopHeadMoved},
	Moved: {"moved", judge.StopHeadMoved}, LookedAway: {"not looked at", judge.StopHeadMoved}, LookedAwayUndo: {"not looked at", judge.StopHeadMoved},
	Nested: {"of another repository", judge.StopForbidden}, Secret: {"a credential", judge.StopSecret},
	Filter: {"a filter failed", judge.StopInterrupted}, Reverted: {"reverted", judge.StopInterrupted}, Ref: {"branch not moved", judge.StopInterrupted},
	Unsettled: {"unsettled", judge.BlockedCrashRecovery}, CutOff: {"cut off", judge.BlockedCrashRecovery}, UndoUnrecorded: {"not recorded", judge.BlockedCrashRecovery},
	Busy: {"in progress", judge.BlockedRepository}, ReadOnly: {"read-only", judge.BlockedRepository}, Date: {"not a date", judge.BlockedRepository},
	FilterMissing: {"program missing", judge.BlockedRepository}, Locked: {"locked", judge.BlockedRepository},
	Dirty: {"not committed", judge.BlockedDirtyWorktree}, Ignored: {"ignored", judge.BlockedDirtyWorktree},
	Elsewhere: {"not in the history", judge.StopHeadMoved}, Overtaken: {"changed since", judge.StopHeadMoved}, NotItsOwn: {"commits of others", judge.StopHeadMoved},
	BranchName: {"not a branch name", ""}, BranchNotMade: {"branch not made", ""},
}

// Error is one fault.
type Error struct {
	Kind               Kind
	Path, In           string
	Paths              []string
	Base, Commit, Head string
	Why                string // a clause in English; "" where the kind or Err says it all
	Err                error  // the cause; nil when there is none
}

// Code is how the fault ends what relay was about to do.
func (e *Error) Code() judge.Code { return kinds[e.Kind].code }

// Error is for a log; see host/diag for a person.
func (e *Error) Error() string {
	parts := []string{kinds[e.Kind].name, e.Path, strings.Join(e.Paths, ", "), e.Why}
	if e.Err != nil {
		parts = append(parts, e.Err.Error())
	}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ": ")
}

// Reason is why, in one clause.
func (e *Error) Reason() string {
	if e.Why == "" && e.Err != nil {
		return e.Err.Error()
	}
	return e.Why
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// As finds a fault in a chain of errors.
func As(err error) (*Error, bool) { return errors.AsType[*Error](err) }

// Mine reports whether a change can't land for what the operator has in his work tree or his
// index, and not for what became of the branch.
func Mine(err error) bool {
	f, ok := As(err)
	return ok && (f.Kind == InTheWay || f.Kind == Staged)
}

// Is reports whether an error is a fault with that code.
func Is(err error, code judge.Code) bool {
	f, ok := As(err)
	return ok && f.Code() == code
}
