package pipeline

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/paxiom/relay/host/internal/ledger"
	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/host/pipeline/prd"
)

// Orders are what the operator asked of a run. A run that was cut off keeps them.
type Orders struct {
	Only    string        `json:"only,omitempty"`       // the only task to work on
	Beyond  bool          `json:"beyond,omitempty"`     // tasks may have more than the ceiling gives
	Session time.Duration `json:"session_ns,omitempty"` // cap of one cleanup process; 0: the configuration's
	// Parallel is how many tasks are worked on at a time, 0 as one; with more than one, each
	// in a work tree of its own.
	Parallel int    `json:"parallel,omitempty"`
	Push     bool   `json:"push,omitempty"` // after each task that is done
	Key      string `json:"key,omitempty"`  // under which the result of the only task is left, instead of landing it
	Join     string `json:"join,omitempty"` // keys of such results, with commas between them, which land; nothing else is worked on
}

// Flags are the orders as they are typed.
func (o Orders) Flags() string {
	var f []string
	if o.Only != "" {
		f = append(f, "--only "+o.Only)
	}
	if o.Key != "" {
		f = append(f, "--key "+o.Key)
	}
	if o.Join != "" {
		f = append(f, "--join "+o.Join)
	}
	if o.Parallel > 1 {
		f = append(f, fmt.Sprintf("--parallel %d", o.Parallel))
	}
	if o.Push {
		f = append(f, "--push")
	}
	if o.Beyond {
		f = append(f, "--beyond-ceiling")
	}
	if o.Session > 0 {
		f = append(f, fmt.Sprintf("--max-session-minutes %d", o.Session/time.Minute))
	}
	return strings.Join(f, " ")
}

// Options are one run's.
type Options struct {
	Orders
	Set []string // settings of the call, for the record
	// These may be nil. Drain asks for an end after the task under way, OnTask is told
	// of every task that came to an end, After is called when its end is on record, with the
	// newest commit that relay made for it, "" for none.
	Drain  func() bool
	OnTask func(*Record)
	After  func(ctx context.Context, t *Record, commit string) error
	// Leave puts the result of an attempt under its key. Results are those to join.
	Leave   func(ctx context.Context, t *Record, r *report.Report) error
	Results []Handed
}

// Reason is why a run ended.
type Reason string

// The reasons.
const (
	NothingLeft Reason = "done"        // no task is left that it could work on
	Drained     Reason = "drained"     // the operator asked for an end after the task
	LimitLasts  Reason = "limit"       // a vendor's limit lasts longer than limits.max_wait
	Interrupted Reason = "interrupted" // a signal, or the operator asked for an end now
	Blocked     Reason = "blocked"     // a fault that a person mends first
)

// Words say it to a person.
func (r Reason) Words() string {
	switch r {
	case NothingLeft:
		return "no task is left that this run could work on"
	case Drained:
		return "you asked for an end after the task"
	case LimitLasts:
		return "a vendor's limit lasts too long to wait for"
	case Blocked:
		return "something has to be fixed first"
	}
	return string(r)
}

// Outcome is how a run ended.
type Outcome struct {
	RunID    string
	Reason   Reason
	Why      string
	Tasks    []*Record     // that this run worked on, in the order of their ends
	Replaced []Replacement // who was replaced for the rest of the run
	Waiting  []string      // tasks that wait for the operator
	Failed   []*Record     // in this run or an earlier one; with --only in this one
	Counts   map[prd.Status]int
	Held     map[string]string // tasks that can't start, by the failed task that holds them
	Spend    ledger.Sum
}
