package durable_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/paxiom/relay/host/durable"
)

// clock is a clock that stands still until it is moved.
type clock struct {
	mu   sync.Mutex
	now  time.Time
	wait []chan time.Time
}

// newClock starts at a fixed instant.
func newClock() *clock { return &clock{now: time.Date(2026, 11, 20, 22, 0, 0, 0, time.UTC)} }

// Now implements [durable.Clock].
func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// After implements [durable.Clock]: it fires at the next move of the clock, whatever
// d is, as a timer of a machine that slept would.
func (c *clock) After(time.Duration) <-chan time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	ch := make(chan time.Time, 1)
	c.wait = append(c.wait, ch)
	return ch
}

// Watched reports whether somebody waits for a move.
func (c *clock) Watched() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.wait) > 0
}

// Move advances the clock and wakes every sleeper for a look.
func (c *clock) Move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	for _, ch := range c.wait {
		ch <- c.now
	}
	c.wait = nil
}

type crash struct{}

// rule is one thing that workflows rely on.
type rule struct {
	id, text string
	check    func(t *testing.T, s *session)
}

type session struct {
	dir   string
	clock *clock
	e     *durable.Files
}

func (s *session) restart(t *testing.T) { s.e = open(t, s.dir, s.clock) }

// run runs w and turns a panic with crash{} into "the process died here".
func (s *session) run(id string, version int, w durable.Workflow) (st durable.State, err error, died bool) {
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(crash); !ok {
				panic(r)
			}
			died = true
		}
	}()
	st, err = s.e.Run(context.Background(), id, "test", version, w)
	return st, err, false
}

// TestRules checks each rule that workflows rely on.
func TestRules(t *testing.T) {
	for _, r := range rules {
		t.Run(r.id, func(t *testing.T) {
			t.Log(r.text)
			s := &session{dir: t.TempDir(), clock: newClock()}
			s.restart(t)
			r.check(t, s)
		})
	}
}

var rules = []rule{
	{"D1", "a step that was recorded is never done again", once},
	{"D2", "a step that died under way is asked for again, with the same key and Again set", again},
	{"D3", "a crash at any point of a run changes nothing about its final result", anyCrash},
	{"D4", "keys differ between steps, places and runs", keys},
	{"D5", "a step's failure is recorded and is the same failure after a restart", failure},
	{"D6", "a wait parks the run, outlives a restart, and its answer comes back once", wait},
	{"D7", "an answer to a question that was not asked, or was answered, is refused", answers},
	{"D8", "a sleep outlives a restart, keeps its first end, and ends by the wall clock", sleep},
	{"D9", "a sleep can be ended from outside", awake},
	{"D10", "two processes never have one run in hand", busy},
	{"D12", "a workflow that changed under a run that had begun is refused and loses nothing", diverged},
	{"D13", "cancelling interrupts a step without recording it; the run can continue", interrupt},
	{"D14", "a cancelled or ended run stays so", ended},
	{"D15", "the time handed out is the same after a restart", now},
	{"D16", "a result over the limit is refused", large},
	{"D17", "reading a run never keeps it from running", looked},
	{"D18", "a clock that is set back makes no sleep longer, whether before or after a restart", setBack},
}
