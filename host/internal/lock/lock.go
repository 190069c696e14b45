package lock

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/strictjson"
	"github.com/paxiom/relay/judge"
)

// Info is lock.json.
type Info struct {
	PID       int       `json:"pid"`
	PIDStart  string    `json:"pid_start"` // start time of the process as the kernel counts it
	BootID    string    `json:"boot_id"`   // changes when the machine restarts
	Host      string    `json:"host"`      // the machine's name
	StartedAt time.Time `json:"started_at"`
	Command   string    `json:"command"` // for people, for example "relay run"
	RunID     string    `json:"run_id,omitempty"`
}

// State is what Inspect finds.
type State string

// The states of a lock file.
const (
	Free    State = "free"    // no file, or one that its holder left in order
	Held    State = "held"    // its holder lives, or that can't be ruled out
	Stale   State = "stale"   // its holder is gone: the next Acquire takes it over
	Corrupt State = "corrupt" // nobody holds it and it can't be read
)

// maxInfo is the most of lock.json that is read, in bytes.
const maxInfo = 64 << 10

// Lock is a lock that this process holds.
type Lock struct {
	path string
	f    *os.File // nil after Release
	info Info
}

// Acquire takes the lock at path for this process. When somebody else has it, or
// that can't be ruled out, the error is BLOCKED_LOCK_HELD. reclaimed is the
// information of the dead holder whose lock was taken over, nil when there was none.
func Acquire(path, command string) (l *Lock, reclaimed *Info, err error) {
	for try := range 100 { // more than once only when a holder lets go at this moment
		f, err := open(path)
		if err != nil {
			return nil, nil, openFault(path, err)
		}
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if errors.Is(err, unix.EWOULDBLOCK) {
			info, _ := read(f)
			looked := unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB) == nil
			f.Close()
			if looked || try < 20 && (info == nil || info.holds(true) == "") {
				// Somebody only looks at it (Inspect), or has not yet written who he is.
				time.Sleep(5 * time.Millisecond)
				continue
			}
			return nil, nil, heldFault(path, info)
		}
		if err != nil {
			f.Close()
			return nil, nil, diag.Wrap(err, judge.BlockedLockHeld, "the lock "+strconv.Quote(path)+" can't be taken", "`df -T "+diag.Word(path)+"` shows the file system; relay needs one that supports flock")
		}
		if !same(f, path) { // its last holder removed it while we waited for the open
			f.Close()
			continue
		}
		l, reclaimed, err = takeOver(f, path, command)
		if err != nil {
			f.Close()
			return nil, nil, err
		}
		return l, reclaimed, nil
	}
	return nil, nil, diag.New(judge.BlockedLockHeld, "the lock "+strconv.Quote(path)+" can't be taken", "other processes keep taking it", "`relay status`, then try again")
}

// takeOver decides about what an earlier holder left in a file that the kernel
// says is free, and writes our own information.
func takeOver(f *os.File, path, command string) (*Lock, *Info, error) {
	old, err := read(f)
	if err != nil {
		return nil, nil, diag.New(judge.BlockedLockHeld, "the lock file "+strconv.Quote(path)+" can't be read", err.Error()+"; relay can't tell who wrote it",
			"`rm "+diag.Word(path)+"` if no other relay works in this repository")
	}
	if old != nil {
		if who := old.holds(local(f)); who != "" {
			f := heldFault(path, old)
			f.Why += " (" + who + ")"
			return nil, nil, f
		}
	}
	l := &Lock{path: path, f: f, info: self(command)}
	if err := l.write(); err != nil {
		return nil, nil, openFault(path, err)
	}
	return l, old, nil
}

// open opens the file without following a link and without truncating it.
func open(path string) (*os.File, error) {
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_CREAT|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0o644)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), path)
	fi, err := f.Stat()
	if err == nil && !fi.Mode().IsRegular() {
		err = errors.New("it is not a regular file")
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func openFault(path string, err error) *diag.Error {
	dir := diag.Word(filepath.Dir(path)) // the lock itself may not be there
	code, why, fix := judge.BlockedLockHeld, err.Error(), "`ls -ld "+diag.Word(path)+"` shows what is there"
	switch {
	case errors.Is(err, unix.ELOOP):
		why, fix = "it is a symbolic link, which relay does not follow", "`rm "+diag.Word(path)+"` removes the link"
	case errors.Is(err, unix.EISDIR):
		why, fix = "it is a folder", "`ls -la "+diag.Word(path)+"`, then move it away"
	case errors.Is(err, unix.EROFS):
		why, fix = "the file system is read-only", "`findmnt -T "+dir+"` shows how it is mounted"
	case diag.Full(err):
		why, fix = "the disk or the quota is full", "`df -h "+dir+"`, then free some space"
	case errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM):
		why, fix = "permission denied; another user may work here", "`ls -la "+dir+"` shows whose it is"
	}
	if slices.ContainsFunc([]error{unix.EROFS, unix.ENOSPC, unix.EDQUOT, unix.EFBIG, unix.EACCES, unix.EPERM}, func(e error) bool { return errors.Is(err, e) }) {
		code = judge.BlockedRepository // nobody holds it
	}
	return &diag.Error{Code: code, What: "the lock " + strconv.Quote(path) + " can't be taken", Why: why, Fix: fix, Err: err}
}

// HeldBy is the error of a lock at path that Inspect found held; i may be nil.
func HeldBy(path string, i *Info) *diag.Error { return heldFault(path, i) }

func heldFault(path string, i *Info) *diag.Error {
	why := "another relay is just starting here"
	fix := "`relay status` shows it; wait for it to end"
	if i != nil {
		why = fmt.Sprintf("%s runs since %s as process %d on %s", strconv.Quote(i.Command), i.StartedAt.Local().Format(time.DateTime), i.PID, strconv.Quote(i.Host))
		if i.RunID != "" {
			why += ", run " + strconv.Quote(i.RunID)
		}
		if i.Host == self("").Host {
			fix += ", or `relay stop` ends it in order"
		} else {
			fix += ", or `rm " + diag.Word(path) + "` if that machine is gone for good"
		}
	}
	return diag.New(judge.BlockedLockHeld, "another relay is running here", why, fix)
}

// same reports whether the open file is still the one that has the name.
func same(f *os.File, path string) bool {
	a, err1 := f.Stat()
	b, err2 := os.Lstat(path)
	return err1 == nil && err2 == nil && os.SameFile(a, b)
}

// read gives what a holder left: nil for nothing (a file that is new, or whose
// holder died, with the machine, before its first write).
func read(f *os.File) (*Info, error) {
	b, err := io.ReadAll(io.NewSectionReader(f, 0, maxInfo+1))
	if err != nil {
		return nil, err
	}
	if len(bytes.Trim(b, "\x00 \n")) == 0 {
		return nil, nil
	}
	if len(b) > maxInfo {
		return nil, errors.New("it is too large to be a lock")
	}
	i := &Info{}
	v, err := strictjson.Decode(b, maxInfo)
	if err == nil {
		if m, ok := v.(map[string]any); !ok || m["pid"] == nil {
			return nil, errors.New("it is not an object with a pid")
		}
		err = json.Unmarshal(b, i) // other programs' fields are no concern of ours
	}
	if err != nil {
		return nil, fmt.Errorf("it is not what a lock holds: %w", err)
	}
	if i.PID <= 0 || i.PID > 1<<30 {
		return nil, fmt.Errorf("it names the process %d, which can't be", i.PID)
	}
	return i, nil
}

// holds says why the holder may still be there although the kernel's lock is free,
// or "" when it is gone for sure. local: no other machine can have the file open.
func (i *Info) holds(local bool) string {
	me := self("")
	switch {
	case i.BootID != "" && i.BootID == me.BootID && i.Host != me.Host:
		return "" // the same kernel, another container: its flock would have been seen
	case local && len(i.BootID) == len(me.BootID) && i.BootID != me.BootID:
		return "" // this machine, before it was restarted, whatever its name was then
	case i.Host != "" && i.Host != me.Host:
		return "that is another machine, where this one can't look"
	case len(i.BootID) == len(me.BootID) && i.BootID != me.BootID:
		return "" // the machine was restarted since
	}
	start, alive := startOf(i.PID)
	switch {
	case !alive:
		return ""
	case i.PIDStart != "" && start != "" && i.PIDStart != start:
		return "" // the number was given to another process
	default:
		return "that process lives"
	}
}

// Self is what a lock file would say of this process.
func Self(command string) Info { return self(command) }

// Alive reports whether the process lives, or may on another machine. It takes no lock.
func (i *Info) Alive() bool { return i.holds(true) != "" }

// Look tells like Inspect who holds the lock at path, by what the file says alone: it
// takes no lock itself, and may be wrong about a file that somebody else wrote.
func Look(path string) (State, *Info) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return Free, nil
	}
	f := os.NewFile(uintptr(fd), path)
	defer f.Close()
	if fi, err := f.Stat(); err != nil || !fi.Mode().IsRegular() {
		return Corrupt, nil
	}
	i, err := read(f)
	switch {
	case err != nil:
		return Corrupt, nil
	case i == nil:
		return Free, nil
	case i.Alive():
		return Held, i
	}
	return Stale, i
}

// write puts our information into the file; the descriptor keeps the kernel's lock,
// so the file is written in place and not replaced.
func (l *Lock) write() error {
	b, err := json.MarshalIndent(l.info, "", "  ")
	if err != nil {
		return err
	}
	if err := l.f.Truncate(0); err != nil {
		return err
	}
	if _, err := l.f.WriteAt(append(b, '\n'), 0); err != nil {
		return err
	}
	return nil
}

// Info is what the lock file says of this holder.
func (l *Lock) Info() Info { return l.info }

// SetRun writes the run's id into the file.
func (l *Lock) SetRun(id string) error {
	if l.f == nil {
		return errors.New("lock: SetRun after Release")
	}
	l.info.RunID = id
	return l.write()
}

// Release gives the lock back. It removes the file only if it is still this lock's.
// A second call does nothing.
func (l *Lock) Release() error {
	if l == nil || l.f == nil {
		return nil
	}
	f := l.f
	l.f = nil
	var err error
	if same(f, l.path) {
		err = os.Remove(l.path) // before the close, while nobody else can have taken it
	}
	return errors.Join(err, f.Close())
}

// Inspect says who holds the lock at path, without taking it for longer than the
// look lasts.
func Inspect(path string) (State, *Info, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.ENOENT) {
		return Free, nil, nil
	}
	if errors.Is(err, unix.ELOOP) || errors.Is(err, unix.ENXIO) {
		return Corrupt, nil, nil
	}
	if err != nil {
		return "", nil, openFault(path, err)
	}
	f := os.NewFile(uintptr(fd), path)
	defer f.Close()
	if fi, err := f.Stat(); err != nil || !fi.Mode().IsRegular() {
		return Corrupt, nil, nil
	}
	// A shared lock: two that look do not see each other as holders.
	taken := unix.Flock(fd, unix.LOCK_SH|unix.LOCK_NB) != nil
	info, rerr := read(f)
	switch {
	case taken:
		return Held, info, nil
	case rerr != nil:
		return Corrupt, nil, nil
	case info == nil:
		return Free, nil, nil
	case info.holds(local(f)) != "":
		return Held, info, nil
	default:
		return Stale, info, nil
	}
}
