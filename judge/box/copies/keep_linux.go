package copies

import (
	"errors"
	"os"
	"time"

	"github.com/paxiom/relay/judge/box"
	"github.com/paxiom/relay/judge/box/internal/tree"
	"golang.org/x/sys/unix"
)

// Where there is no pid namespace, relay executes itself as a supervisor: orphans of the
// processes that it starts become its children, so that it finds all of them and ends
// them, when the direct child has ended and when the host is gone.

// Start is Start without namespaces.
func (b *copied) Start(p box.Proc, lock *os.File) (*box.Process, error) {
	what, err := b.spec(p)
	if err == nil {
		err = b.begin()
	}
	if err == nil && os.Getuid() == 0 && what.Limits.Processes > 0 {
		means{}.Sweep()
		what.Group = string(newGroup(what.Limits.Processes + headroom))
	}
	var run *box.Process
	if err == nil {
		run, err = b.launch(p, what, lock)
	}
	if err != nil {
		group(what.Group).remove()
		tree.Remove(what.Run)
		return nil, err
	}
	return run, nil
}

// launch starts the supervisor and waits until it has started the child.
func (b *copied) launch(p box.Proc, what *spec, lock *os.File) (*box.Process, error) {
	written := []string{what.Run}
	if b.copies() {
		for i := range b.Lowers {
			written = append(written, b.Copy(i))
		}
	}
	for _, bind := range b.Binds {
		if bind.Counted {
			written = append(written, bind.Path)
		}
	}
	run, err := p.Launch(box.Launch{Name: supervisorName, Plan: what, Limits: b.withBase(p.Confine.Limits), Written: written, Away: what.Run,
		Kill: func(supervisor *os.Process, control *os.File, done <-chan struct{}) {
			control.Write([]byte{1})
			time.AfterFunc(supervisorTime, func() {
				select {
				case <-done:
				default:
					supervisor.Kill() // it was stopped, or is at a loss: sweep does the rest
				}
			})
		},
		After: func(state *box.ExitState) error {
			state.Left += sweep(what.Run)
			group(what.Group).remove()
			return b.end()
		}}, lock)
	if _, explained := errors.AsType[*box.Error](err); err != nil && !explained {
		err = &box.Error{Op: "start", Err: err}
	}
	return run, err
}

// supervisorTime is how long a supervisor has for ending what it keeps.
const supervisorTime = 5 * time.Second

// withBase adds to the limits on disk what the copy itself takes.
func (b *copied) withBase(l box.Limits) box.Limits {
	var all, largest int64
	for _, made := range b.made {
		for _, t := range made {
			if t.kind() == unix.S_IFREG {
				all, largest = all+t.Size, max(largest, t.Size)
			}
		}
	}
	if l.Disk > 0 {
		l.Disk += all
	}
	if l.File > 0 {
		l.File = max(l.File, largest)
	}
	return l
}
