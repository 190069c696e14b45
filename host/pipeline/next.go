package pipeline

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/pipeline/prd"
	"github.com/paxiom/relay/judge"
)

// readAgain is how often a list that is being edited is looked at.
const readAgain = 300 * time.Millisecond

// tasks reads the list. One that an editor has half saved, or is about to put in place, is waited
// for.
func (p *Pipeline) tasks(ctx context.Context) (*prd.List, error) {
	said := ""
	for {
		if err := p.home(ctx); err != nil {
			return nil, err
		}
		l, err := p.list.Read()
		if err == nil {
			return l, p.hold(Hold{})
		}
		if said != err.Error() {
			said = err.Error()
			held := TasksFile + " can't be read as it is, so no task begins until it is fixed: " + said
			p.notice(held)
			if err := p.hold(Hold{Held: held, HeldFix: "`relay pipeline check`"}); err != nil {
				return nil, err
			}
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(readAgain):
		}
	}
}

// next is the task that comes now; nil with a reason when there is none. What was begun
// comes first.
func (p *Pipeline) next(ctx context.Context) (*prd.Task, error) {
	if p.o.Drain != nil && p.o.Drain() {
		p.out.Reason, p.out.Why = Drained, "you asked for an end after the task under way"
		return nil, nil
	}
	l, err := p.tasks(ctx)
	if err != nil {
		return nil, err
	}
	ready, err := p.ready(l)
	if err != nil {
		return nil, err
	}
	if p.o.Only != "" {
		if ready, err = p.only(l, ready); err != nil {
			return nil, err
		}
	}
	if len(ready) == 0 {
		if p.out.Reason = NothingLeft; p.o.Only != "" {
			p.out.Why = "--only held it to the task " + p.o.Only
		}
		return nil, nil
	}
	return ready[0], nil
}

// ready are the tasks that can be worked on now, in their order. Those that wait for the
// operator, that are worked on, and that this run has given up, are not among them.
func (p *Pipeline) ready(l *prd.List) ([]*prd.Task, error) {
	var begun, fresh []*prd.Task
	for _, t := range l.Ready() {
		if p.taken(t.ID) || p.joins != nil && !p.joins[t.ID] {
			continue
		}
		open, err := p.openAttempt(t.ID)
		switch {
		case err != nil:
			return nil, err
		case open != nil && open.Waiting != nil:
		case open != nil:
			begun = append(begun, t)
		default:
			fresh = append(fresh, t)
		}
	}
	return slices.Concat(begun, fresh), nil
}

// openAttempt is the attempt at a task that has not ended; nil when there is none. The
// operator's answer may have come meanwhile.
func (p *Pipeline) openAttempt(task string) (*Record, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.begun[task]
	if t == nil || t.Waiting == nil {
		return t, nil
	}
	now, err := readTrail(p.env.WS, t.Attempt)
	if err == nil && now != nil {
		p.begun[task] = now
	}
	return p.begun[task], err
}

// taken says that this run works on a task, or has given it up.
func (p *Pipeline) taken(task string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.tried[task] || p.busy[task]
}

// only holds the run to one task.
func (p *Pipeline) only(l *prd.List, ready []*prd.Task) ([]*prd.Task, error) {
	t := l.Find(p.o.Only)
	if t == nil {
		return nil, diag.New(judge.BlockedMissingConfig, "there is no task "+p.o.Only, TasksFile+" has none with that id", "`relay task list`")
	}
	if len(p.out.Tasks) > 0 {
		return nil, nil
	}
	if i := slices.Index(ready, t); i >= 0 {
		return ready[i : i+1], nil
	}
	why := "it is " + string(t.Status)
	if waits := l.Waits(t); len(waits) > 0 {
		why = "it waits for " + strings.Join(waits, ", ")
	} else if t.Status == prd.Pending {
		why = "it waits for your answer"
	}
	return nil, diag.New(judge.BlockedMissingConfig, "task "+t.ID+" can't be worked on now", why, "`relay task show "+t.ID+"`; `relay task retry "+t.ID+"` makes a failed one pending again")
}
