package ledger

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/coordinator"
	"github.com/paxiom/relay/host/internal/journal"
	"github.com/paxiom/relay/judge"
)

// The roles whose calls have a cap of their own.
const (
	RoleOrchestrator = "orchestrator"
	RoleBuilder      = "builder"
)

// Call is a paid call about to be made.
type Call struct {
	ID       string // unique in the workspace: the idempotency key
	RunID    string
	Role     string // RoleOrchestrator, RoleBuilder, or another, which has no cap of its own
	Provider string // plugin name
	Model    string
	MaxUSD   float64 // the most it may cost; 0: not known
	CycleID  string  // the audit cycle that it is for, ""
}

// Usage is what a call used. nil means that nobody said.
type Usage struct {
	Model            string // that really answered; "" keeps the asked one
	InputTokens      *int64 // without what came from or went to the cache
	OutputTokens     *int64
	CacheReadTokens  *int64
	CacheWriteTokens *int64
	ReasoningTokens  *int64   // part of the output tokens
	CostUSD          *float64 // as reported by the vendor
	CostIsEstimate   bool
	Outcome          string // "ok", "failed", "interrupted"
}

// Reservation is a call that was counted and not yet settled.
type Reservation struct {
	l    *Ledger
	call Pending
	done bool
}

// Reserve counts the call and writes that down before it is made. The error is
// BLOCKED_BUDGET_CAP when a counter is at its cap, BLOCKED_BUDGET_EXHAUSTED when the
// dollars that are left of the milestone, run, cycle or day do not cover it.
func (l *Ledger) Reserve(c Call) (*Reservation, error) {
	if c.ID == "" || len(c.ID) > 200 {
		return nil, fmt.Errorf("ledger: a call id has 1 to 200 bytes")
	}
	for _, p := range l.state.Pending {
		if p.CallID == c.ID {
			return nil, fmt.Errorf("ledger: call %q is reserved already", c.ID)
		}
	}
	d := counterOf(c.Role)
	m, b := l.caps.PerMilestone, l.state.Budgets
	for _, x := range []line{
		{"orchestrator calls", b.OrchestratorCalls, m.MaxOrchestratorCalls, d.OrchestratorCalls},
		{"builder calls", b.BuilderCalls, m.MaxBuilderCalls, d.BuilderCalls},
	} {
		if x.need > 0 && x.used >= x.cap {
			return nil, diag.New(judge.BlockedBudgetCap, "the budget of "+x.name+" is used up", fmt.Sprintf("%d of %d are used in milestone %s", x.used, x.cap, l.name()), wayOn)
		}
	}
	c.MaxUSD = sane(c.MaxUSD)
	if known := b.Spent() + l.reserved(); m.MaxEstimatedCostUSD > 0 && (known >= m.MaxEstimatedCostUSD || known+c.MaxUSD > m.MaxEstimatedCostUSD) {
		return nil, diag.New(judge.BlockedBudgetExhausted, "the dollars of milestone "+l.name()+" do not cover the next call",
			fmt.Sprintf("$%.2f of $%.2f are used or reserved, and the call may cost $%.2f", known, m.MaxEstimatedCostUSD, c.MaxUSD), wayOn)
	}
	offset, err := sizeOf(l.ws.Usage())
	if err != nil {
		return nil, err
	}
	p := Pending{c.ID, clip(c.RunID, 80), clip(c.Role, 40), clip(c.Provider, 64), clip(c.Model, 200), now(), c.MaxUSD, clip(c.CycleID, 80), offset}
	if err := l.admit(p); err != nil {
		return nil, err
	}
	if err := l.count(d, func(s *State) { s.Pending = append(s.Pending, p) }); err != nil {
		return nil, errors.Join(err, l.account(p.CallID, nil))
	}
	journal.Reached("ledger.reserved")
	return &Reservation{l: l, call: p}, nil
}

// admit holds a call to the caps of its run, cycle and day. Where the day is shared
// the call is entered into the machine's account, which comes first: a crash before
// the workspace knows of the call leaves an entry that reconcile takes out.
func (l *Ledger) admit(p Pending) error {
	if l.acct == nil || !l.dayCapped() {
		return l.foresee(p)
	}
	if err := l.coversOwn(p); err != nil {
		return err
	}
	return l.acct.reserve(accountCall{l.holder(), p.CallID, p.Provider, p.At, p.MaxUSD, p.Offset}, func(day map[string]Sum) error { return l.coversDay(day, []Need{p.need()}) })
}

// foresee is admit without an entry in the account.
func (l *Ledger) foresee(p Pending) error {
	if err := l.coversOwn(p); err != nil || !l.dayCapped() {
		return err
	}
	day, err := l.day()
	if err != nil {
		return err
	}
	return l.coversDay(day, []Need{p.need()})
}

// coversOwn holds a call to the caps of its run and cycle.
func (l *Ledger) coversOwn(p Pending) error {
	for _, of := range []func() (window, error){func() (window, error) { return l.runWindow(p.RunID) }, func() (window, error) { return l.cycleWindow(p.CycleID) }} {
		w, err := of()
		if err == nil {
			err = w.covers(p.need())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (p Pending) need() Need { return Need{p.Provider, 1, p.MaxUSD, p.MaxUSD == 0} }

// holder names this workspace in the account.
func (l *Ledger) holder() string { return coordinator.Here() + l.ws.Dir() }

// account settles a call in the machine's account, if there is one.
func (l *Ledger) account(id string, u *Line) error {
	if l.acct == nil {
		return nil
	}
	return l.acct.settle(l.holder(), id, u)
}

// reconcile settles calls of this workspace that a crash left in the machine's
// account: STATE.json has none pending any more, so each has its line, or was never
// sent.
func (l *Ledger) reconcile() error {
	calls, err := l.acct.of(l.holder())
	if err != nil {
		return err
	}
	open, err := openReservations(l.ws)
	if err != nil {
		return err
	}
	for _, c := range calls {
		if slices.ContainsFunc(open, func(p Pending) bool { return p.CallID == c.CallID }) {
			continue // its own run settles it
		}
		u, err := l.lineOf(Pending{CallID: c.CallID, Offset: c.Offset})
		if err == nil {
			err = l.account(c.CallID, u)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func counterOf(role string) Counters {
	switch role {
	case RoleOrchestrator:
		return Counters{OrchestratorCalls: 1}
	case RoleBuilder:
		return Counters{BuilderCalls: 1}
	default:
		return Counters{}
	}
}

func clip(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n])
	}
	return s
}

// sane takes out what no price can be.
func sane(usd float64) float64 {
	if math.IsNaN(usd) || math.IsInf(usd, 0) || usd < 0 {
		return 0
	}
	return usd
}

// ID is the reserved call's; Line what Settle would write.
func (r *Reservation) ID() string        { return r.call.CallID }
func (r *Reservation) Line(u Usage) Line { return r.l.usageLine(r.call, u) }

// Settle appends the call to usage.jsonl, which makes it last, and clears the reservation,
// which STATE.json says from its next change on: see Flush. A second call does nothing.
// After an error the reservation stands, and Open settles it.
func (r *Reservation) Settle(u Usage) error {
	if r.done {
		return nil
	}
	line := r.Line(u)
	if line.CostUSD == nil {
		line.GuessUSD = r.l.guess(line)
	}
	if err := appendUsage(r.l.ws, line); err != nil {
		return err
	}
	journal.Reached("ledger.line")
	r.l.settled(r.call.CallID, line.cost())
	r.done = true
	return r.l.account(r.call.CallID, &line)
}

// guess is what a call of unknown cost most likely cost: as much as the same provider's
// calls did on average, where some are known. Where none is, it is the most that the call
// was allowed, since unknown is not 0, unless nothing speaks for a model's part in it: a
// driver that ended well and names neither tokens nor a cost can't report any. Its calls
// are counted, as calls of unknown cost, and no dollars are made up for them.
func (l *Ledger) guess(u Line) float64 {
	if all, err := AllTotals(l.ws); err == nil {
		s := all.Of(ByProvider, u.Provider)
		if known := s.Calls - s.UnknownCalls; known > 0 && s.CostUSD != nil {
			mean := *s.CostUSD / float64(known)
			if u.MaxUSD > 0 {
				mean = min(mean, u.MaxUSD)
			}
			return Dollars(mean)
		}
	}
	if u.Outcome == "ok" && u.InputTokens == nil && u.OutputTokens == nil && u.Role == RoleBuilder {
		return 0
	}
	return u.MaxUSD
}

// Cancel takes the count back: the call was never sent. Nothing is written to
// usage.jsonl. After Settle it does nothing.
func (r *Reservation) Cancel() error {
	if r.done {
		return nil
	}
	back := Counters{}.plus(counterOf(r.call.Role), -1)
	if err := r.l.clear(r.call.CallID, back); err != nil {
		return err
	}
	r.done = true
	return r.l.account(r.call.CallID, nil)
}

// clear takes a reservation out and adds what it came to.
func (l *Ledger) clear(id string, d Counters) error {
	return l.count(d, func(s *State) { s.drop(id) })
}

// settled is clear for a call whose line is on the disk: STATE.json can follow later.
func (l *Ledger) settled(id string, d Counters) {
	l.state.drop(id)
	l.state.Budgets, l.tick = l.state.Budgets.plus(d, 1), l.tick.plus(d, 1)
	l.unwritten = true
}

// drop takes a call out of the pending ones.
func (s *State) drop(id string) {
	s.Pending = slices.DeleteFunc(s.Pending, func(p Pending) bool { return p.CallID == id })
}

// recover settles what a crash left pending. The call's line reports whether it was
// settled; without one nobody knows what it used, and that is what is written. unknown
// says how many those are.
func (l *Ledger) recover() (unknown int, err error) {
	for _, p := range l.State().Pending {
		found, err := l.lineOf(p)
		if err != nil {
			return unknown, err
		}
		if found != nil {
			l.settled(p.CallID, found.cost())
			continue
		}
		unknown++
		r := &Reservation{l: l, call: p}
		if err := r.Settle(Usage{Outcome: "interrupted"}); err != nil {
			return unknown, err
		}
	}
	return unknown, l.Flush()
}

// lineOf finds the line of a pending call in usage.jsonl, nil when it was never written.
func (l *Ledger) lineOf(p Pending) (found *Line, err error) {
	stop := errors.New("stop")
	err = readLines(l.ws.Usage(), p.Offset, func(b []byte) error {
		var u Line
		if json.Unmarshal(b, &u) == nil && u.CallID == p.CallID {
			found = &u
			return stop
		}
		return nil
	})
	if errors.Is(err, stop) {
		err = nil
	}
	return found, err
}
