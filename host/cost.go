package host

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/paxiom/relay/host/fault"
	"github.com/paxiom/relay/host/internal/ledger"
)

// CostOptions choose calls and how they are added up.
type CostOptions struct {
	By    string        // a key of costGroups; "" is "day"
	Since time.Duration // only calls of that last while; 0 takes all
	Of    string        // only calls of this run or cycle
}

// CostLine adds up the calls of one group. null is what nobody knows: a sum is that of
// the calls that said so, and the unknown ones are counted apart.
type CostLine struct {
	Name string `json:"name"` // of the group; "" where the calls name none
	ledger.Sum
}

// CostResult is what the calls of this workspace have cost.
type CostResult struct {
	Doc
	By    string     `json:"by"`
	Since *time.Time `json:"since,omitempty"`
	Lines []CostLine `json:"lines"`
	Total CostLine   `json:"total"`
}

// costGroups name the group of a call.
var costGroups = map[string]func(ledger.Line) string{
	"run":       func(l ledger.Line) string { return l.RunID },
	"day":       func(l ledger.Line) string { return l.At.Local().Format(time.DateOnly) },
	"provider":  func(l ledger.Line) string { return l.Provider },
	"model":     func(l ledger.Line) string { return l.Model },
	"milestone": func(l ledger.Line) string { return l.RunID }, // regrouped, see there
	"cycle":     func(l ledger.Line) string { return l.CycleID },
	"role":      func(l ledger.Line) string { return l.Role },
}

// Cost adds up usage.jsonl. Runs and days come newest first, the others dearest first.
func (r *Repo) Cost(_ context.Context, o CostOptions) (*CostResult, error) {
	if o.By == "" && o.Of != "" {
		o.By = "role"
	} else if o.By == "" {
		o.By = "day"
	}
	group, ok := costGroups[o.By]
	if !ok {
		return nil, fault.New("", "calls can't be added up by \""+Safe(o.By)+"\"", "it is run, day, provider, model, role, milestone or cycle", "`relay cost --by day`")
	}
	repo, err := r.open()
	if err != nil {
		return nil, err
	}
	if o.Of != "" {
		if o.Of, err = repo.runOrCycle(o.Of); err != nil {
			return nil, err
		}
	}
	res := &CostResult{Doc: Doc{"relay.cost", 1}, By: o.By, Lines: []CostLine{}, Total: CostLine{Name: "total"}}
	if o.Since > 0 {
		since := time.Now().Add(-o.Since).UTC()
		res.Since = &since
	}
	sums, milestone := map[string]*CostLine{}, map[string]string{}
	from := time.Time{}
	if res.Since != nil {
		from = *res.Since
	}
	err = ledger.UsagesSince(repo.ws, from, func(l ledger.Line) error {
		if o.Of != "" && l.RunID != o.Of && l.CycleID != o.Of {
			return nil
		}
		name := group(l)
		if sums[name] == nil {
			sums[name] = &CostLine{Name: name}
		}
		sums[name].Add(l)
		res.Total.Add(l)
		if l.MilestoneID != "" {
			milestone[l.RunID] = l.MilestoneID
		}
		return nil
	})
	if err != nil {
		return nil, fault.Wrap(err, "", "usage.jsonl can't be read", "`ls -l "+fault.Word(repo.ws.Usage())+"`")
	}
	if o.By == "milestone" {
		sums = regroup(sums, milestone)
	}
	for _, line := range sums {
		res.Lines = append(res.Lines, *line)
	}
	byName := func(a, b CostLine) int { return cmp.Compare(b.Name, a.Name) }
	if o.By != "run" && o.By != "day" {
		byName = func(a, b CostLine) int {
			return cmp.Or(cmp.Compare(b.Most(), a.Most()), cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Name, b.Name))
		}
	}
	slices.SortFunc(res.Lines, byName)
	return res, nil
}

// regroup merges the sums of runs into those of their milestones. A run's first call,
// the one that proposes the task, is made before its milestone is known.
func regroup(runs map[string]*CostLine, milestone map[string]string) map[string]*CostLine {
	out := map[string]*CostLine{}
	for run, line := range runs {
		name := milestone[run]
		if out[name] == nil {
			out[name] = &CostLine{Name: name}
		}
		out[name].Merge(line.Sum)
	}
	return out
}
