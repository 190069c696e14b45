package durable

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/judge"
)

// Files keeps each run in a folder:
//
//	<dir>/<id>/log.jsonl      append-only, one entry a line, fsynced before it counts
//	<dir>/<id>/progress.json  the newest progress; not part of the history
//	<dir>/<id>/lock           flock of the process that has the run in hand
type Files struct {
	dir   string
	clock Clock
}

// Clock is the wall clock. After must also notice a clock that jumped, as it does
// when the machine slept.
type Clock interface {
	Now() time.Time
	After(d time.Duration) <-chan time.Time
}

type systemClock struct{}

func (systemClock) Now() time.Time                         { return time.Now() }
func (systemClock) After(d time.Duration) <-chan time.Time { return time.After(d) }

// NewFiles opens the store in dir, which is made when it is missing. A nil clock is
// the system's.
func NewFiles(dir string, clock Clock) (*Files, error) {
	if clock == nil {
		clock = systemClock{}
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	return &Files{dir: dir, clock: clock}, nil
}

var nameRE = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`) })

func checkName(what, name string) error {
	if !nameRE().MatchString(name) {
		return fmt.Errorf("%s %q: use 1 to 100 letters, digits, dots, dashes and underscores", what, name)
	}
	return nil
}

// Run starts or continues the run with this id and returns its state when it ends,
// parks or is canceled. kind and version name the workflow's code. A run that another
// process has in hand gives [ErrBusy].
func (s *Files) Run(ctx context.Context, id, kind string, version int, w Workflow) (State, error) {
	if err := checkName("run", id); err != nil {
		return State{}, err
	}
	dir := filepath.Join(s.dir, id)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return State{}, err
	}
	release, err := take(filepath.Join(dir, "lock"))
	if err != nil {
		return State{}, err
	}
	defer release()
	l, err := openLog(filepath.Join(dir, "log.jsonl"))
	if err != nil {
		return State{}, err
	}
	defer l.close()
	f := &fileFlow{ctx: ctx, store: s, id: id, dir: dir, log: l, version: version}
	if err := f.begin(kind, version); err != nil {
		return State{}, err
	}
	if err := f.end(w(f)); err != nil {
		return State{}, err
	}
	st := State{ID: id, Status: Interrupted}
	for _, e := range l.entries {
		e.addTo(&st)
	}
	return s.describe(st), ctx.Err()
}

// lookTime is the longest that reading a run may keep it from running.
const lookTime = 10 * time.Second

// take takes the lock of a run. [Files.Glance] briefly holds it in shared mode; if a shared
// lock fails too, another process is running this run.
func take(path string) (release func() error, err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	for began := time.Now(); ; time.Sleep(time.Millisecond) {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return f.Close, nil
		}
		if busy := errors.Is(err, syscall.EWOULDBLOCK); busy && (held(path) || time.Since(began) > lookTime) {
			return nil, errors.Join(ErrBusy, f.Close())
		} else if !busy && !errors.Is(err, syscall.EINTR) {
			return nil, errors.Join(err, f.Close())
		}
	}
}

// held reports whether a process that runs a run has its lock.
func held(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	return errors.Is(syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB), syscall.EWOULDBLOCK)
}

// Answer gives the answer to a wait, or ends a sleep. Answering twice, or a question
// that was not asked, is an error. It appends to the log of a parked run; a run that
// sleeps inside a process notices the line by itself.
func (s *Files) Answer(id, name string, answer any) error {
	raw, err := json.Marshal(answer)
	if err != nil {
		return err
	}
	return s.append(id, func(es []entry) (entry, error) {
		open := false
		for _, e := range es {
			switch {
			case e.Kind == kindDone || e.Kind == kindFailed || e.Kind == kindCancelled:
				return entry{}, ErrEnded
			case (e.Kind == kindWait || e.Kind == kindSleep) && e.Name == name:
				open = true
			case (e.Kind == kindAnswer || e.Kind == kindAwake) && e.Name == name:
				return entry{}, ErrAnswered
			}
		}
		if !open {
			return entry{}, ErrNotAsked
		}
		return entry{Kind: kindAnswer, Name: name, Result: raw}, nil
	})
}

// Wake ends the sleep of a run, if it sleeps.
func (s *Files) Wake(id string) error {
	st, err := s.State(id)
	if err == nil && st.Status == Sleeping {
		err = s.Answer(id, st.Waiting, "operator")
	}
	if errors.Is(err, ErrAnswered) {
		return nil
	}
	return err
}

// Cancel ends a run for good: no later Run continues it.
func (s *Files) Cancel(id, reason string) error {
	return s.append(id, func(es []entry) (entry, error) {
		if n := len(es); n > 0 && es[n-1].ends() {
			return entry{}, ErrEnded
		}
		return entry{Kind: kindCancelled, Error: reason}, nil
	})
}

// append adds one entry that make decides from what is there. The log's own lock
// orders it against the process that has the run in hand.
func (s *Files) append(id string, make func([]entry) (entry, error)) error {
	if err := checkName("run", id); err != nil {
		return err
	}
	path := filepath.Join(s.dir, id, "log.jsonl")
	if _, err := os.Stat(path); err != nil {
		return ErrUnknown
	}
	l, err := openLog(path)
	if err != nil {
		return err
	}
	defer l.close()
	return l.addWith(func() (entry, error) {
		e, err := make(l.entries)
		e.At = s.clock.Now()
		return e, err
	})
}

// Given is the answer that a question of a run has, and since when; nil when it has none.
func (s *Files) Given(id, name string) (json.RawMessage, time.Time, error) {
	if err := checkName("run", id); err != nil {
		return nil, time.Time{}, err
	}
	var first entry
	err := readLog(filepath.Join(s.dir, id, "log.jsonl"), func(e entry) {
		if e.Kind == kindAnswer && e.Name == name && first.Kind == "" {
			first = e
		}
	})
	return first.Result, first.At, err
}

// State describes one run; it starts nothing.
func (s *Files) State(id string) (State, error) {
	if err := checkName("run", id); err != nil {
		return State{}, err
	}
	st, any := State{ID: id, Status: Interrupted}, false
	err := readLog(filepath.Join(s.dir, id, "log.jsonl"), func(e entry) { e.addTo(&st); any = true })
	if errors.Is(err, os.ErrNotExist) || err == nil && !any {
		return State{}, ErrUnknown
	}
	if err != nil {
		return State{}, err
	}
	return s.describe(st), nil
}

// Newest gives the ids of the last n runs, newest first, for stores whose ids sort by
// time. It reads no run.
func (s *Files) Newest(n int) ([]string, error) {
	folders, err := os.ReadDir(s.dir)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, d := range slices.Backward(folders) {
		if len(ids) == n {
			break
		}
		if d.IsDir() {
			ids = append(ids, d.Name())
		}
	}
	return ids, nil
}

// Glance reports whether a process has the run in hand, and gives its newest progress. It
// costs the same however long the run is.
func (s *Files) Glance(id string) (running bool, progress json.RawMessage) {
	if checkName("run", id) != nil {
		return false, nil
	}
	return held(filepath.Join(s.dir, id, "lock")), s.Peek(id)
}

// maxProgress is the largest progress that is read, in bytes.
const maxProgress = 1 << 20

// Peek gives the newest progress of a run, nil when there is none. It takes no lock.
func (s *Files) Peek(id string) json.RawMessage {
	raw, err := judge.ReadFile(filepath.Join(s.dir, id, "progress.json"), maxProgress)
	if err != nil || !json.Valid(raw) {
		return nil
	}
	return raw
}

// Prune removes the runs before the newest keep, but for those that a process has in hand.
func (s *Files) Prune(keep int) error {
	ids, err := s.Newest(math.MaxInt)
	if err != nil || len(ids) <= keep {
		return err
	}
	for _, id := range ids[keep:] {
		if running, _ := s.Glance(id); running {
			continue
		}
		if err := os.RemoveAll(filepath.Join(s.dir, id)); err != nil {
			return err
		}
	}
	return nil
}

// describe adds to what a run's entries say who holds its lock, and its progress.
func (s *Files) describe(st State) State {
	id := st.ID
	if st.Status == Interrupted && held(filepath.Join(s.dir, id, "lock")) {
		st.Status = Running
	}
	if raw, err := judge.ReadFile(filepath.Join(s.dir, id, "progress.json"), maxProgress); err == nil && json.Valid(raw) {
		st.Progress = raw
	}
	return st
}

func (s *Files) writeProgress(dir string, v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return workspace.WriteScratch(filepath.Join(dir, "progress.json"), raw)
}
