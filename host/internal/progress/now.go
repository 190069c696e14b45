package progress

import (
	"slices"
	"strings"
	"time"
)

// Now is what a running workflow is at: what its events add up to. The zero value is a
// workflow that has said nothing yet.
type Now struct {
	Doing  []Doing `json:"doing"`            // what is under way, oldest first
	Limits []Bound `json:"limits,omitempty"` // of everything together
	Usage  Usage   `json:"usage"`            // with what the calls under way have used until now
	Said   string  `json:"said,omitempty"`   // the last remark that stays on a terminal

	settled Usage
	soon    map[string]Usage // of calls under way
}

// Doing is one state under way; workers side by side have one each.
type Doing struct {
	RunID  string    `json:"run_id,omitempty"`
	State  string    `json:"state"` // of a tick, or a step
	Since  time.Time `json:"since"`
	Acts   []Act     `json:"acts,omitempty"`
	Limits []Bound   `json:"limits,omitempty"`
	Until  time.Time `json:"until,omitzero"` // nothing happens before
}

// Act is what a plugin, or relay itself where Plugin is empty, said last that it does.
type Act struct {
	Plugin string `json:"plugin,omitempty"`
	Text   string `json:"text"`
}

// Bound is a limit of time.
type Bound struct {
	Name  string    `json:"name"`
	Until time.Time `json:"until"`
}

// waiting is the state of a workflow that waits between its states.
const waiting = "waiting"

// Take adds an event.
func (n *Now) Take(e Event) {
	switch e.Kind {
	case Entered:
		n.end(e, func(d Doing) bool { return d.State == waiting || worker(d.RunID, d.State) == worker(e.RunID, e.State) })
		d := Doing{RunID: e.RunID, State: e.State, Since: e.At}
		if e.Plugin != "" {
			d.Acts = []Act{{Plugin: e.Plugin}}
		}
		n.Doing = append(n.Doing, d)
	case Finished:
		n.Said = e.Text
		n.end(e, func(d Doing) bool { return d.RunID == e.RunID && d.State == e.State })
	case Plugin:
		if d := n.find(e); d != nil {
			d.act(e)
		}
	case Limit:
		n.limit(e)
	case Waiting:
		n.wait(e)
	case Notice:
		n.Said = e.Text
	case Spent:
		n.spend(e)
	}
	if e.Kind != Spent {
		n.settle(e.Usage)
	}
}

// worker tells apart who works side by side: the steps of one task, whose name stands
// before the step's, follow each other, and so do the states of one run.
func worker(run, state string) string {
	if i := strings.LastIndexByte(state, ' '); i >= 0 {
		return run + " " + state[:i]
	}
	return run
}

func (n *Now) end(e Event, ended func(Doing) bool) {
	n.Doing = slices.DeleteFunc(n.Doing, ended)
	if len(n.Doing) == 0 {
		n.Limits = slices.DeleteFunc(n.Limits, func(b Bound) bool { return b.Until.Before(e.At) })
	}
}

// find gives what an event is about: its own state, else the newest one.
func (n *Now) find(e Event) *Doing {
	for i := range n.Doing {
		if d := &n.Doing[i]; d.RunID == e.RunID && d.State == e.State {
			return d
		}
	}
	if len(n.Doing) == 0 {
		return nil
	}
	return &n.Doing[len(n.Doing)-1]
}

func (d *Doing) act(e Event) {
	d.Until = time.Time{}
	for i := range d.Acts {
		if d.Acts[i].Plugin == e.Plugin {
			d.Acts[i].Text = e.Text
			return
		}
	}
	d.Acts = append(d.Acts, Act{e.Plugin, e.Text})
}

// limit keeps the last limit of each name: of a state, or of all.
func (n *Now) limit(e Event) {
	to := &n.Limits
	if d := n.find(e); d != nil && e.State != "" {
		to = &d.Limits
	}
	*to = slices.DeleteFunc(*to, func(b Bound) bool { return b.Name == e.Text })
	*to = append(*to, Bound{e.Text, e.Until})
}

func (n *Now) wait(e Event) {
	d := n.find(e)
	if d == nil || e.State == "" {
		n.Doing = append(n.Doing[:0], Doing{RunID: e.RunID, State: waiting, Since: e.At})
		d = &n.Doing[0]
	}
	d.act(Event{Text: e.Text})
	d.Until = e.Until
}

func (n *Now) spend(e Event) {
	if e.Call != "" && e.Soon != (Usage{}) {
		if n.soon == nil {
			n.soon = map[string]Usage{}
		}
		n.soon[e.Call] = e.Soon
	} else {
		delete(n.soon, e.Call)
	}
	n.settle(e.Usage)
}

// settle takes what is settled, and adds the calls under way.
func (n *Now) settle(u Usage) {
	if u != (Usage{}) {
		n.settled = u
	}
	n.Usage = n.settled
	for _, s := range n.soon {
		n.Usage.Add(s)
	}
}
