package ledger

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/paxiom/relay/host/fault"
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

// Reserve counts the call and writes that down before it is made. The fault is
// BLOCKED_BUDGET_CAP when its counter is at the cap, BLOCKED_BUDGET_EXHAUSTED when
// the dollars that are left do not cover it.
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
			return nil, fault.New(judge.BlockedBudgetCap, "the budget of "+x.name+" is used up", fmt.Sprintf("%d of %d are used in milestone %s", x.used, x.cap, l.name()), capFix)
		}
	}
	c.MaxUSD = sane(c.MaxUSD)
	if known := b.spent() + l.reserved(); m.MaxEstimatedCostUSD > 0 && (known >= m.MaxEstimatedCostUSD || known+c.MaxUSD > m.MaxEstimatedCostUSD) {
		return nil, fault.New(judge.BlockedBudgetExhausted, "the dollars of milestone "+l.name()+" do not cover the next call",
			fmt.Sprintf("$%.2f of $%.2f are used or reserved, and the call may cost $%.2f", known, m.MaxEstimatedCostUSD, c.MaxUSD), capFix)
	}
	offset, err := sizeOf(l.ws.Usage())
	if err != nil {
		return nil, err
	}
	p := Pending{c.ID, clip(c.RunID, 80), clip(c.Role, 40), clip(c.Provider, 64), clip(c.Model, 200), now(), c.MaxUSD, offset}
	if err := l.count(d, func(s *State) { s.Pending = append(s.Pending, p) }); err != nil {
		return nil, err
	}
	return &Reservation{l: l, call: p}, nil
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

// Settle appends the call to usage.jsonl and clears the reservation. A second call
// does nothing. After an error the reservation stands, and Open settles it.
func (r *Reservation) Settle(u Usage) error {
	if r.done {
		return nil
	}
	line := r.l.usageLine(r.call, u)
	b, err := json.Marshal(line)
	if err != nil {
		return err
	}
	if err := appendLine(r.l.ws.Usage(), b); err != nil {
		return err
	}
	if err := r.l.clear(r.call.CallID, line.cost()); err != nil {
		return err
	}
	r.done = true
	return nil
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
	return nil
}

// clear takes a reservation out and adds what it came to.
func (l *Ledger) clear(id string, d Counters) error {
	return l.count(d, func(s *State) {
		kept := s.Pending[:0:0]
		for _, p := range s.Pending {
			if p.CallID != id {
				kept = append(kept, p)
			}
		}
		s.Pending = kept
	})
}

// recover settles what a crash left pending. The call's line tells whether it was
// settled; without one nobody knows what it used, and that is what is written.
func (l *Ledger) recover() error {
	for _, p := range l.State().Pending {
		found, err := l.lineOf(p)
		if err != nil {
			return err
		}
		if found == nil {
			r := &Reservation{l: l, call: p}
			if err := r.Settle(Usage{Outcome: "interrupted"}); err != nil {
				return err
			}
			continue
		}
		if err := l.clear(p.CallID, found.cost()); err != nil {
			return err
		}
	}
	return nil
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
