package lock

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/paxiom/relay/host/fault"
	"github.com/paxiom/relay/host/internal/strictjson"
	"github.com/paxiom/relay/judge"
)

// Info is what a holder writes into the lock file. The kernel's lock on that file is
// the truth; this is for people, and for deciding after a crash.
type Info struct {
	PID       int       `json:"pid"`
	PIDStart  string    `json:"pid_start,omitempty"` // start time of the process as the kernel counts it
	BootID    string    `json:"boot_id"`
	Host      string    `json:"host"`
	StartedAt time.Time `json:"started_at"`
	Command   string    `json:"command"` // for people, for example "relay run"
	RunID     string    `json:"run_id,omitempty"`
}

// State says where a lock stands.
type State string

// The states of a lock.
const (
	Free    State = "free"    // no file, or one that its holder left in order
	Held    State = "held"    // its holder lives
	Stale   State = "stale"   // its holder is gone: the next Acquire takes it over
	Corrupt State = "corrupt" // nobody holds it and it can't be read
)

// maxFile is the largest lock file that is read, in bytes.
const maxFile = 64 << 10

// Lock is a lock that this process holds.
type Lock struct {
	path string
	file *os.File
	info Info
}

// Acquire takes the lock at path for this process. When somebody else has it, or
// that can't be ruled out, the fault is BLOCKED_LOCK_HELD. reclaimed is the
// information of the dead holder whose lock was taken over, nil when there was none.
func Acquire(path, command string) (l *Lock, reclaimed *Info, err error) {
	f, got, err := open(path, true)
	if err != nil {
		return nil, nil, unusable(path, err)
	}
	state, old, err := read(f, got)
	if err == nil && state != Free && state != Stale {
		err = refusal(path, state, old)
	}
	l = &Lock{path: path, file: f, info: self(command)}
	if err == nil {
		err = l.write()
	}
	if err != nil {
		f.Close()
		return nil, nil, unusable(path, err)
	}
	return l, old, nil
}

// SetRun writes the run's id into the file.
func (l *Lock) SetRun(id string) error {
	l.info.RunID = id
	return l.write()
}

// Release gives the lock back. It removes the file only if it is still this lock's.
// A second call does nothing.
func (l *Lock) Release() error {
	if l.file == nil {
		return nil
	}
	defer func() { l.file.Close(); l.file = nil }()
	if same(l.file, l.path) {
		return os.Remove(l.path)
	}
	return nil
}

// Inspect says who holds the lock at path, without taking it for longer than a look.
func Inspect(path string) (State, *Info, error) {
	f, got, err := open(path, false)
	if errors.Is(err, fs.ErrNotExist) {
		return Free, nil, nil
	}
	if err != nil {
		return Corrupt, nil, unusable(path, err)
	}
	defer f.Close()
	return read(f, got)
}

// open opens the file and tries the kernel's lock on it; got says whether that
// worked. A file that was removed or replaced in between is opened anew.
func open(path string, make bool) (f *os.File, got bool, err error) {
	flags := os.O_RDWR | syscall.O_NOFOLLOW | syscall.O_NONBLOCK
	if make {
		flags |= os.O_CREATE
	}
	for range 100 {
		f, err = os.OpenFile(path, flags, 0o644)
		if err != nil {
			return nil, false, err
		}
		if fi, err := f.Stat(); err != nil || !fi.Mode().IsRegular() {
			f.Close()
			return nil, false, errors.Join(err, errors.New("it is not a plain file"))
		}
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err != nil && !errors.Is(err, syscall.EWOULDBLOCK) {
			f.Close()
			return nil, false, err
		}
		if got = err == nil; !got || same(f, path) {
			return f, got, nil
		}
		f.Close()
	}
	return nil, false, errors.New("it is being replaced all the time")
}

// same tells whether path still names the open file.
func same(f *os.File, path string) bool {
	a, errA := f.Stat()
	b, errB := os.Lstat(path)
	return errA == nil && errB == nil && os.SameFile(a, b)
}

// read reads what the holder wrote and decides the state; got says that the kernel's
// lock is ours, which rules out a holder on this kernel.
func read(f *os.File, got bool) (State, *Info, error) {
	raw, err := io.ReadAll(io.NewSectionReader(f, 0, maxFile+1))
	if err != nil {
		return Corrupt, nil, err
	}
	var info *Info
	if len(bytes.TrimSpace(raw)) > 0 {
		info = parse(raw)
	}
	switch {
	case !got:
		return Held, info, nil // the file may be half written just now
	case len(bytes.TrimSpace(raw)) == 0:
		return Free, nil, nil // killed before the first word
	case info == nil:
		return Corrupt, nil, nil
	case holderLives(info):
		return Held, info, nil
	}
	return Stale, info, nil
}

func parse(raw []byte) *Info {
	if len(raw) > maxFile {
		return nil
	}
	if _, err := strictjson.Decode(raw, maxFile); err != nil {
		return nil
	}
	var i Info
	if err := json.Unmarshal(raw, &i); err != nil || i.PID <= 0 {
		return nil
	}
	return &i
}

// holderLives decides about a holder whose kernel lock is gone: a lock written by
// hand or by a version that knew none, or a file on another machine's disk.
func holderLives(i *Info) bool {
	boot, host := bootID(), hostname()
	if i.BootID != "" && boot != "" && i.BootID != boot {
		return i.Host != "" && i.Host != host // another machine may still run it
	}
	start, alive := processStart(i.PID)
	return alive && (i.PIDStart == "" || i.PIDStart == start)
}

func self(command string) Info {
	start, _ := processStart(os.Getpid())
	return Info{PID: os.Getpid(), PIDStart: start, BootID: bootID(), Host: hostname(), StartedAt: time.Now().UTC(), Command: command}
}

// write replaces the file's content. The file itself stays, since the kernel's lock
// is on it.
func (l *Lock) write() error {
	raw, err := json.MarshalIndent(l.info, "", "  ")
	if err != nil {
		return err
	}
	raw = append(raw, '\n')
	if err := l.file.Truncate(0); err != nil {
		return err
	}
	if _, err := l.file.WriteAt(raw, 0); err != nil {
		return err
	}
	return l.file.Sync()
}

func refusal(path string, s State, i *Info) error {
	if s == Corrupt {
		return fault.New(judge.BlockedLockHeld, "the lock file can't be read", path+" is not what relay wrote, so nobody can say whether a tick is running",
			"`rm "+quote(path)+"` when no relay is running here")
	}
	if i == nil {
		return fault.New(judge.BlockedLockHeld, "another relay is running here", "a process holds "+path, "`relay status` says when it has ended")
	}
	why := fmt.Sprintf("process %d (%s) holds the lock since %s", i.PID, i.Command, i.StartedAt.Format(time.RFC3339))
	if i.Host != "" && i.Host != hostname() {
		return fault.New(judge.BlockedLockHeld, "a relay on another machine may be running here", why+" on "+i.Host,
			"`rm "+quote(path)+"` when it is gone")
	}
	return fault.New(judge.BlockedLockHeld, "another relay is running here", why, "`relay status` says when it has ended")
}

func unusable(path string, err error) error {
	if _, ok := fault.As(err); ok {
		return err
	}
	return fault.Wrap(err, judge.BlockedLockHeld, "the lock "+path+" can't be used", "`ls -l "+quote(path)+"` shows what is in its place")
}

// quote sets a path for a shell.
func quote(p string) string {
	if strings.ContainsFunc(p, func(r rune) bool {
		return !(r == '/' || r == '.' || r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z')
	}) {
		return "'" + strings.ReplaceAll(p, "'", `'\''`) + "'"
	}
	return p
}

func hostname() string {
	h, _ := os.Hostname()
	return h
}
