package pipeline

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/paxiom/relay/host/durable"
	"github.com/paxiom/relay/host/fault"
	"github.com/paxiom/relay/host/internal/queue"
	"github.com/paxiom/relay/host/internal/workspace"
)

// Seen is the newest run over the task list as it stands.
type Seen struct {
	RunID     string    `json:"run_id"`
	StartedAt time.Time `json:"started_at"`
	Since     time.Time `json:"since"` // when it came to stand still, or its newest attempt began
	Running   bool      `json:"running"`
	PID       int       `json:"pid,omitempty"`
	// Ended: it came to its end. A run that did not goes on with the next one.
	Ended bool `json:"ended"`
	Stop
	// Open are the attempts that have not ended.
	Open []*Trail `json:"-"`
}

// Stop is how a run came to stand still.
type Stop struct {
	Reason Reason `json:"reason,omitempty"` // "" while it runs, and after a crash
	Why    string `json:"why,omitempty"`
	Fix    string `json:"fix,omitempty"` // what to type where a fault ended it
	// ByOperator: a person ended it before its time, and only a person goes on with it.
	ByOperator bool `json:"by_operator,omitempty"`
}

// CutOff says that a process was ended in the middle of the run.
func (s *Seen) CutOff() bool {
	return !s.Running && !s.Ended && (s.Reason == "" || s.Reason == Interrupted)
}

// Asleep is the attempt whose wait for a vendor's limit ends first; nil when none waits.
func (s *Seen) Asleep() *Trail {
	var first *Trail
	for _, t := range s.Open {
		if t.Wait != nil && (first == nil || t.Wait.Until.Before(first.Wait.Until)) {
			first = t
		}
	}
	return first
}

// Look gives the newest run of the workspace, nil when there was none. It changes nothing;
// pid is the process that runs it, 0 when none does.
func Look(ws *workspace.Workspace, pid int) (*Seen, error) {
	rec, err := readRecord(ws)
	if rec == nil || err != nil {
		return nil, err
	}
	s := &Seen{RunID: rec.RunID, StartedAt: rec.StartedAt, Since: rec.StartedAt, Running: pid > 0, PID: pid, Ended: !rec.EndedAt.IsZero(), Stop: rec.Stop}
	if !rec.StoppedAt.IsZero() {
		s.Since = rec.StoppedAt
	}
	if s.Running {
		s.Ended, s.Stop = false, Stop{}
	}
	s.Open, err = Open(ws)
	for _, t := range s.Open {
		if rec.StoppedAt.IsZero() && s.Since.Before(t.StartedAt) {
			s.Since = t.StartedAt
		}
	}
	return s, err
}

// sleeps reports whether the wait of an attempt is still to be ended: `relay wake` notes its
// end in the attempt's log, not in its trail, which belongs to the run.
func sleeps(ws *workspace.Workspace, t *Trail) bool {
	store, err := durable.NewFiles(dir(ws, tasksDir), nil)
	if err != nil {
		return false
	}
	st, err := store.State(t.Attempt)
	return err == nil && st.Status == durable.Sleeping
}

// runKind is that of a run over the task list in the operator's queue.
const runKind = "pipeline"

// shown puts the run into queue.md, which nobody renews once it is killed: so its entry
// says what to do then.
func (p *Pipeline) shown() error {
	return queue.Put(p.env.WS, queue.Entry{ID: p.rec.RunID, Kind: runKind, Since: p.rec.StartedAt, What: fmt.Sprintf("works on the tasks as process %d", os.Getpid()),
		Next: "Where that process is gone, `relay pipeline run` goes on with it", Running: true})
}

// stopped notes how the run came to stand still, for those who look.
func (p *Pipeline) stopped(by error, err error) error {
	p.rec.StoppedAt = p.now().UTC()
	p.rec.Stop = Stop{Reason: p.out.Reason, Why: p.out.Why}
	var who interface{ ByOperator() bool }
	switch {
	case p.out.Reason == NothingLeft:
		p.rec.EndedAt = p.rec.StoppedAt
	case p.out.Reason == Interrupted:
		p.rec.ByOperator = errors.As(by, &who) && who.ByOperator()
	case p.out.Reason == "" && err != nil:
		f := fault.Internal(err)
		p.rec.Stop = Stop{Reason: Blocked, Why: strings.TrimSuffix(f.What+": "+f.Why, ": "), Fix: f.Fix}
	}
	if r := p.rec.Stop; r.Reason == Blocked || r.Reason == LimitLasts {
		e := queue.Entry{ID: p.rec.RunID, Kind: runKind, Since: p.rec.StoppedAt, What: oneLine(r.Why), Next: "`relay pipeline run` goes on with it"}
		if r.Fix != "" {
			e.Next = r.Fix + "; then `relay pipeline run`"
		}
		return firstOf(queue.Put(p.env.WS, e), p.writeRecord())
	}
	return firstOf(queue.Drop(p.env.WS, runKind, p.rec.RunID), p.writeRecord())
}
