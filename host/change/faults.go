package change

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/journal"
	"github.com/paxiom/relay/judge"
)

// ErrInTheWay is the cause where a change can't land for what the operator has in his work
// tree or his index, and not for what became of the branch.
var ErrInTheWay = errors.New("changes of yours are in the way")

// moved is the error of a path that is no longer what was compared.
func moved(path, why string) *diag.Error {
	return &diag.Error{Code: judge.StopHeadMoved, What: fmt.Sprintf("%q could not be written", path), Why: why,
		Fix: "`git status` shows your own changes; `relay salvage` has what was built", Err: ErrInTheWay}
}

// unseen is the error of a path that could not be compared: it is the operator's doing where
// something else has the place of one of its folders.
func unseen(path string, err error) *diag.Error {
	if errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ELOOP) {
		return moved(path, err.Error())
	}
	return diag.Wrap(err, judge.StopHeadMoved, fmt.Sprintf("%q could not be read, so nothing is written over it", path),
		"`ls -ld "+diag.Word(path)+"` shows it; `relay salvage` has what was built")
}

// headMoved is the error of a branch that is no longer where the box began.
func headMoved(why string) *diag.Error {
	return diag.New(judge.StopHeadMoved, "the repository moved while the builder ran", why,
		"`git log` shows what came in between; `relay salvage` has what was built")
}

// broken is the error of an apply that could be neither finished nor reverted.
func broken(err error) *diag.Error {
	return diag.Wrap(err, judge.BlockedCrashRecovery, "a change could be neither finished nor reverted",
		"`relay recover` continues from the journal once the cause is gone")
}

// Settled refuses what may not begin while a change is cut off.
func Settled(j *journal.Journal) error {
	open, err := j.Unfinished()
	if err != nil || len(open) == 0 {
		return err
	}
	return diag.New(judge.BlockedCrashRecovery, "run "+open[0].ID+" was cut off and is not settled yet",
		"the work tree may hold a part of its change", "`relay recover`")
}
