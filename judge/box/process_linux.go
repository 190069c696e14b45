package box

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// setupError turns what pid 1 reported into an error for the user; when it reported nothing,
// how it ended says more than that it did.
func setupError(f *Failure, err error, ended *os.ProcessState) error {
	switch {
	case f == nil && errors.Is(err, os.ErrDeadlineExceeded):
		return &Error{Op: "start", Why: fmt.Sprintf("it was not set up within %v", setupTime), Err: err}
	case f == nil:
		return &Error{Op: "start", Why: fmt.Sprintf("its first process ended before it was set up: %v", ended), Err: err}
	}
	e := denied(f.Op, f.Errno)
	e.Path = f.Path
	e.Why = cmp.Or(e.Why, f.Detail)
	if f.Errno == 0 {
		e.Err = nil
	}
	if f.Op == "find the program" || f.Op == "start the program" {
		e.Unsupported, e.Why, e.Fix = false, f.Detail, ""
		if f.Errno == 0 && f.Detail == "" {
			e.Err = fs.ErrNotExist
		}
	}
	return e
}
