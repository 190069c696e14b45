package box

import "fmt"

// Error says why a box could not be made, entered or read.
type Error struct {
	// Op is what was being done, for example "mount the repository".
	Op string
	// Path is what it was done to; may be "".
	Path string
	// Unsupported: this machine (kernel, container, security policy, file system)
	// does not allow it; trying again will not help.
	Unsupported bool
	// Why and Fix are plain sentences for the user; Fix starts with a command in
	// backticks where there is one. Either may be "".
	Why, Fix string
	// Err is the cause, usually a syscall.Errno.
	Err error
}

// Error gives what is known on one line.
func (e *Error) Error() string {
	s := "box: " + e.Op
	if e.Path != "" {
		s += fmt.Sprintf(" %q", e.Path)
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	if e.Why != "" {
		s += ": " + e.Why
	}
	return s
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }
