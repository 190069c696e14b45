package pipeline

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/paxiom/relay/host/durable"
	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/host/internal/format"
	"github.com/paxiom/relay/host/internal/ledger"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/host/pipeline/prd"
	"github.com/paxiom/relay/judge"
)

// errTaskSpent is that a task may use no more dollars, while others may.
var errTaskSpent = errors.New("the task has used its dollars")

// runCap and taskCap are what the run and the attempt may cost.
func (p *Pipeline) runCap() ledger.Cap {
	return ledger.Cap{Name: "this run", Key: "max_run_usd", USD: p.env.Config.Pipeline.MaxRunUSD, Mark: p.rec.UsageOffset}
}

func (a *taskRun) taskCap() ledger.Cap {
	most := a.p.env.Config.Pipeline.MaxTaskUSD
	return ledger.Cap{Name: "task " + a.record.TaskID, Key: "max_task_usd", USD: most * float64(1+a.record.Raised), Run: a.record.RunID, Mark: a.record.UsageOffset, Cause: errTaskSpent}
}

// allowMore asks the operator whether a task may use as many dollars again.
func (a *taskRun) allowMore(f durable.Flow, name, spent string) error {
	d, err := a.consult(f, Question{Name: name, Kind: "dollars", Text: "may it use as much again (pipeline.max_task_usd)? " + spent})
	if err != nil {
		return err
	}
	if d.Yes {
		a.record.Raised++
		a.record.Notes = append(a.record.Notes, "you let it use as much again: "+spent)
		return nil
	}
	p := &Problem{Code: judge.BlockedBudgetCap, What: "the dollars of the task are used up", Why: spent, Fix: "`relay task retry " + a.record.TaskID + "` starts over"}
	if !a.hasBuilt() {
		return p
	}
	return a.giveUp(f, p)
}

// Estimate is what a run over the task list may cost.
type Estimate struct {
	Tasks int `json:"tasks"` // that are still to be done
	// Asked are those of them that wait for an answer of the operator, Failed those that are
	// done again only if he says so.
	Asked  []string `json:"asked,omitempty"`
	Failed []string `json:"failed,omitempty"` // failed tasks that are done again only if the operator says so
	// AtMostUSD is what the caps let them cost; nil where there is none.
	AtMostUSD *float64 `json:"at_most_usd"`
	// LikelyUSD is what they cost if each costs as much as those that landed, which are Of;
	// nil where none did whose cost is known.
	LikelyUSD *float64 `json:"likely_usd"`
	Of        int      `json:"of_tasks"` // landed tasks that likely_usd is based on
}

// Words say it to a person.
func (e *Estimate) Words() string {
	text := format.Count(e.Tasks, "task") + " to do"
	switch {
	case e.Tasks == 0:
		text = "no task to do"
	case e.AtMostUSD == nil:
		text += ", with no cap on what they cost"
	default:
		text += fmt.Sprintf(", at most $%.2f", *e.AtMostUSD)
	}
	if e.Tasks > 0 && e.LikelyUSD != nil {
		text += fmt.Sprintf("; about $%.2f, going by %s that landed", *e.LikelyUSD, format.Count(e.Of, "task"))
	}
	if len(e.Asked) > 0 {
		text += "; waiting for your answer: " + strings.Join(e.Asked, ", ")
	}
	if len(e.Failed) > 0 {
		text += "; failed: " + strings.Join(e.Failed, ", ")
	}
	return text
}

// Foresee says what the tasks of a list that are still to be done may cost; only is one
// of them, or "".
func Foresee(c config.Pipeline, ws *workspace.Workspace, l *prd.List, only string) (*Estimate, error) {
	e := &Estimate{}
	open, err := Open(ws)
	if err != nil {
		return nil, err
	}
	for i := range l.Tasks {
		switch t := &l.Tasks[i]; {
		case only != "" && t.ID != only:
		case t.Status == prd.Failed:
			e.Failed = append(e.Failed, t.ID)
		case t.Status == prd.Pending || t.Status == prd.InProgress:
			e.Tasks++
			if slices.ContainsFunc(open, func(a *Record) bool { return a.TaskID == t.ID && a.Waiting != nil }) {
				e.Asked = append(e.Asked, t.ID)
			}
		}
	}
	of := float64(e.Tasks)
	switch all := of * c.MaxTaskUSD; {
	case c.MaxTaskUSD > 0 && (c.MaxRunUSD == 0 || all < c.MaxRunUSD):
		e.AtMostUSD = &all
	case c.MaxRunUSD > 0:
		e.AtMostUSD = &c.MaxRunUSD
	}
	past, err := costs(ws)
	if e.Of = len(past); e.Of > 0 {
		sum := 0.0
		for _, usd := range past {
			sum += usd
		}
		likely := ledger.Dollars(sum / float64(e.Of) * of)
		e.LikelyUSD = &likely
	}
	return e, err
}

// costs are those of the tasks that landed, as far as all of their calls have one.
func costs(ws *workspace.Workspace) (past []float64, err error) {
	err = every(ws, func(t *Record) {
		var s ledger.Sum
		for _, c := range t.Calls {
			s.Add(c)
		}
		if t.Code == judge.Success && s.CostUSD != nil && s.UnknownCalls == 0 {
			past = append(past, *s.CostUSD)
		}
	})
	return past, err
}
