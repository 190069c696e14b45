package loop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/durable"
	"github.com/paxiom/relay/host/internal/quota"
	"github.com/paxiom/relay/host/internal/workspace"
)

// Progress is how far a loop has come, as those see it who look from outside.
type Progress struct {
	PID       int       `json:"pid"`
	Tick      int       `json:"tick"` // the one under way, or the last one
	Mode      Mode      `json:"mode"`
	Set       []string  `json:"set,omitempty"`    // the settings of its call, lowest first
	BeganAt   time.Time `json:"began_at"`         // when the loop began
	UpdatedAt time.Time `json:"updated_at"`       // when its state was last written
	Reason    Reason    `json:"reason,omitempty"` // why it ended; "" while it continues and after a crash
	Why       string    `json:"why,omitempty"`
	// Again begins a loop with what was left of this one's limits when it ended.
	Again string `json:"again,omitempty"`
	// Next is what to type about its last tick, as that tick said.
	Next string `json:"next,omitempty"`
	// Wait is for the end of a vendor's limit; nil while ticks are made.
	Wait *quota.Wait `json:"wait,omitempty"`
	// Held is what the operator has to end before the next tick begins.
	Held string `json:"held,omitempty"`
	// ByOperator: a person ended it before its time, and only a person continues it.
	ByOperator bool `json:"by_operator,omitempty"`
}

// seen is what others see of a loop.
type seen struct {
	mu sync.Mutex
	Progress
}

// show lets others see where the loop stands.
func (l *Loop) show(f durable.Flow, p Progress) error {
	l.seen.mu.Lock()
	defer l.seen.mu.Unlock()
	p.ByOperator = l.seen.ByOperator
	l.seen.Progress = p
	return f.Progress(p)
}

// noteEnd writes down that a person ends the loop, as soon as that is asked for: a second
// Ctrl-C leaves no time for it later. Whether the cause of ctx is a person it says itself.
func (l *Loop) noteEnd(f durable.Flow) (stop func()) {
	ctx, noted := f.Context(), make(chan struct{})
	cancel := context.AfterFunc(ctx, func() {
		defer close(noted)
		var who interface{ ByOperator() bool }
		if !errors.As(context.Cause(ctx), &who) || !who.ByOperator() {
			return
		}
		l.seen.mu.Lock()
		defer l.seen.mu.Unlock()
		if l.seen.ByOperator = true; !l.seen.BeganAt.IsZero() {
			_ = f.Progress(l.seen.Progress) // at worst it looks as if the machine had ended it
		}
	})
	return func() {
		if !cancel() {
			<-noted
		}
	}
}

func (l *Loop) progress(n int) Progress {
	return Progress{PID: os.Getpid(), Tick: n, Mode: l.o.Mode, Set: l.o.Set, BeganAt: l.begun.UTC(), UpdatedAt: l.now().UTC(), Reason: l.out.Reason, Why: l.out.Why}
}

// fail tells those who look that a loop can't continue, unless it was only interrupted.
func (l *Loop) fail(f durable.Flow, n int, err error) error {
	if f.Context().Err() != nil {
		return nil
	}
	p := l.progress(n)
	p.Reason, p.Why = Failed, err.Error()
	return l.show(f, p)
}

// Seen is one loop of the workspace as it stands.
type Seen struct {
	ID      string `json:"id"`      // of the loop
	Running bool   `json:"running"` // a process has it in hand
	CutOff  bool   `json:"cut_off"` // a crash or a signal ended it, and it can continue
	Progress
}

// Broke says how a loop that was cut off came to that, after its name.
func (s *Seen) Broke() string {
	if s.ByOperator {
		return fmt.Sprintf("was ended by you in tick %d", s.Tick)
	}
	return fmt.Sprintf("was cut off in tick %d", s.Tick)
}

const (
	keptLoops = 50 // the records of older ones are removed when a loop begins
	lookedAt  = 5  // how many of the newest loops are looked at for one that runs
)

// Dir is where the loops of a workspace are recorded.
func Dir(ws *workspace.Workspace) string { return filepath.Join(ws.Dir(), "loops") }

// Last gives the loop that runs, or else the newest one; nil when there was none. It
// costs the same however many loops there were and however long they are.
func Last(ws *workspace.Workspace) (*Seen, error) {
	return last(ws, func(*Seen) bool { return false })
}

// last is Last without the loops of which skip reports true, unless they run.
func last(ws *workspace.Workspace, skip func(*Seen) bool) (*Seen, error) {
	return newest(ws, skip, func(store *durable.Files, s *Seen) bool {
		var raw json.RawMessage
		s.Running, raw = store.Glance(s.ID)
		if json.Unmarshal(raw, &s.Progress) != nil && !s.Running && !damaged(ws, s.ID) {
			return false // cut off before its options were on record: it never began
		}
		s.CutOff = !s.Running && s.Reason == ""
		if s.CutOff { // unless it ended and could not say so: a full disk
			if st, err := store.State(s.ID); err == nil {
				s.settle(st)
			}
		}
		return true
	})
}

// Look gives the loop that runs, or else the newest one, and takes no lock: running says
// whether a process works here.
func Look(ws *workspace.Workspace, running func(pid int) bool) *Seen {
	s, _ := newest(ws, func(*Seen) bool { return false }, func(store *durable.Files, s *Seen) bool {
		if json.Unmarshal(store.Peek(s.ID), &s.Progress) != nil && !damaged(ws, s.ID) {
			return false
		}
		s.Running = s.Reason == "" && running(s.PID)
		s.CutOff = !s.Running && s.Reason == ""
		return true
	})
	return s
}

// damaged reports whether a loop had shown itself: where that can't be read it was cut off, as far as
// anybody knows.
func damaged(ws *workspace.Workspace, id string) bool {
	_, err := os.Lstat(filepath.Join(Dir(ws), id, "progress.json"))
	return err == nil
}

// newest gives the loop that runs, or else the newest one that glance knows something of
// and skip does not leave out.
func newest(ws *workspace.Workspace, skip func(*Seen) bool, glance func(*durable.Files, *Seen) bool) (first *Seen, err error) {
	if _, err := os.Lstat(Dir(ws)); errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	store, err := durable.NewFiles(Dir(ws), nil)
	if err != nil {
		return nil, diag.Internal(err)
	}
	ids, err := store.Newest(lookedAt)
	if err != nil {
		return nil, diag.Internal(err)
	}
	for _, id := range ids {
		s := &Seen{ID: id}
		if !glance(store, s) {
			continue
		}
		if s.Running {
			return s, nil
		}
		if first == nil && !skip(s) {
			first = s
		}
	}
	return first, nil
}

// settle corrects what a loop could not say any more by what is on record.
func (s *Seen) settle(st durable.State) {
	switch st.Status {
	case durable.Done, durable.Failed, durable.Cancelled:
		s.CutOff, s.Reason, s.Why = false, Reason(st.Status), st.Error
	case durable.Sleeping: // the wait continues
	default:
		if st.Changed.After(s.UpdatedAt) { // relay wake ended it after it had been shown
			s.Wait = nil
		}
	}
}

// Running gives the loop of the workspace that a process has in hand now, nil when
// there is none.
func Running(ws *workspace.Workspace) (*Seen, error) {
	s, err := Last(ws)
	if s == nil || !s.Running {
		return nil, err
	}
	return s, err
}

// CutOff gives the newest loop when a crash or a signal cut it off, nil when not. A loop
// that was blocked in its first tick takes nothing away from the one before it.
func CutOff(ws *workspace.Workspace) (*Seen, error) {
	s, err := last(ws, func(s *Seen) bool { return s.Reason == Blocked && s.Tick <= 1 })
	if s == nil || !s.CutOff {
		return nil, err
	}
	return s, err
}
