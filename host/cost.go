package host

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/ledger"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/host/pipeline"
)

// CostOptions choose calls and how they are added up.
type CostOptions struct {
	By    string        // one of costGroups; "" is "day"
	Since time.Duration // only calls of that last while; 0 takes all
	Of    string        // only calls of this run, cycle or task of the pipeline
	runs  []string      // that Of means
}

// CostLine adds up the calls of one group. null is unknown: a sum is that of
// the calls that said so, and the unknown ones are counted apart.
type CostLine struct {
	Name string `json:"name"` // of the group; "" where the calls name none
	ledger.Sum
}

// CostResult is what the calls of this workspace have cost.
type CostResult struct {
	Doc
	By    string     `json:"by"` // what the calls are grouped by
	Since *time.Time `json:"since,omitempty"`
	Lines []CostLine `json:"lines"`
	Total CostLine   `json:"total"`
}

// costGroups are what calls can be added up by.
var costGroups = []string{ledger.ByRun, ledger.ByDay, ledger.ByProvider, ledger.ByModel, ledger.ByRole, ledger.ByMilestone, ledger.ByCycle}

// Cost adds up usage.jsonl. Runs and days come newest first, the others dearest first.
func (r *Repo) Cost(_ context.Context, o CostOptions) (*CostResult, error) {
	if o.By == "" && o.Of != "" {
		o.By = "role"
	} else if o.By == "" {
		o.By = "day"
	}
	if !slices.Contains(costGroups, o.By) {
		return nil, diag.New("", "calls can't be grouped by \""+Safe(o.By)+"\"", "it is run, day, provider, model, role, milestone or cycle", "`relay cost --by day`")
	}
	repo, err := r.Look()
	if err != nil {
		return nil, err
	}
	if o.Of != "" {
		if o.runs, err = r.callers(repo, o.Of); err != nil {
			return nil, err
		}
	}
	var since *time.Time
	if o.Since > 0 {
		from := time.Now().Add(-o.Since).UTC()
		since = &from
	}
	return o.add(repo.WS, since)
}

// callers gives the runs whose calls a name means: those of the attempts at a task, or
// the one run or cycle.
func (r *Repo) callers(o *Opened, name string) (runs []string, err error) {
	all, err := pipeline.Attempts(o.WS, name)
	if err != nil {
		return nil, err
	}
	for _, t := range all {
		runs = append(runs, t.RunID)
	}
	if len(runs) > 0 {
		return runs, nil
	}
	if _, l, err := r.TaskList(); err == nil && l.Find(name) != nil {
		return nil, nil // it was never begun
	}
	id, err := o.runOrCycle(name)
	if err != nil { // its calls stay when the history is pruned
		err = ledger.UsagesSince(o.WS, time.Time{}, func(l ledger.Line) error {
			if strings.HasPrefix(l.RunID, name) {
				id = l.RunID
			}
			return nil
		})
	}
	if err != nil || id == "" {
		return nil, diag.New("", "there is no run, cycle or task \""+Safe(name)+"\"", "no id of this repository begins so, and "+TasksFile+" has no such task", "`relay history list` shows runs, `relay queue --all` cycles, `relay task list` tasks")
	}
	return []string{id}, nil
}

// add adds the chosen calls up.
func (o CostOptions) add(ws *workspace.Workspace, since *time.Time) (*CostResult, error) {
	res := &CostResult{Doc: DocOf("relay.cost", 1), By: o.By, Since: since, Lines: []CostLine{}, Total: CostLine{Name: "total"}}
	totals, err := o.totals(ws, since)
	if err != nil {
		return nil, diag.Wrap(err, "", "usage.jsonl can't be read", "`ls -l "+diag.Word(ws.Usage())+"`")
	}
	res.Total.Sum = totals.All
	for name, sum := range totals.By(o.By) {
		res.Lines = append(res.Lines, CostLine{Name: name, Sum: sum})
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

// totals add up the chosen calls.
func (o CostOptions) totals(ws *workspace.Workspace, since *time.Time) (*ledger.Totals, error) {
	from := time.Time{}
	if since != nil {
		from = *since
	}
	t := ledger.NewTotals()
	return t, ledger.UsagesSince(ws, from, func(l ledger.Line) error {
		if o.Of == "" || slices.Contains(o.runs, l.RunID) || l.CycleID != "" && slices.Contains(o.runs, l.CycleID) {
			t.Add(l)
		}
		return nil
	})
}
