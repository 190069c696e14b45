package quota

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"time"

	"github.com/paxiom/relay/host/internal/coordinator"
	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/host/internal/store"
)

// Rate is what the operator allows one account, over all processes of the machine. It
// works like golang.org/x/time/rate: the bucket holds Burst calls and is refilled at
// PerMinute. PerMinute 0 limits nothing.
type Rate struct {
	PerMinute float64
	Burst     int
}

// Account is an account at a vendor as the processes of this machine share it, or those of
// several machines with a coordinator.
type Account struct {
	doc  coordinator.Document
	rate Rate
	now  func() time.Time
}

// shared is the file.
type shared struct {
	Tokens float64   `json:"tokens"` // below zero: that many calls are in line
	At     time.Time `json:"at"`     // when Tokens was right
	// Tickets are places in line that are still to come, kept for callers that could not
	// wait there.
	Tickets []ticket `json:"tickets,omitempty"`
	// Out has, by model, until when the vendor refuses.
	Out map[string]out `json:"out,omitempty"`
}

type ticket struct {
	Owner string    `json:"owner"`
	Turn  time.Time `json:"turn"`
}

type out struct {
	At     time.Time `json:"at"`
	Until  time.Time `json:"until"`
	Reason string    `json:"reason"`
	Name   string    `json:"name,omitempty"`
}

// farthest is the longest that a turn is away, however low the rate is.
const farthest = 100 * 365 * 24 * time.Hour

// lapse is how long after its turn a kept place is given up.
const lapse = 10 * time.Minute

// Open names the account. It touches nothing. A nil now is the clock of the machine.
func Open(stateDir, name string, r Rate, now func() time.Time) *Account {
	if now == nil {
		now = time.Now
	}
	if r.Burst < 1 {
		r.Burst = 1
	}
	a := &Account{doc: coordinator.At("accounts/" + name), rate: r, now: now}
	if a.doc == nil {
		a.doc = store.File{Path: filepath.Join(stateDir, "accounts", name+".json"), Scratch: true} // at worst a bucket starts over
	}
	return a
}

// NotYet says that the account's rate leaves no room within the time that the caller
// has. Its place in line is kept for its owner until a while after Turn.
type NotYet struct{ Turn time.Time }

// Error says it in words.
func (n *NotYet) Error() string {
	return "the rate that is set for this account has no room before " + n.Turn.Local().Format(time.TimeOnly)
}

// Take waits for this call's turn, at most for so long. Calls are let in in the order
// in which they asked, whichever process they are of. told is called once when there is
// something to wait for; it may be nil. The error is a *NotYet, the context's, or that
// of a state folder that can't be used.
func (a *Account) Take(ctx context.Context, owner string, most time.Duration, told func(time.Duration)) error {
	if a.rate.PerMinute <= 0 {
		return nil
	}
	owner = coordinator.Here() + owner
	var turn time.Time
	var late *NotYet
	err := a.change(func(s *shared, now time.Time) bool {
		turn = s.turn(owner, a.rate, now)
		if late = nil; turn.Sub(now) > most {
			late = &NotYet{turn}
			s.Tickets = append(s.Tickets, ticket{owner, turn})
		}
		return true
	})
	switch {
	case err != nil:
		return err
	case late != nil:
		return late
	}
	wait := turn.Sub(a.now())
	if wait <= 0 {
		return nil
	}
	if told != nil {
		told(wait)
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		_ = a.change(func(s *shared, _ time.Time) bool { s.Tokens++; return true }) // at worst the line stays a call longer
		return ctx.Err()
	}
}

// turn gives the next place in line, or the one that was kept for the owner.
func (s *shared) turn(owner string, r Rate, now time.Time) time.Time {
	if back := s.At.Sub(now); back > 0 { // the clock was set back: that makes nobody wait longer
		for i := range s.Tickets {
			s.Tickets[i].Turn = s.Tickets[i].Turn.Add(-back)
		}
		s.At = now
	}
	s.Tickets = slices.DeleteFunc(s.Tickets, func(t ticket) bool { return now.Sub(t.Turn) > lapse })
	if i := slices.IndexFunc(s.Tickets, func(t ticket) bool { return t.Owner == owner }); i >= 0 {
		turn := s.Tickets[i].Turn
		s.Tickets = slices.Delete(s.Tickets, i, i+1)
		return turn
	}
	perSecond := r.PerMinute / 60
	if s.At.IsZero() {
		s.Tokens = float64(r.Burst)
	} else {
		s.Tokens += now.Sub(s.At).Seconds() * perSecond
	}
	s.Tokens, s.At = min(s.Tokens, float64(r.Burst))-1, now
	if s.Tokens >= 0 {
		return now
	}
	wait := min(-s.Tokens/perSecond, farthest.Seconds())
	return now.Add(time.Duration(wait * float64(time.Second)))
}

// remember is the shortest refusal that other runs are told about.
const remember = time.Minute

// Refused tells the other runs of the machine that the vendor refuses a model until a
// known time.
func (a *Account) Refused(l report.Limit) error {
	if l.Until.Sub(a.now()) < remember {
		return nil
	}
	return a.change(func(s *shared, _ time.Time) bool {
		if s.Out == nil {
			s.Out = map[string]out{}
		}
		s.Out[l.Model] = out{l.At, l.Until, l.Reason, l.Name}
		return true
	})
}

// Answered says that the model has answered: whatever was said of it is over.
func (a *Account) Answered(model string) error {
	if s, err := a.read(); err != nil || s.Out[model] == (out{}) {
		return err
	}
	return a.change(func(s *shared, _ time.Time) bool {
		delete(s.Out, model)
		return true
	})
}

// Known gives what other runs have said of the model, nil when nothing is known against
// asking it. Role and provider are the caller's to add.
func (a *Account) Known(model string) *report.Limit {
	s, err := a.read()
	if err != nil {
		return nil
	}
	o := s.Out[model]
	if !o.Until.After(a.now()) {
		return nil
	}
	return &report.Limit{Model: model, Reason: o.Reason, Name: o.Name, At: o.At, Until: o.Until, Summary: "another run of this machine met the limit"}
}

// change reads what is known, lets do change it, and writes it when do says so.
func (a *Account) change(do func(s *shared, now time.Time) bool) error {
	return a.doc.Change(func(raw []byte) ([]byte, error) {
		s, now := decode(raw), a.now().UTC()
		for model, o := range s.Out {
			if !o.Until.After(now) {
				delete(s.Out, model)
			}
		}
		if !do(s, now) {
			return nil, nil
		}
		return json.Marshal(s)
	})
}

// decode gives what is known; what can't be understood says nothing.
func decode(raw []byte) *shared {
	s := &shared{}
	if json.Unmarshal(raw, s) != nil {
		return &shared{}
	}
	return s
}

func (a *Account) read() (*shared, error) {
	raw, err := a.doc.Read()
	return decode(raw), err
}
