package host

import (
	"context"
	"fmt"
	"unicode/utf8"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/ledger"
	"github.com/paxiom/relay/host/internal/lock"
)

// MilestoneResult is the present milestone with what it has used of its budget.
type MilestoneResult struct {
	Doc
	MilestoneID string       `json:"milestone_id,omitempty"` // "" while none is named
	Was         string       `json:"was,omitempty"`          // the one before, where another was begun
	Reset       bool         `json:"reset,omitempty"`        // its counters start over
	Budgets     []BudgetLine `json:"budgets"`
	Next        string       `json:"next"`
}

// Milestone shows the present milestone. With a name it begins that one, or continues it
// where it was; with reset its counters start over. What was used before stays in the lists
// of calls and of milestones.
func (r *Repo) Milestone(_ context.Context, name string, reset bool) (*MilestoneResult, error) {
	if n := utf8.RuneCountInString(name); n > 80 || !utf8.ValidString(name) {
		return nil, diag.New("", "the milestone name is not valid", fmt.Sprintf("a name has 1 to 80 characters, this one %d", n), "`relay milestone NAME`")
	}
	o, err := r.Open()
	if err != nil {
		return nil, err
	}
	res := &MilestoneResult{Doc: DocOf("relay.milestone", 1), Reset: reset, Next: "`relay run`"}
	if name != "" || reset {
		if err := r.changeMilestone(o, name, reset, res); err != nil {
			return nil, err
		}
	}
	s, err := spendingOf(o)
	if err != nil {
		return nil, err
	}
	res.MilestoneID, res.Budgets = s.MilestoneID, s.Budgets
	if s.Next != "" {
		res.Next = s.Next
	}
	return res, nil
}

func (r *Repo) changeMilestone(o *Opened, name string, reset bool, res *MilestoneResult) error {
	if err := o.WS.Ensure(); err != nil {
		return err
	}
	held, _, err := lock.Acquire(o.WS.Lock(), "relay milestone")
	if err != nil {
		return err
	}
	defer held.Release()
	book, _, err := ledger.Open(o.WS, o.Loaded.Config.Budgets, r.StateDir())
	if err != nil {
		return err
	}
	if was := book.State().MilestoneID; was != nil && name != "" && *was != name {
		res.Was = *was
	}
	if name != "" {
		if err := book.BeginMilestone(name); err != nil {
			return err
		}
	}
	if reset {
		return book.ResetMilestone()
	}
	return nil
}
