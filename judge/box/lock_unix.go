//go:build linux || darwin

package box

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// lock takes the layer for one process or reader; unlock gives it back.
func (b *Box) lock() (*os.File, error) {
	if b.layer == "" {
		return os.Open(os.DevNull) // nothing is written: as many as one likes
	}
	return lockLayer(b.layer)
}

// leaving are the boxes that were ended and are on their way out, by the names of their
// locks: a channel each that is closed when all is over. By the means copy, the repository
// is put back on the way.
var leaving sync.Map

// leavePatience is how long they are waited for.
const leavePatience = 5 * time.Minute

func lockLayer(layer string) (*os.File, error) {
	f, err := os.Open(filepath.Join(layer, layerOf))
	if err == nil {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if over, ok := leaving.Load(f.Name()); ok && errors.Is(err, unix.EWOULDBLOCK) {
			select {
			case <-over.(chan struct{}):
			case <-time.After(leavePatience):
			}
			err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		}
		if err == nil {
			return f, nil
		}
		f.Close()
	}
	e := &Error{Op: "use the layer", Path: layer, Err: err}
	if errors.Is(err, unix.EWOULDBLOCK) {
		e.Why = "a process is running in the box"
	}
	return nil, e
}

// leave says that the box is on its way out.
func (p *Process) leave() {
	select {
	case <-p.done:
	default:
		leaving.Store(p.lock.Name(), p.done)
	}
}

// left says that it is gone, and gives the layer back.
func (p *Process) left() {
	unlock(p.lock)
	leaving.Delete(p.lock.Name())
	close(p.done)
}

// unlock does not rely on closing alone: a program that relay starts at this moment
// holds copies of all descriptors until it is executed.
func unlock(f *os.File) {
	unix.Flock(int(f.Fd()), unix.LOCK_UN)
	f.Close()
}
