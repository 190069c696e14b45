package pipeline

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"

	"github.com/paxiom/relay/host/change"
	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/durable"
	"github.com/paxiom/relay/host/internal/journal"
	"github.com/paxiom/relay/host/internal/ledger"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/host/pipeline/prd"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/git"
)

// A task can be made on one machine and join its branch on another: its result travels as a
// git object under a key. The machine that joins it trusts that it was reviewed and held to
// its criteria; it judges and validates it itself.

// Handed is the result of a task that was made under a key.
type Handed struct {
	Key   string
	Kept  string // the commit with what was built, or with what was rejected
	Trail *Record
}

// handedFile is the trail that came with a result, in the folder of the attempt that joins it.
const handedFile = "handed.json"

// handOver gives the result of an attempt away under its key. The task stays as it is in the
// list until somebody joins the result.
func (p *Pipeline) handOver(ctx context.Context, t *Record, where *git.Repo) error {
	if err := p.o.Leave(ctx, t, p.reportOf(ctx, t)); err != nil {
		return err
	}
	journal.Reached("pipeline.left")
	if err := p.close(t, where); err != nil {
		return err
	}
	if err := p.release(ctx, t.TaskID); err != nil {
		return err
	}
	if p.o.Key == "" && t.Code.Outcome() != judge.OutcomeBlocked { // it was left over by an earlier run, and this one wants it to land
		return p.takeOver(ctx, Handed{Key: t.Key, Kept: t.Kept, Trail: t})
	}
	p.over(t)
	return nil
}

// over notes the end of an attempt. This run makes no other one at a task that has failed or
// whose result was left.
func (p *Pipeline) over(t *Record) {
	p.mu.Lock()
	if t.Code != judge.Success || t.Key != "" {
		p.tried[t.TaskID] = true
	}
	p.out.Tasks = append(p.out.Tasks, t)
	p.mu.Unlock()
	if p.o.OnTask != nil {
		p.o.OnTask(t)
	}
}

// adopt takes over the results that the run is to join. What has joined before stays as it is.
func (p *Pipeline) adopt(ctx context.Context, l *prd.List) error {
	p.joins = map[string]bool{}
	for _, h := range p.o.Results {
		p.joins[h.Trail.TaskID] = true
	}
	for _, h := range p.o.Results {
		id := h.Trail.TaskID
		t := l.Find(id)
		if t == nil {
			return diag.New(judge.BlockedMissingConfig, "the result of "+h.Key+" can't be joined", TasksFile+" has no task "+id, "`relay task list`")
		}
		if t.Status != prd.Pending && t.Status != prd.InProgress {
			p.notice("task " + id + " is " + string(t.Status) + ": the result of " + h.Key + " changes nothing")
			continue
		}
		for _, on := range l.Waits(t) {
			if !p.joins[on] {
				return diag.New(judge.BlockedMissingConfig, "the result of "+h.Key+" can't be joined yet", "task "+id+" waits for "+on, "join the result of "+on+" first; `relay task graph` shows what waits for what")
			}
		}
		if err := p.takeOver(ctx, h); err != nil {
			return err
		}
	}
	return nil
}

// takeOver begins an attempt with a result, unless an earlier run has begun one: where that did
// not go together with the branch, another one builds it anew.
func (p *Pipeline) takeOver(ctx context.Context, h Handed) error {
	id := h.Trail.TaskID
	all, err := Attempts(p.env.WS, id)
	if err != nil {
		return err
	}
	if i := slices.IndexFunc(all, func(a *Record) bool { return a.From == h.Key }); i >= 0 && (!all[i].Settled || all[i].Lost != "") {
		return nil
	}
	p.mu.Lock()
	open := p.begun[id]
	p.mu.Unlock()
	if open != nil {
		open.Lost = "its result was made under the key " + h.Key
		if err := p.close(open, p.placeOf(ctx, id)); err != nil {
			return err
		}
		if err := p.release(ctx, id); err != nil {
			return err
		}
	}
	t := *h.Trail
	if t.Attempt, err = nextAttempt(p.env.WS, id); err != nil {
		return err
	}
	if t.UsageOffset, err = ledger.Mark(p.env.WS); err != nil {
		return err
	}
	t.Key, t.From, t.PipelineID, t.Branch, t.Settled, t.Waiting = "", h.Key, p.rec.RunID, p.branch, false, nil
	if t.Checks = slices.Clone(t.Checks); t.Salvage != "" {
		t.Salvage = change.KeptRef(t.RunID)
	}
	for i := range t.Checks { // their output is where it was made
		t.Checks[i].File = filepath.Base(t.Checks[i].File)
	}
	if h.Kept != "" { // for those who look for it: `relay salvage`
		if _, err := p.place.Write(ctx, nil, nil, "update-ref", change.KeptRef(t.RunID), h.Kept); err != nil {
			return diag.Internal(err)
		}
	}
	if err := p.env.WS.MkdirAll(p.dir(tasksDir, t.Attempt, callsDir)); err != nil {
		return err
	}
	if err := workspace.WriteJSON(p.dir(tasksDir, t.Attempt, handedFile), t); err != nil {
		return err
	}
	if t.Code == judge.Success { // one that failed has come to its end
		t.Code = ""
	}
	p.mu.Lock()
	p.begun[id] = &t
	p.mu.Unlock()
	return t.write(p)
}

// bring is the flow of an attempt that was handed over: what is left of it is to join.
func (a *taskRun) bring(f durable.Flow) error {
	t, err := workspace.ReadJSON[Record](a.dir(handedFile), 64<<20, json.Unmarshal)
	if err != nil || t == nil {
		return lost("what was handed over can't be read")
	}
	t.Code, t.Summary = "", ""
	*a.record = *t
	if err := a.possible(); err != nil {
		return err
	}
	return a.joinKept(f)
}
