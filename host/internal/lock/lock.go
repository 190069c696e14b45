package lock

import "time"

// Info is lock.json.
type Info struct {
	PID       int       `json:"pid"`
	PIDStart  string    `json:"pid_start"` // start time of the process as the kernel counts it
	BootID    string    `json:"boot_id"`
	Host      string    `json:"host"`
	StartedAt time.Time `json:"started_at"`
	Command   string    `json:"command"` // for people, for example "relay run"
	RunID     string    `json:"run_id,omitempty"`
}

// State is what Inspect finds.
type State string

// The states of a lock file.
const (
	Free    State = "free"    // no file, or one that its holder left in order
	Held    State = "held"    // its holder lives
	Stale   State = "stale"   // its holder is gone: the next Acquire takes it over
	Corrupt State = "corrupt" // nobody holds it and it can't be read
)

// Lock is a lock that this process holds.
type Lock struct{}

// Acquire takes the lock at path for this process. When somebody else has it, or
// that can't be ruled out, the fault is BLOCKED_LOCK_HELD. reclaimed is the
// information of the dead holder whose lock was taken over, nil when there was none.
func Acquire(path, command string) (l *Lock, reclaimed *Info, err error) { panic("todo") }

// SetRun writes the run's id into the file.
func (l *Lock) SetRun(id string) error { panic("todo") }

// Release gives the lock back. It removes the file only if it is still this lock's.
// A second call does nothing.
func (l *Lock) Release() error { panic("todo") }

// Inspect says who holds the lock at path, without taking it.
func Inspect(path string) (State, *Info, error) { panic("todo") }
