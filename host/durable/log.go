package durable

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/paxiom/relay/judge"
)

// The kinds of entry. Names are part of the file format.
const (
	kindBegin     = "begin"     // first entry of a run
	kindStep      = "step"      // a step is about to act
	kindResult    = "result"    // what it gave, or its error
	kindWait      = "wait"      // a question was asked
	kindSleep     = "sleep"     // a sleep began
	kindAnswer    = "answer"    // a question was answered, or a sleep ended, from outside
	kindAwake     = "awake"     // a sleep ended by the clock
	kindNow       = "now"       // a time that was handed out
	kindDone      = "done"      // the workflow returned nil
	kindFailed    = "failed"    // the workflow returned an error
	kindCancelled = "cancelled" // the operator ended the run
)

// maxLog is the largest log of a run, in bytes: a hundred thousand steps fit.
const maxLog = 64 << 20

var errLogTooLarge = fmt.Errorf("%w: it is larger than %d MB", errBadRecord, maxLog>>20)

// entry is one line of a run's log.
type entry struct {
	Kind    string          `json:"kind"`
	At      time.Time       `json:"at"`
	Name    string          `json:"name,omitempty"`
	Key     string          `json:"key,omitempty"`
	Version int             `json:"version,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Until   time.Time       `json:"until,omitzero"`
	Error   string          `json:"error,omitempty"`
}

func (e entry) ends() bool {
	return e.Kind == kindDone || e.Kind == kindFailed || e.Kind == kindCancelled
}

// addTo moves a run's state on by one entry.
func (e entry) addTo(st *State) {
	st.Changed = e.At
	switch e.Kind {
	case kindBegin:
		st.Kind, st.Version, st.Started = e.Name, e.Version, e.At
	case kindStep:
		st.InFlight = e.Name
	case kindResult:
		st.InFlight = ""
		st.Steps++
	case kindWait:
		st.Status, st.Waiting, st.About = Waiting, e.Name, e.Result
	case kindSleep:
		st.Status, st.Waiting, st.Until = Sleeping, e.Name, e.Until
	case kindAnswer, kindAwake:
		st.Status, st.Waiting, st.About, st.Until = Interrupted, "", nil, time.Time{}
	case kindDone:
		st.Status = Done
	case kindFailed:
		st.Status, st.Error = Failed, e.Error
	case kindCancelled:
		st.Status, st.Error, st.Waiting, st.Until = Cancelled, e.Error, "", time.Time{}
	}
}

// runLog is an open log. Writers take the file's own flock for each append, so an
// answer from another process never tears a line of the running one.
type runLog struct {
	f       *os.File
	entries []entry
	size    int64 // bytes that entries stand for
}

// openLog opens or makes a log and reads it. A torn last line, which a crash in the
// middle of a write leaves, never counted and is cut off.
func openLog(path string) (*runLog, error) {
	_, statErr := os.Stat(path)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if statErr != nil {
		if err := syncDir(filepath.Dir(path)); err != nil {
			f.Close()
			return nil, err
		}
	}
	l := &runLog{f: f}
	if err := l.locked(l.refresh); err != nil {
		f.Close()
		return nil, err
	}
	return l, nil
}

func (l *runLog) close() { l.f.Close() }

func (l *runLog) locked(do func() error) error {
	if err := syscall.Flock(int(l.f.Fd()), syscall.LOCK_EX); err != nil {
		return err
	}
	defer syscall.Flock(int(l.f.Fd()), syscall.LOCK_UN)
	return do()
}

// refresh reads what others appended since the last look.
func (l *runLog) refresh() error {
	n, torn, err := parse(io.NewSectionReader(l.f, l.size, maxLog+1-l.size), maxLog-l.size, func(e entry) { l.entries = append(l.entries, e) })
	if err != nil {
		return err
	}
	l.size += n
	if torn {
		return l.f.Truncate(l.size)
	}
	return nil
}

// add appends one entry and returns once it is on the disk.
func (l *runLog) add(e entry) error {
	return l.addWith(func() (entry, error) { return e, nil })
}

// addWith appends the entry that make decides on after seeing all that is there. When
// the write fails nothing of it stays, so that a full disk leaves a readable log.
func (l *runLog) addWith(make func() (entry, error)) error {
	return l.locked(func() error {
		if err := l.refresh(); err != nil {
			return err
		}
		e, err := make()
		if err != nil {
			return err
		}
		line, err := json.Marshal(e)
		if err != nil {
			return err
		}
		line = append(line, '\n')
		_, err = l.f.WriteAt(line, l.size)
		if err == nil {
			err = l.f.Sync()
		}
		if err != nil {
			return errors.Join(fmt.Errorf("write the run's record: %w", err), l.f.Truncate(l.size))
		}
		l.size += int64(len(line))
		l.entries = append(l.entries, e)
		return nil
	})
}

// readLog calls each with the entries of a log, one at a time: what is only looked at is
// not kept in memory.
func readLog(path string, each func(entry)) error {
	f, err := judge.OpenRegular(path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, _, err = parse(f, maxLog, each)
	return err
}

// parse reads whole lines of at most most bytes, and says how many they took and whether
// something torn comes after them.
func parse(r io.Reader, most int64, each func(entry)) (n int64, torn bool, err error) {
	lines := bufio.NewScanner(io.LimitReader(r, most+1))
	lines.Buffer(nil, maxLog+1)
	lines.Split(func(b []byte, end bool) (int, []byte, error) { // with its line feed, unless it is torn
		if i := bytes.IndexByte(b, '\n'); i >= 0 {
			return i + 1, b[:i+1], nil
		}
		if end && len(b) > 0 {
			return len(b), b, nil
		}
		return 0, nil, nil
	})
	for at := 1; lines.Scan(); at++ {
		line := lines.Bytes()
		if n+int64(len(line)) > most {
			return 0, false, errLogTooLarge
		}
		if line[len(line)-1] != '\n' {
			return n, true, nil
		}
		var e entry
		if err := json.Unmarshal(line, &e); err != nil {
			return 0, false, fmt.Errorf("%w: line %d: %v", errBadRecord, at, err)
		}
		each(e)
		n += int64(len(line))
	}
	return n, false, lines.Err()
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
