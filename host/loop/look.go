package loop

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/paxiom/relay/host/durable"
	"github.com/paxiom/relay/host/fault"
	"github.com/paxiom/relay/host/internal/quota"
	"github.com/paxiom/relay/host/internal/workspace"
)

// Progress is how far a loop has come, as those see it who look from outside.
type Progress struct {
	PID       int       `json:"pid"`
	Tick      int       `json:"tick"` // the one under way, or the last one
	Mode      Mode      `json:"mode"`
	BeganAt   time.Time `json:"began_at"`
	UpdatedAt time.Time `json:"updated_at"`
	Reason    Reason    `json:"reason,omitempty"` // why it ended; "" while it goes on and after a crash
	Why       string    `json:"why,omitempty"`
	// Wait is for the end of a vendor's limit; nil while ticks are made.
	Wait *quota.Wait `json:"wait,omitempty"`
}

func (l *Loop) progress(n int) Progress {
	return Progress{PID: os.Getpid(), Tick: n, Mode: l.o.Mode, BeganAt: l.begun.UTC(), UpdatedAt: l.now().UTC(), Reason: l.out.Reason, Why: l.out.Why}
}

// fail tells those who look that a loop can't go on, unless it was only interrupted.
func (l *Loop) fail(f durable.Flow, n int, err error) error {
	if f.Context().Err() != nil {
		return nil
	}
	p := l.progress(n)
	p.Reason, p.Why = Failed, err.Error()
	return f.Progress(p)
}

// Seen is one loop of the workspace as it stands.
type Seen struct {
	ID      string `json:"id"`
	Running bool   `json:"running"` // a process has it in hand
	CutOff  bool   `json:"cut_off"` // a crash or a signal ended it, and it can go on
	Progress
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
	if _, err := os.Lstat(Dir(ws)); errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	store, err := durable.NewFiles(Dir(ws), nil)
	if err != nil {
		return nil, fault.Internal(err)
	}
	ids, err := store.Newest(lookedAt)
	if err != nil {
		return nil, fault.Internal(err)
	}
	var last *Seen
	for _, id := range ids {
		s := &Seen{ID: id}
		var raw json.RawMessage
		s.Running, raw = store.Glance(id)
		if json.Unmarshal(raw, &s.Progress) != nil && !s.Running {
			continue // cut off before its options were on record: it never began
		}
		s.CutOff = !s.Running && s.Reason == ""
		if s.CutOff { // unless it ended and could not say so: a full disk
			if st, err := store.State(id); err == nil && (st.Status == durable.Done || st.Status == durable.Failed || st.Status == durable.Cancelled) {
				s.CutOff, s.Reason, s.Why = false, Reason(st.Status), st.Error
			}
		}
		if s.Running {
			return s, nil
		}
		if last == nil {
			last = s
		}
	}
	return last, nil
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

// CutOff gives the newest loop when a crash or a signal cut it off, nil when not.
func CutOff(ws *workspace.Workspace) (*Seen, error) {
	s, err := Last(ws)
	if s == nil || !s.CutOff {
		return nil, err
	}
	return s, err
}
