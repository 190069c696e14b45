package pipeline

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/paxiom/relay/host/change"
	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/durable"
	"github.com/paxiom/relay/host/internal/catalog"
	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/host/internal/history"
	"github.com/paxiom/relay/host/internal/journal"
	"github.com/paxiom/relay/host/internal/ledger"
	"github.com/paxiom/relay/host/internal/lock"
	"github.com/paxiom/relay/host/internal/pluginenv"
	"github.com/paxiom/relay/host/internal/progress"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/host/pipeline/prd"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/box"
	"github.com/paxiom/relay/judge/git"
)

// TasksFile is the task list of a repository, in its root.
const TasksFile = workspace.TasksFile

// Command is what has the workspace's lock while a pipeline runs.
const Command = "relay pipeline run"

// Env is where a pipeline runs. It is filled once.
type Env struct {
	Root    string // the operator's checkout
	Config  *config.Config
	WS      *workspace.Workspace
	Catalog *catalog.Catalog
	// StateDir is relay's state on this machine, DataDir where work trees lie, Home the
	// user's home.
	StateDir, DataDir, Home string
	Environ                 []string
	Version                 string
	Clock                   durable.Clock // nil is the machine's
	Observer                progress.Observer
}

// Pipeline is a run under way.
type Pipeline struct {
	env      *Env
	o        Options
	list     *prd.File
	store    *durable.Files
	held     *lock.Lock
	reserved *ledger.Reservations
	place    *git.Repo // the operator's checkout
	// branch is the one on which the run began, or the one that it continues with; "" for a
	// detached HEAD.
	branch string
	// turn is whose turn it is to change the operator's checkout.
	turn sync.Mutex

	mu    sync.Mutex // of what follows
	rec   record
	begun map[string]*Record // attempts that have not ended, by task
	tried map[string]bool    // tasks that failed in this run, or whose results it has left
	busy  map[string]bool    // tasks that are worked on now
	joins map[string]bool    // tasks whose results it joins; nil where it works on all
	out   Outcome
	used  progress.Usage
}

// What ends a run in the middle of a task that continues another day.
var (
	errLimit   = errors.New("a vendor's limit lasts too long")
	errDrained = errors.New("you asked for an end while a task waited for a vendor's limit")
)

// Run works through the task list until nothing is left to do. A task that failed is an
// Outcome; an error is an error that kept the run from going on, and what it had begun goes
// on with the next run. Both are given where the error came after the run had begun.
func Run(ctx context.Context, env *Env, o Options) (*Outcome, error) {
	p, err := begin(env, o)
	if err != nil {
		return nil, err
	}
	if err = p.open(ctx); err != nil && (ctx.Err() == nil || p.rec.RunID == "") { // a run that has a record is interrupted
		return nil, errors.Join(err, p.held.Release())
	}
	err = p.loop(ctx)
	if sum := p.sum(); err == nil || p.out.Reason != "" {
		err = sum
	}
	return &p.out, errors.Join(err, p.end(context.Cause(ctx), err))
}

// work makes an attempt at a task, or continues with the one that was cut off, and writes
// its end into the list.
func (p *Pipeline) work(ctx context.Context, t prd.Task) (*Record, error) {
	for lost := 0; ; lost++ {
		where, err := p.where(ctx, t.ID)
		if err != nil {
			return nil, err
		}
		if open, err := p.openAttempt(t.ID); err == nil && open == nil { // one that was cut off has the tree in its journal
			if err := p.tidy(ctx, where); err != nil {
				return nil, err
			}
		}
		trail, err := p.runTask(ctx, t, where)
		if err != nil {
			return nil, err
		}
		again, err := p.finish(ctx, trail, where, lost < maxLost)
		if !again || err != nil {
			return trail, err
		}
		p.notice(trail.TaskID + " starts over: " + trail.Lost)
	}
}

// finish writes down how an attempt ended, one attempt after the other. again: another
// one follows.
func (p *Pipeline) finish(ctx context.Context, t *Record, where *git.Repo, more bool) (again bool, err error) {
	p.turn.Lock()
	defer p.turn.Unlock()
	defer func() { p.observe(progress.Event{Kind: progress.Ended, RunID: t.RunID, Code: t.Code}) }()
	switch {
	case t.Waiting != nil:
		return false, p.park(t)
	case t.Lost != "" && more:
		return true, p.close(t, where)
	}
	return false, p.settle(ctx, t, where)
}

// maxLost is how often an attempt that lost its work is begun anew.
const maxLost = 2

// begin takes the lock.
func begin(env *Env, o Options) (*Pipeline, error) {
	asked := o.Parallel
	if o.Only != "" {
		o.Parallel = 1
	}
	p := &Pipeline{env: env, o: o, list: &prd.File{Path: filepath.Join(env.Root, TasksFile)}, begun: map[string]*Record{}, tried: map[string]bool{}, busy: map[string]bool{}}
	if asked > 1 && o.Parallel == 1 {
		p.notice("--only names one task, so --parallel " + strconv.Itoa(asked) + " changes nothing")
	}
	if err := env.WS.Ensure(); err != nil {
		return nil, err
	}
	if err := env.WS.MkdirAll(p.dir(tasksDir)); err != nil {
		return nil, err
	}
	var err error
	p.held, _, err = lock.Acquire(env.WS.Lock(), Command)
	return p, err
}

// open readies what a run needs, and waits until the checkout is on its branch.
func (p *Pipeline) open(ctx context.Context) error {
	if err := change.Settled(journal.Open(p.env.WS.Journal())); err != nil {
		return err
	}
	if err := history.Open(p.env.WS.History()).CheckCap(p.env.Config.History.MaxMB); err != nil {
		return err
	}
	git, err := git.Open(ctx, p.env.Root)
	if err != nil {
		return diag.Git(err)
	}
	p.place = git
	before, err := Look(p.env.WS, 0)
	if err != nil {
		return err
	}
	if p.branch, err = before.BranchOf(ctx, git); err != nil {
		return err
	}
	if what, _, err := p.away(ctx, 0); err != nil {
		return err
	} else if what != "" { // it has a record already where it waits
		if err := p.openRecord(); err != nil {
			return err
		}
	}
	if err := p.home(ctx); err != nil {
		return err
	}
	l, err := p.list.Read()
	if err != nil {
		return err
	}
	if err := p.checkPolicy(ctx); err != nil {
		return err
	}
	means, err := pluginenv.Means(ctx, p.env.Config, p.env.StateDir, p.env.Root)
	if err != nil {
		return err
	}
	if !box.AtOwnPath(means) {
		p.notice(pluginenv.BesideWarning(means))
	}
	if p.o.Parallel > 1 && means != box.Overlay { // or what relay itself lands would be taken for a builder's
		p.o.Parallel = 1
		p.notice("one task at a time: the means " + means + " watches the repository while a builder runs, so nothing else may change it; only overlay works on several")
	}
	if p.store, err = durable.NewFiles(p.dir(tasksDir), p.env.Clock); err != nil {
		return diag.Internal(err)
	}
	marked, err := p.takeUp(ctx, l)
	if err != nil {
		return err
	}
	if p.rec.RunID == "" {
		if err := p.openRecord(); err != nil {
			return err
		}
	}
	if p.o.Join != "" {
		if err := p.adopt(ctx, l); err != nil {
			return err
		}
	}
	if err := p.held.SetRun(p.rec.RunID); err != nil {
		return err
	}
	caps := p.env.Config.Budgets
	caps.PerCycle = config.Caps{} // a pipeline is a run
	if p.reserved, _, err = ledger.OpenReservations(p.env.WS, caps, p.env.StateDir, tabName, p.keptUsage); err != nil {
		return err
	}
	p.reserved.Again = Command
	for _, t := range marked {
		if err := p.settle(ctx, t, p.placeOf(ctx, t.TaskID)); err != nil {
			return err
		}
	}
	return p.show()
}

// takeUp goes through the tasks that were begun: what was under way continues, and what the
// operator has decided meanwhile is closed. It gives those whose end is in the list and not
// yet committed.
func (p *Pipeline) takeUp(ctx context.Context, l *prd.List) (marked []*Record, err error) {
	open, err := Open(p.env.WS)
	if err != nil {
		return nil, err
	}
	for _, t := range open {
		if err := p.settleJoin(ctx, t); err != nil {
			return nil, err
		}
	}
	for _, t := range open {
		p.begun[t.TaskID] = t
		now := l.Find(t.TaskID)
		if now != nil && t.Code != "" && now.Status == endOf(t) {
			marked = append(marked, t)
		} else if now == nil || now.Status != prd.Pending && now.Status != prd.InProgress || p.takenBack(ctx, t) {
			if err := p.close(t, p.placeOf(ctx, t.TaskID)); err != nil {
				return nil, err
			}
			if err := p.release(ctx, t.TaskID); err != nil {
				return nil, err
			}
		}
	}
	return marked, nil
}

// takenBack reports whether what an attempt has landed is not on the branch any more, as after a `git reset`.
func (p *Pipeline) takenBack(ctx context.Context, t *Record) bool {
	if t.Code != judge.Success || t.Commit == "" {
		return false
	}
	_, err := p.place.Run(ctx, nil, "merge-base", "--is-ancestor", t.Commit, refOf(p.branch))
	return err != nil && ctx.Err() == nil
}

// tabName marks the calls of pipelines in the ledger.
const tabName = "pipeline"

// end lets go of the run; by ended it, or err did.
func (p *Pipeline) end(by, err error) error {
	err = errors.Join(p.stopped(by, err), p.held.Release())
	_ = p.env.WS.Publish() // old copies harm nothing
	return err
}

// record is run.json: what a run keeps when it is cut off.
type record struct {
	RunID     string    `json:"run_id"`
	StartedAt time.Time `json:"started_at"`
	// UsageOffset is where its calls begin in usage.jsonl.
	UsageOffset int64  `json:"usage_offset"`
	Branch      string `json:"branch,omitempty"` // whose task list it is; HEAD for none
	Orders      Orders `json:"orders,omitzero"`
	// Set are the settings of its call.
	Set []string `json:"set,omitempty"`
	Hold
	EndedAt   time.Time     `json:"ended_at,omitzero"`   // nothing was left to do
	StoppedAt time.Time     `json:"stopped_at,omitzero"` // no process continues it since
	Replaced  []Replacement `json:"replaced,omitempty"`
	Stop
}

// openRecord continues with the run that was cut off, or begins one.
func (p *Pipeline) openRecord() error {
	old, err := readRecord(p.env.WS)
	if err != nil {
		return err
	}
	if old != nil && old.EndedAt.IsZero() {
		p.rec = *old
		p.rec.StoppedAt, p.rec.Stop = time.Time{}, Stop{}
	} else {
		mark, err := ledger.Mark(p.env.WS)
		if err != nil {
			return err
		}
		now := p.now()
		p.rec = record{RunID: history.NewRunID(now), StartedAt: now.UTC(), UsageOffset: mark}
	}
	p.rec.Branch, p.rec.Orders, p.rec.Set, p.rec.Hold = orHead(p.branch), p.o.Orders, p.o.Set, Hold{}
	p.out.RunID, p.out.Replaced = p.rec.RunID, p.rec.Replaced
	return p.writeRecord()
}

func (p *Pipeline) writeRecord() error { return workspace.WriteJSON(p.dir(recordFile), p.rec) }

func (p *Pipeline) now() time.Time {
	if p.env.Clock != nil {
		return p.env.Clock.Now()
	}
	return time.Now()
}

func (p *Pipeline) observe(e progress.Event) {
	if p.env.Observer == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	e.At, e.Usage = p.now(), p.used
	if e.RunID == "" {
		e.RunID = p.rec.RunID
	}
	p.env.Observer.Observe(e)
}

func (p *Pipeline) notice(text string) { p.observe(progress.Event{Kind: progress.Notice, Text: text}) }

// sum says how everything stands.
func (p *Pipeline) sum() error {
	l, err := p.list.Read()
	if err != nil {
		p.notice(TasksFile + " can't be read at the end: " + err.Error())
	} else {
		p.out.Counts = l.Count()
		p.out.Failed = slices.DeleteFunc(Failures(p.env.WS, l), func(t *Record) bool { return p.others(t.TaskID) })
		if p.o.Key == "" && p.joins == nil {
			p.out.Held = l.Held()
		}
	}
	p.out.Replaced = p.rec.Replaced
	waiting, err := Waiting(p.env.WS)
	for _, t := range waiting {
		if p.o.Only == "" && p.others(t.TaskID) {
			continue
		}
		p.out.Waiting = append(p.out.Waiting, t.TaskID)
	}
	if err != nil {
		return err
	}
	return ledger.UsagesFrom(p.env.WS, p.rec.UsageOffset, func(u ledger.Line) error {
		if u.CycleID == tabName {
			p.out.Spend.Add(u)
		}
		return nil
	})
}

// others reports whether the run does not work on a task.
func (p *Pipeline) others(task string) bool {
	return p.o.Only != "" && p.o.Only != task || p.joins != nil && !p.joins[task]
}

// oneLine makes a text fit for one line of a message.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
