package ledger

import (
	"time"

	"github.com/paxiom/relay/host/internal/workspace"
)

// The groups that calls are added up by.
const (
	ByRun       = "run"
	ByDay       = "day" // where the person is
	ByProvider  = "provider"
	ByModel     = "model"
	ByRole      = "role"
	ByCycle     = "cycle"
	ByMilestone = "milestone"
)

// named are the groups whose name is known from the call alone.
var named = map[string]func(Line) string{
	ByRun:      func(l Line) string { return l.RunID },
	ByDay:      func(l Line) string { return l.At.Local().Format(time.DateOnly) },
	ByProvider: func(l Line) string { return l.Provider },
	ByModel:    func(l Line) string { return l.Model },
	ByRole:     func(l Line) string { return l.Role },
	ByCycle:    func(l Line) string { return l.CycleID },
}

// Totals are sums of calls, in all and by group.
type Totals struct {
	All Sum
	by  map[string]map[string]*Sum // by group and name
	// milestones are those of runs. A run's first call, the one that proposes the task,
	// is made before its milestone is known.
	milestones map[string]string
}

// NewTotals are those of no call.
func NewTotals() *Totals {
	t := &Totals{by: map[string]map[string]*Sum{}, milestones: map[string]string{}}
	for group := range named {
		t.by[group] = map[string]*Sum{}
	}
	return t
}

// AllTotals adds up all of usage.jsonl.
func AllTotals(ws *workspace.Workspace) (*Totals, error) {
	t := NewTotals()
	return t, Usages(ws, func(u Line) error { t.Add(u); return nil })
}

// Add adds one call.
func (t *Totals) Add(l Line) {
	t.All.Add(l)
	for group, of := range named {
		name, sums := of(l), t.by[group]
		if sums[name] == nil {
			sums[name] = &Sum{}
		}
		sums[name].Add(l)
	}
	if l.MilestoneID != "" {
		t.milestones[l.RunID] = l.MilestoneID
	}
}

// By are the sums of a group by name.
func (t *Totals) By(group string) map[string]Sum {
	out := map[string]Sum{}
	if group == ByMilestone {
		for run, sum := range t.by[ByRun] {
			s := out[t.milestones[run]]
			s.Merge(*sum)
			out[t.milestones[run]] = s
		}
		return out
	}
	for name, s := range t.by[group] {
		out[name] = *s
	}
	return out
}

// Of is one name's sum in a group.
func (t *Totals) Of(group, name string) Sum { return t.By(group)[name] }
