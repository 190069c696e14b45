package durable

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// MaxResult is the largest encoded result of one step, in bytes.
const MaxResult = 64 << 10

// Flow is what a running workflow is given. It is used by one goroutine.
type Flow interface {
	// Context is canceled when the operator stops the run.
	Context() context.Context
	// Record does a step, or hands back its recorded result. Use [Step].
	Record(name string, work func(ctx context.Context, a Attempt) (json.RawMessage, error)) (json.RawMessage, error)
	// Wait hands back the answer to the named question; the name is unique in the run. While there is none the run
	// is parked: Wait returns an error that [Parked] recognises, and the workflow
	// returns it unchanged.
	Wait(name string, about any) (json.RawMessage, error)
	// SleepUntil returns nil once t has passed on the wall clock, however often relay
	// and the machine were restarted meanwhile, or as soon as the wait is ended by
	// [Files.Answer] under the same name. A clock that is set back makes it no longer.
	SleepUntil(name string, t time.Time) error
	// Now is the time as it was when the run first asked at this place.
	Now() (time.Time, error)
	// Progress shows v to those who watch the run; it is not part of its history.
	Progress(v any) error
}

// Attempt says how a step is being asked for.
type Attempt struct {
	// Key is the step's idempotency key: the same for every attempt of this step of
	// this run, and for no other.
	Key string
	// Again is true when an earlier attempt began and never reported its end. The
	// step looks for what that attempt left under Key before it acts.
	Again bool
}

// Workflow is deterministic code over a Flow: the same recorded results give the
// same sequence of requests.
type Workflow func(f Flow) error

// Status is where a run stands.
type Status string

// The statuses of a run.
const (
	Running     Status = "running"     // a process has it in hand
	Interrupted Status = "interrupted" // begun, and no process has it in hand
	Waiting     Status = "waiting"     // parked on a question
	Sleeping    Status = "sleeping"    // until State.Until
	Done        Status = "done"
	Failed      Status = "failed"
	Cancelled   Status = "cancelled"
)

// State describes a run.
type State struct {
	ID       string          `json:"id"`
	Kind     string          `json:"kind"`
	Version  int             `json:"version"`
	Status   Status          `json:"status"`
	Started  time.Time       `json:"started"`
	Changed  time.Time       `json:"changed"`
	Steps    int             `json:"steps"`               // recorded results
	InFlight string          `json:"in_flight,omitempty"` // a step that began and has no result
	Waiting  string          `json:"waiting,omitempty"`   // the question or sleep it is parked on
	About    json.RawMessage `json:"about,omitempty"`     // what the question is about
	Until    time.Time       `json:"until,omitzero"`
	Error    string          `json:"error,omitempty"`
	Progress json.RawMessage `json:"progress,omitempty"`
}

// Errors of a run.
var (
	ErrBusy      = errors.New("another process has this run in hand")
	ErrUnknown   = errors.New("no such run")
	ErrEnded     = errors.New("the run has ended")
	ErrNotAsked  = errors.New("the run is not waiting for this")
	ErrAnswered  = errors.New("this was answered before")
	ErrAsked     = errors.New("this run has used the name before; names of waits and sleeps are unique in a run")
	ErrTooLarge  = errors.New("a step's result is too large to be recorded")
	errParked    = errors.New("parked")
	errBadRecord = errors.New("the run's record cannot be read")
)

// Diverged says that the workflow asked for something else than what its record
// holds at this place: its code changed under a run that had begun.
type Diverged struct {
	Seq            int
	Recorded, Asks string
}

// Error names both sides.
func (d *Diverged) Error() string {
	return fmt.Sprintf("the workflow changed under a run that had begun: entry %d is %s, it now asks for %s", d.Seq, d.Recorded, d.Asks)
}

// StepError is a recorded failure of a step. A later run gets the same one.
type StepError struct {
	Step string
	Text string
}

// Error gives the step's own text.
func (e *StepError) Error() string { return e.Text }

// Parked reports whether an error only means that the run waits.
func Parked(err error) bool { return errors.Is(err, errParked) }

// Step does a piece of work once, or hands back what it gave when it was done. An
// error that the work returns is recorded too, as a [StepError]; an error that wraps
// [Flow.Context]'s own is not, so an interrupted step is asked for again.
func Step[T any](f Flow, name string, work func(ctx context.Context, a Attempt) (T, error)) (T, error) {
	var out T
	raw, err := f.Record(name, func(ctx context.Context, a Attempt) (json.RawMessage, error) {
		v, err := work(ctx, a)
		if err != nil {
			return nil, err
		}
		return json.Marshal(v)
	})
	if err != nil {
		return out, err
	}
	if err := json.Unmarshal(raw, &out); err != nil {
		return out, fmt.Errorf("step %s: %w: %v", name, errBadRecord, err)
	}
	return out, nil
}

// Ask waits for an answer of type T.
func Ask[T any](f Flow, name string, about any) (T, error) {
	var out T
	raw, err := f.Wait(name, about)
	if err != nil {
		return out, err
	}
	if err := json.Unmarshal(raw, &out); err != nil {
		return out, fmt.Errorf("answer %s: %w: %v", name, errBadRecord, err)
	}
	return out, nil
}
