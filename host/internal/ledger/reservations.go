package ledger

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/host/internal/store"
	"github.com/paxiom/relay/host/internal/strictjson"
	"github.com/paxiom/relay/host/internal/workspace"
)

// Reserved is where a run that belongs to no milestone, an audit cycle, has its calls
// written down. Its holder does not have the workspace's lock: several goroutines, and
// several processes beside a tick, have reservations at the same time. What is reserved and not
// settled stands in reserved.json; what is settled in usage.jsonl, like all calls.
type Reservations struct {
	// Again is the command that continues what the calls are for; "" is relay run.
	Again string

	ws       *workspace.Workspace
	caps     config.Budgets
	stateDir string
	cycle    string
	prices   *priceTable // the operator's own; nil for the built-in ones
	mu       sync.Mutex
}

// reservationsFile is reserved.json.
type reservationsFile struct {
	SchemaVersion int       `json:"schema_version"` // 1
	Calls         []Pending `json:"calls"`
}

// OpenReservations opens the reservations of a cycle, which no other process may have in hand, and
// settles the calls that a crash left open: by their line where there is one, by known
// (may be nil) where the cycle has kept what they used, and as unknown where nobody
// knows. It gives the ids of those last.
func OpenReservations(ws *workspace.Workspace, caps config.Budgets, stateDir, cycle string, known func(id string) *Usage) (t *Reservations, lost []string, err error) {
	caps.PerRun = config.Caps{} // a run is a tick
	own, err := ownPrices(caps.PricesFile)
	if err != nil {
		return nil, nil, err
	}
	t = &Reservations{ws: ws, caps: caps, stateDir: stateDir, cycle: cycle, prices: own}
	err = t.locked(func(open *reservationsFile) error {
		for _, p := range open.Calls {
			if p.CycleID != cycle {
				continue
			}
			usage := &Usage{Outcome: "interrupted"}
			if known != nil {
				if u := known(p.CallID); u != nil {
					usage = u
				}
			}
			line, err := t.settleLost(p, *usage)
			if err != nil {
				return err
			}
			if line.Outcome == "interrupted" {
				lost = append(lost, p.CallID)
			}
		}
		open.Calls = slices.DeleteFunc(open.Calls, func(p Pending) bool { return p.CycleID == cycle })
		return nil
	})
	return t, lost, err
}

func (t *Reservations) settleLost(p Pending, u Usage) (*Line, error) {
	l, err := t.book()
	if err != nil {
		return nil, err
	}
	line, err := l.lineOf(p)
	if err != nil {
		return nil, err
	}
	if line == nil {
		made := p.line("", u, l.prices)
		if err := appendUsage(t.ws, made); err != nil {
			return nil, err
		}
		line = &made
	}
	return line, l.account(p.CallID, line)
}

// book is the workspace's ledger, for its caps; nothing of it is written.
func (t *Reservations) book() (*Ledger, error) {
	l, err := Look(t.ws, t.caps, t.stateDir)
	if l != nil {
		l.Again = t.Again
	}
	return l, err
}

// Hold is a call that was reserved and not yet settled.
type Hold struct {
	t    *Reservations
	call Pending
	done bool
}

// Reserve writes a call down before it is made. The errors are those of
// [Ledger.Reserve]; a milestone's caps do not concern it. caps are its own.
func (t *Reservations) Reserve(c Call, caps ...Cap) (*Hold, error) {
	if c.ID == "" || len(c.ID) > 200 {
		return nil, fmt.Errorf("ledger: a call id has 1 to 200 bytes")
	}
	h := &Hold{t: t}
	err := t.locked(func(open *reservationsFile) error {
		if slices.ContainsFunc(open.Calls, func(p Pending) bool { return p.CallID == c.ID }) {
			return fmt.Errorf("ledger: call %q is reserved already", c.ID)
		}
		offset, err := sizeOf(t.ws.Usage())
		if err != nil {
			return err
		}
		h.call = Pending{CallID: c.ID, RunID: clip(c.RunID, 80), Role: clip(c.Role, 40), Provider: clip(c.Provider, 64), Model: clip(c.Model, 200),
			At: now(), MaxUSD: sane(c.MaxUSD), CycleID: t.cycle, Offset: offset}
		l, err := t.book()
		for _, c := range caps {
			if err == nil {
				err = l.within(c, h.call)
			}
		}
		if err == nil {
			err = l.admit(h.call)
		}
		if err != nil {
			return err
		}
		open.Calls = append(open.Calls, h.call)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return h, nil
}

// Covers says why a call could not be reserved now, nil when it could; it reserves nothing.
func (t *Reservations) Covers(c Call) error {
	l, err := t.book()
	if err != nil {
		return err
	}
	return l.foresee(Pending{CallID: c.ID, RunID: c.RunID, Provider: c.Provider, MaxUSD: sane(c.MaxUSD), CycleID: t.cycle})
}

// ID is the reserved call's; Line what Settle would write.
func (h *Hold) ID() string        { return h.call.CallID }
func (h *Hold) Line(u Usage) Line { return h.call.line("", u, h.t.prices) }

// Settle writes what the call used and clears the reservation. A second call does
// nothing.
func (h *Hold) Settle(u Usage) error {
	line := h.Line(u)
	return h.close(&line)
}

// Cancel takes the reservation back: the call was never sent, or bought nothing. Nothing
// is written to usage.jsonl. After Settle it does nothing.
func (h *Hold) Cancel() error { return h.close(nil) }

// close clears the reservation; line is nil for a call that used nothing.
func (h *Hold) close(line *Line) error {
	if h.done {
		return nil
	}
	err := h.t.locked(func(open *reservationsFile) error {
		if line != nil {
			if err := appendUsage(h.t.ws, *line); err != nil {
				return err
			}
		}
		open.Calls = slices.DeleteFunc(open.Calls, func(p Pending) bool { return p.CallID == h.call.CallID })
		return nil
	})
	if err != nil {
		return err
	}
	h.done = true
	l, err := h.t.book()
	if err != nil {
		return err
	}
	return l.account(h.call.CallID, line)
}

// Standings are the cycle's and the day's caps with what is used of them; Alerts those
// that are over the alert fraction, one line each.
func (t *Reservations) Standings() (all []Standing, alerts []string, err error) {
	l, err := t.book()
	if err != nil {
		return nil, nil, err
	}
	w, err := l.cycleWindow(t.cycle)
	if err != nil {
		return nil, nil, err
	}
	all, err = l.Standings()
	all = append(w.standings(), all...)
	for _, s := range all {
		if at := t.caps.AlertAtFraction; at > 0 && s.Used >= at*s.Max {
			alerts = append(alerts, s.String())
		}
	}
	return all, alerts, err
}

// locked reads reserved.json, lets do change it, and writes it when it changed.
func (t *Reservations) locked(do func(*reservationsFile) error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	path := t.ws.Reserved()
	unlock, err := store.Lock(path + ".lock")
	if err != nil {
		return appendFault(path+".lock", err)
	}
	defer unlock()
	calls, err := openReservations(t.ws)
	if err != nil {
		return err
	}
	open := &reservationsFile{SchemaVersion: 1, Calls: slices.Clone(calls)}
	if err := do(open); err != nil {
		return err
	}
	if slices.Equal(calls, open.Calls) {
		return nil
	}
	return workspace.WriteJSON(path, open)
}

// Damaged are the files of calls under way that can't be read. Without them such calls are lost
// from the books.
func Damaged(ws *workspace.Workspace) []string {
	if _, err := openReservations(ws); err != nil {
		return []string{ws.Reserved()}
	}
	return nil
}

// openReservations are the calls of workflows that are not settled.
func openReservations(ws *workspace.Workspace) ([]Pending, error) {
	open, err := workspace.ReadJSON[reservationsFile](ws.Reserved(), workspace.MaxRunnerFile, strictjson.Unmarshal)
	if open == nil || err != nil {
		return nil, err
	}
	return open.Calls, nil
}

func appendUsage(ws *workspace.Workspace, line Line) error {
	b, err := json.Marshal(line)
	if err != nil {
		return err
	}
	return appendLine(ws.Usage(), b)
}
