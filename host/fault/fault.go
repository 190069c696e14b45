package fault

import (
	"errors"
	"fmt"
	"strings"

	"github.com/paxiom/relay/judge"
)

// Fault is an error with its three parts. All of What, Why and Fix are one or two
// plain sentences; Fix starts with the command to type where there is one, set in
// backticks.
type Fault struct {
	Code judge.Code
	What string
	Why  string
	Fix  string
	// Says is what a plugin suggests, with its name: a quotation that relay does not
	// vouch for, and never a command to type.
	Says string
	// Err is the cause, for errors.Is and errors.As; nil when there is none.
	Err error
}

// Error gives all three parts on one line.
func (f *Fault) Error() string {
	s := f.What
	if f.Why != "" {
		s += ": " + f.Why
	}
	if f.Fix != "" {
		s += " (fix: " + f.Fix + ")"
	}
	return s
}

// Unwrap gives the cause.
func (f *Fault) Unwrap() error { return f.Err }

// Steps are what can be typed next, most likely first; in JSON they are one text.
type Steps []string

// MarshalText joins them.
func (s Steps) MarshalText() ([]byte, error) { return []byte(strings.Join(s, "; ")), nil }

// UnmarshalText takes that text as one.
func (s *Steps) UnmarshalText(text []byte) error {
	*s = nil
	if len(text) > 0 {
		*s = Steps{string(text)}
	}
	return nil
}

// New makes a Fault without a cause.
func New(code judge.Code, what, why, fix string) *Fault {
	return &Fault{Code: code, What: what, Why: why, Fix: fix}
}

// Wrap makes a Fault whose Why is the cause's text.
func Wrap(err error, code judge.Code, what, fix string) *Fault {
	return &Fault{Code: code, What: what, Why: err.Error(), Fix: fix, Err: err}
}

// As finds the Fault in a chain of errors.
func As(err error) (*Fault, bool) {
	var f *Fault
	ok := errors.As(err, &f)
	return f, ok
}

// Internal turns any error into a Fault: what git or the machine refuses is told as
// that, and a bug of relay is reported as one.
func Internal(err error) *Fault {
	if f, ok := As(err); ok {
		return f
	}
	var git *judge.GitError
	if errors.As(err, &git) {
		f := Git(err)
		f.Code = judge.StopInterrupted
		return f
	}
	if f := machine(err); f != nil {
		return f
	}
	return &Fault{Code: judge.StopInterrupted, What: "internal error",
		Why: err.Error(), Fix: "`relay doctor`, then report it with the output of `relay show --json`",
		Err: fmt.Errorf("internal: %w", err)}
}
