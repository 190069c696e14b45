package diag

import (
	"errors"
	"fmt"
	"strings"

	"github.com/paxiom/relay/host/change/fault"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/git"
)

// Error is an error with its three parts. All of What, Why and Fix are one or two
// plain sentences; Fix starts with the command to type where there is one, set in
// backticks.
type Error struct {
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
func (f *Error) Error() string {
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
func (f *Error) Unwrap() error { return f.Err }

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

// New makes an Error without a cause.
func New(code judge.Code, what, why, fix string) *Error {
	return &Error{Code: code, What: what, Why: why, Fix: fix}
}

// Wrap makes an Error whose Why is the cause's text.
func Wrap(err error, code judge.Code, what, fix string) *Error {
	return &Error{Code: code, What: what, Why: why(err), Fix: fix, Err: err}
}

// why is what an error says, as one sentence: several are joined, and of an Error among them the fix
// is left out, since the Error around it has one.
func why(err error) string {
	text := strings.ReplaceAll(err.Error(), "\n", "; ")
	if f, ok := As(err); ok && f.Fix != "" {
		text = strings.ReplaceAll(text, " (fix: "+f.Fix+")", "")
	}
	return text
}

// As finds the Error in a chain of errors, or words the fault of a change that is in it.
func As(err error) (*Error, bool) {
	f, ok := errors.AsType[*Error](err)
	if e, is := fault.As(err); is && !ok {
		return Fault(e), true
	}
	return f, ok
}

// Internal turns any error into an Error: what git or the machine refuses is told as
// that, and a bug of relay is reported as one.
func Internal(err error) *Error {
	if f, ok := As(err); ok {
		return f
	}
	if _, ok := errors.AsType[*git.Error](err); ok {
		f := Git(err)
		f.Code = judge.StopInterrupted
		return f
	}
	if f := Machine(err); f != nil {
		return f
	}
	return &Error{Code: judge.StopInterrupted, What: "internal error",
		Why: why(err), Fix: "`relay doctor`, then report it with the output of `relay show --json`",
		Err: fmt.Errorf("internal: %w", err)}
}
