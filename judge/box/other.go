//go:build !linux && !darwin

package box

import (
	"context"
	"io/fs"
	"os"
	"runtime"

	"github.com/paxiom/relay/judge"
)

func unsupported() error {
	return &Error{Op: "make a box", Unsupported: true, Why: "namespaces and overlays are Linux's; this is " + runtime.GOOS,
		Fix: "run relay on Linux, or in a Linux container or virtual machine"}
}

// Init must be the first statement of main. It does nothing on this system.
func Init() {}

// Probe finds no means on this system.
func Probe(ctx context.Context, _ string) (s Support, err error) {
	for _, means := range Ladder() {
		t, _ := probe(ctx, "", means)
		s.Trials = append(s.Trials, t)
	}
	return s, nil
}

// New fails with an *Error that says so.
func New(Spec) (*Box, error) { return nil, unsupported() }

// Start fails.
func (b *Box) Start(Proc) (*Process, error) { return nil, unsupported() }

// Touched fails.
func (b *Box) Touched(context.Context, *judge.Git) (judge.Touched, error) {
	return judge.Touched{}, unsupported()
}

// Open finds nothing.
func (b *Box) Open(string) (*os.File, error) { return nil, fs.ErrNotExist }

// OpenAt finds nothing.
func (b *Box) OpenAt(string) (*os.File, error) { return nil, fs.ErrNotExist }

// Fresh fails.
func (b *Box) Fresh(string, []judge.Change, ...Bind) (*Box, error) { return nil, unsupported() }

// Sync has nothing to do.
func (b *Box) Sync() error { return nil }

// Discard has nothing to do.
func (b *Box) Discard() error { return nil }

// Drop has nothing to do.
func (b *Box) Drop() (func() error, error) { return func() error { return nil }, nil }

// Remove has nothing to do.
func Remove(string) error { return nil }

// RemoveTree removes a folder.
func RemoveTree(dir string) error { return os.RemoveAll(dir) }

// strangersIn and unfit are about namespaces.
func strangersIn(string) string { return "" }

func unfit(string) *Error { return nil }

// canScope: abstract unix sockets are Linux's.
func canScope() bool { return false }

// grouped: control groups are Linux's.
func grouped() bool { return false }

// ownPidMax is about pid namespaces.
func ownPidMax() bool { return false }

// SweepGroups finds none.
func SweepGroups() int { return 0 }

// Process never exists here.
type Process struct{}

// Pid is 0.
func (p *Process) Pid() int { return 0 }

// Wait fails.
func (p *Process) Wait() (ExitState, error) { return ExitState{}, unsupported() }

// Exceed does nothing.
func (p *Process) Exceed(*Exceeded) {}

// Exceeded is nil.
func (p *Process) Exceeded() *Exceeded { return nil }

// Listeners are none.
func (p *Process) Listeners() []*os.File { return nil }

// Kill does nothing.
func (p *Process) Kill() {}

// Dir is Root.
func (b *Box) Dir() string { return b.spec.Root }

// PutBack is nothing.
func (b *Box) PutBack() []string { return nil }

type copied struct{}

// probe finds that a means is not there.
func probe(_ context.Context, _, means string) (Trial, error) {
	e := unsupported().(*Error)
	return Trial{Means: means, Why: e.Why, Fix: e.Fix}, nil
}

func machineKey() string { return "" }
