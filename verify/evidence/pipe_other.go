//go:build !linux && !darwin

package evidence

import "github.com/paxiom/relay/verify"

import "errors"

// Pipe is a named pipe that one check reports to.
type Pipe struct{ Dir, Path string }

// Open makes a pipe in a new folder below dir and begins to read it.
func Open(string) (*Pipe, error) { return nil, errors.ErrUnsupported }

// Close returns what was reported.
func (p *Pipe) Close() verify.Report { return verify.Report{} }
