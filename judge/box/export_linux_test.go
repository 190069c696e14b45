package box

import (
	"errors"
	"os"
	"runtime"
	"time"
)

// What the tests see of the inside. They are a package of their own, since they try the weaker
// means as well, which import this one.

var (
	Profile, ProfileCommand = profile, profileCommand
	CanScope, OwnPidMax     = canScope, ownPidMax
	HeadroomFor             = headroomFor
	Grouped                 = grouped
	PlaceOf                 = placeOf
	Denied                  = denied
	Kilobytes               = kilobytes
	ProcFd                  = procFd
	PrLimit64               = callsOf[runtime.GOARCH][0].prLimit64
	FiltersCalls            = callsOf[runtime.GOARCH][0].arch != 0
)

const (
	ReservedPids = reservedPids
	LayerBoot    = layerBoot
)

// OnDisk has boxes do without a tmpfs.
func OnDisk(is bool) { onDisk = is }

func (b *Box) Spec() Spec         { return b.spec }
func (b *Box) Layer() string      { return b.layer }
func (b *Box) Scratch() string    { return b.scratch() }
func (b *Box) Upper(i int) string { return b.upper(i) }

// Slow is a process of the box that takes its time to go.
func (b *Box) Slow(proc *os.Process, goes time.Duration) (*Process, error) {
	lock, err := b.lock()
	if err != nil {
		return nil, err
	}
	return Follow(proc, lock, func() { proc.Kill() }, func() (ExitState, error) {
		_, err := proc.Wait()
		return ExitState{}, err
	}, func() error { time.Sleep(goes); return nil }), nil
}

// StartAfter is Start with something that happens between its plan and its mounts.
func (b *Box) StartAfter(p Proc, between func()) (*Process, error) {
	lock, err := b.lock()
	if err != nil {
		return nil, err
	}
	what, err := b.plan(p)
	if err == nil {
		err = b.use()
	}
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	between()
	return b.enter(what, p, lock)
}
