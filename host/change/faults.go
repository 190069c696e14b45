package change

import (
	"errors"
	"syscall"

	"github.com/paxiom/relay/host/change/fault"
	"github.com/paxiom/relay/host/internal/journal"
)

// moved is the error of a path that is no longer what was compared.
func moved(path, why string) error {
	return &fault.Error{Kind: fault.InTheWay, Path: path, Why: why}
}

// unseen is the error of a path that could not be compared: it is the operator's doing where
// something else has the place of one of its folders.
func unseen(path string, err error) error {
	if errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ELOOP) {
		return moved(path, err.Error())
	}
	return &fault.Error{Kind: fault.Unread, Path: path, Err: err}
}

// headMoved is the error of a branch that is no longer where the box began.
func headMoved(why string) error { return &fault.Error{Kind: fault.Moved, Why: why} }

// broken is the error of an apply that could be neither finished nor reverted.
func broken(err error) error { return &fault.Error{Kind: fault.Unsettled, Err: err} }

// Settled refuses what may not begin while a change is cut off.
func Settled(j *journal.Journal) error {
	open, err := j.Unfinished()
	if err != nil || len(open) == 0 {
		return err
	}
	return &fault.Error{Kind: fault.CutOff, Path: open[0].ID}
}
