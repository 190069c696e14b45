package pipeline

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"time"

	"github.com/paxiom/relay/host/attempt"
	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/durable"
	"github.com/paxiom/relay/host/internal/catalog"
	"github.com/paxiom/relay/host/internal/history"
	"github.com/paxiom/relay/host/internal/journal"
	"github.com/paxiom/relay/host/internal/ledger"
	"github.com/paxiom/relay/host/internal/modelcall"
	"github.com/paxiom/relay/host/internal/netproxy"
	"github.com/paxiom/relay/host/internal/pluginenv"
	"github.com/paxiom/relay/host/internal/progress"
	"github.com/paxiom/relay/host/internal/quota"
	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/host/pipeline/prd"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/box"
	"github.com/paxiom/relay/judge/git"
)

// Kind and Version name the workflow of one attempt in its record.
const (
	Kind    = "task"
	Version = 1
)

// taskRun is one attempt at a task under way.
type taskRun struct {
	attempt.Attempt
	p       *Pipeline
	record  *Record
	caller  *modelcall.Caller
	plugins map[string]*pluginenv.Plugin

	sees   *box.Kept   // what providers see in the place of the checkout; nil for the checkout
	fresh  bool        // no builder of this process has been in its box, nor any before
	series *quota.Wait // the last wait, while nothing but limits was met
	stop   context.CancelCauseFunc
	got    *got // what the step under way gathers
	again  bool // the last step was on record already, and was not done by this process
}

// runTask makes an attempt at a task in a checkout, or continues with the one that was cut
// off, until it has ended or waits for the operator. It lands on the checkout's branch. An
// error keeps the whole run from going on; the attempt can be gone on with.
func (p *Pipeline) runTask(ctx context.Context, t prd.Task, where *git.Repo) (*Record, error) {
	a, err := p.attempt(t)
	if err != nil || a.record.Code != "" || a.record.Lost != "" {
		return a.record, err
	}
	a.At, a.RunID = p.in(where, a.dir(journalDir)), a.record.RunID
	a.At.Refused = func(n netproxy.Refusal) {
		a.observe(progress.Event{Kind: progress.Notice, Text: attempt.RefusedText(n)})
	}
	a.At.Heard = func(n report.Network) {
		if a.got != nil {
			a.got.Network = n.Add(a.got.Network)
		}
	}
	ctx, a.stop = context.WithCancelCause(ctx)
	defer a.stop(nil)
	st, err := p.store.Run(ctx, a.record.Attempt, Kind, Version, a.flow)
	a.fire(context.WithoutCancel(ctx))
	if cerr := a.Leave(); err == nil {
		err = cerr
	}
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.Is(err, durable.ErrBusy):
		return nil, diag.New(judge.BlockedLockHeld, "task "+t.ID+" is being worked on already", "another process is working on it", "`relay pipeline status`")
	case err != nil:
		return nil, diag.Wrap(err, judge.BlockedCrashRecovery, "the attempt at "+t.ID+" can't be continued", "`relay task retry "+t.ID+"` starts over")
	case st.Status == durable.Waiting && a.record.Waiting == nil:
		return nil, diag.Internal(fmt.Errorf("task %s waits for nothing", t.ID))
	}
	if st.Status != durable.Waiting {
		os.Remove(a.dir(programsFile))
	}
	return a.record, a.record.write(p)
}

// attempt opens the attempt at a task that has not ended, or begins one.
func (p *Pipeline) attempt(t prd.Task) (*taskRun, error) {
	a := &taskRun{p: p, plugins: map[string]*pluginenv.Plugin{}}
	a.Attempt = attempt.Attempt{Workflow: "task", TaskID: t.ID, Law: a.law, Approvals: a.approvals, Note: a.note}
	open, err := p.openAttempt(t.ID)
	if err != nil {
		return a, err
	}
	if open != nil && open.Code == "" && !sameWork(open.Task, t) {
		open.Lost = "the task was edited since"
	} else if open != nil && open.From != "" && p.o.Key != "" {
		open.Lost = "the task is made anew under the key " + p.o.Key
	} else if open != nil && open.Key != "" && p.o.Key != "" && open.Key != p.o.Key { // its result never reached the one that asked for it
		if open.Key = p.o.Key; !sameWork(open.Task, t) {
			open.Lost = "the task was edited since"
		}
	}
	if open != nil {
		a.record = open
		a.record.Waiting = nil
		return a, nil
	}
	id, err := nextAttempt(p.env.WS, t.ID)
	if err != nil {
		return a, err
	}
	mark, err := ledger.Mark(p.env.WS)
	if err != nil {
		return a, err
	}
	now := p.now()
	a.record = &Record{SchemaVersion: 1, UsageOffset: mark, Attempt: id, RunID: history.NewRunID(now), PipelineID: p.rec.RunID, TaskID: t.ID, Task: t, StartedAt: now.UTC()}
	a.record.clear()
	if err := p.env.WS.MkdirAll(p.dir(tasksDir, a.record.Attempt, callsDir)); err != nil {
		return a, err
	}
	p.mu.Lock()
	p.begun[t.ID] = a.record
	p.mu.Unlock()
	return a, a.record.write(p)
}

// sameWork reports whether two readings of a task ask for the same.
func sameWork(a, b prd.Task) bool {
	return a.Title == b.Title && a.Description == b.Description && reflect.DeepEqual(a.Scope, b.Scope) &&
		strings.Join(a.AcceptanceCriteria, "\x00") == strings.Join(b.AcceptanceCriteria, "\x00") &&
		strings.Join(a.HiddenChecks, "\x00") == strings.Join(b.HiddenChecks, "\x00") &&
		strings.Join(a.Validation.Command, "\x00") == strings.Join(b.Validation.Command, "\x00")
}

// clear empties what the steps fill: they are played again from the record.
func (t *Record) clear() {
	t.Steps, t.Sessions, t.Reviews, t.Findings, t.Checks, t.Criteria = []StepDone{}, []Session{}, []Review{}, []Finding{}, []Check{}, []Criterion{}
	t.Calls, t.Commits, t.Decisions, t.Limits, t.Waits, t.Switches, t.Notes = []ledger.Line{}, []string{}, nil, nil, nil, nil, nil
	t.Plan, t.NewTests, t.Judged, t.Policy, t.Wait, t.Network, t.Kept, t.Conflict, t.Raised = nil, nil, nil, nil, nil, nil, "", "", 0
}

func (a *taskRun) dir(name string) string { return a.p.dir(tasksDir, a.record.Attempt, name) }

// got is what a step gathers besides its result.
type got struct {
	Notes    []string         `json:"notes,omitempty"`
	Switches []report.Switch  `json:"switches,omitempty"`
	Network  []report.Network `json:"network,omitempty"`
}

// took is what a step records.
type took[T any] struct {
	Result T   `json:"result"`
	Got    got `json:"got"`
	// Limits kept the step from being done: it is done again after a wait. Problem ends
	// the task, Lost the attempt.
	Limits  []report.Limit `json:"limits,omitempty"`
	Problem *Problem       `json:"problem,omitempty"`
	Lost    string         `json:"lost,omitempty"`
	Spent   string         `json:"spent,omitempty"` // the task's dollars: the operator is asked
	MS      int64          `json:"ms"`
}

// Problem is how a task failed.
type Problem struct {
	Code    judge.Code `json:"code"`
	What    string     `json:"what"`
	Why     string     `json:"why,omitempty"`
	Fix     string     `json:"next,omitempty"`
	Salvage string     `json:"salvage,omitempty"`
	// PluginSays is what a plugin suggests; relay does not vouch for it.
	PluginSays string `json:"plugin_says,omitempty"`
}

// Error says what and why.
func (p *Problem) Error() string { return p.What + ": " + p.Why }

// lost ends an attempt whose work is gone.
type lost string

func (l lost) Error() string { return string(l) }

// do is one step of the attempt. Limits are waited for and the step is done again; what a
// person has to mend ends the run without a record, so that the step is done again then;
// every other failure is the task's.
func do[T any](a *taskRun, f durable.Flow, name string, work func(context.Context, durable.Attempt) (T, error)) (T, error) {
	a.enter(name)
	for try := 1; ; try++ {
		began := a.p.now()
		a.again = true
		r, err := durable.Step(f, fmt.Sprintf("%s-%d", name, try), func(ctx context.Context, at durable.Attempt) (took[T], error) {
			a.got, a.again = &got{}, false
			v, err := work(ctx, at)
			out := took[T]{Result: v, Got: *a.got, MS: a.p.now().Sub(began).Milliseconds()}
			journal.Reached("pipeline." + name)
			if errors.Is(err, errTaskSpent) {
				out.Spent, err = diag.Internal(err).Why, nil
			}
			return out, a.sort(ctx, err, &out.Limits, &out.Problem, &out.Lost)
		})
		if err != nil {
			return r.Result, err
		}
		a.take(r.Got)
		switch {
		case len(r.Limits) > 0:
			if err := a.wait(f, fmt.Sprintf("wait-%s-%d", name, try), r.Limits); err != nil {
				return r.Result, err
			}
			continue
		case r.Spent != "":
			if err := a.allowMore(f, fmt.Sprintf("dollars-%s-%d", name, try), r.Spent); err != nil {
				return r.Result, err
			}
			continue
		case r.Problem != nil:
			return r.Result, r.Problem
		case r.Lost != "":
			return r.Result, lost(r.Lost)
		}
		a.series = nil
		a.record.Steps = append(a.record.Steps, StepDone{Name: name, MS: r.MS})
		return r.Result, nil
	}
}

// sort decides what an error of a step is. What it gives is not recorded.
func (a *taskRun) sort(ctx context.Context, err error, limits *[]report.Limit, problem **Problem, gone *string) error {
	var limited *modelcall.Limited
	var own *Problem
	var l lost
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &limited):
		*limits = limited.Limits
	case errors.As(err, &own):
		*problem = own
	case errors.As(err, &l):
		*gone = string(l)
	default:
		flt := diag.Internal(err)
		if flt.Code == "" || flt.Code.Outcome() == judge.OutcomeBlocked || diag.Full(err) {
			a.stop(flt) // no result: a person has to mend it first
			return flt
		}
		*problem = &Problem{Code: flt.Code, What: flt.What, Why: flt.Why, Fix: flt.Fix, PluginSays: flt.Says}
	}
	return nil
}

// take adds what a step gathered to the trail.
func (a *taskRun) take(g got) {
	t := a.record
	t.Notes, t.Switches = append(t.Notes, g.Notes...), append(t.Switches, g.Switches...)
	for _, n := range g.Network {
		t.Network = n.Add(t.Network)
	}
}

// enter begins a step, and says so.
func (a *taskRun) enter(name string) {
	a.record.Step = name
	a.observe(progress.Event{Kind: progress.Entered})
	_ = a.record.write(a.p) // for those who look; the record itself has the steps
}

// leave ends the step with one line about what came of it. What was seen to end before is
// not shown again.
func (a *taskRun) leave(text string) { a.left(text, false) }

// left is leave for a step that may have failed.
func (a *taskRun) left(text string, failed bool) {
	n := len(a.record.Steps) - 1
	if a.record.Steps[n].Text = text; a.again {
		return
	}
	a.observe(progress.Event{Kind: progress.Finished, Elapsed: time.Duration(a.record.Steps[n].MS) * time.Millisecond, Text: text, Failed: failed})
}

func (a *taskRun) observe(e progress.Event) {
	e.RunID, e.State = a.record.RunID, a.record.TaskID+" "+strings.ToUpper(a.record.Step)
	a.p.observe(e)
}

func (a *taskRun) note(text string) {
	if a.got != nil {
		a.got.Notes = append(a.got.Notes, text)
	}
	a.observe(progress.Event{Kind: progress.Notice, Text: text})
}

// pluginEnv is where the plugins of this attempt come from.
func (a *taskRun) pluginEnv() pluginenv.Env {
	e := a.At.PluginEnv(a.record.RunID, a.dir("plugins"))
	e.Kept = a.sees
	return e
}

// calls is where the paid calls of this attempt are made.
func (a *taskRun) calls() *modelcall.Caller {
	if a.caller == nil {
		a.caller = &modelcall.Caller{Workflow: "pipeline", RunID: a.record.RunID, Plugins: a.pluginEnv, Start: a.startPlugin, Reserve: modelcall.Reserved(a.p.reserved, a.p.runCap, a.taskCap), Answers: modelcall.Answers{Dir: a.dir(callsDir)},
			Show: a.observe, Note: a.note, Spent: a.spent, Now: a.p.now,
			Switched: func(s []report.Switch) { a.got.Switches = append(a.got.Switches, s...) }}
	}
	return a.caller
}

// spent adds a call to what is shown of the run.
func (a *taskRun) spent(u ledger.Line) {
	a.p.mu.Lock()
	a.p.used.Add(modelcall.Used(u))
	a.p.mu.Unlock()
	a.observe(progress.Event{Kind: progress.Spent, Call: u.CallID})
}

// startPlugin gives the provider of a name, for the step under way: every step has fresh
// processes.
func (a *taskRun) startPlugin(_ context.Context, name string) (*pluginenv.Plugin, error) {
	name = catalog.Canonical(name)
	if p := a.plugins[name]; p != nil {
		return p, nil
	}
	p, err := a.pluginEnv().Provider(name, a.At.Git)
	if err == nil {
		a.plugins[name] = p
	}
	return p, err
}

// fire ends the providers of a step.
func (a *taskRun) fire(ctx context.Context) {
	for name, p := range a.plugins {
		p.Close(ctx)
		delete(a.plugins, name)
	}
}
