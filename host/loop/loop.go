package loop

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/durable"
	"github.com/paxiom/relay/host/internal/history"
	"github.com/paxiom/relay/host/internal/ledger"
	"github.com/paxiom/relay/host/internal/pluginenv"
	"github.com/paxiom/relay/host/internal/quota"
	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/host/tick"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/git"
)

// Mode says what ends a loop besides the ends that every loop has.
type Mode string

// The modes.
const (
	Task       Mode = "task"       // the first task that was carried out
	Milestone  Mode = "milestone"  // the next milestone, too
	Autonomous Mode = "autonomous" // one milestone after the other
)

// Kind and Version name the workflow in its record.
const (
	Kind    = "loop"
	Version = 1
)

// Options are one loop's. A loop that continues keeps those that it began with.
type Options struct {
	Mode       Mode      `json:"mode"`
	Goal       string    `json:"goal,omitempty"`
	MaxTicks   int       `json:"max_ticks,omitempty"`    // 0: no limit
	Until      time.Time `json:"until,omitzero"`         // no tick begins after it
	MaxCostUSD float64   `json:"max_cost_usd,omitempty"` // 0: no limit
	UsageAt    int64     `json:"usage_at"`               // where the calls of this loop begin
	// Branch is where it began: what it builds lands there, wherever the operator is.
	Branch string `json:"branch,omitempty"`
	// Key is what the keys of its ticks begin with; "" keeps their results on this machine.
	// Signers and Push are as those of a run with a key.
	Key     string `json:"key,omitempty"`
	Signers string `json:"signers,omitempty"`
	Push    string `json:"push,omitempty"`
	// Set are the settings of its call; those who look have them from its progress.
	Set []string `json:"-"`
	// After is the wait of a loop before this one, which holds for this one, too.
	After *quota.Wait `json:"after,omitempty"`
}

// Tick is one tick of a loop, as its record keeps it.
type Tick struct {
	N           int        `json:"n"`                // the tick's number, from 1
	RunID       string     `json:"run_id,omitempty"` // "" when the loop stopped before the tick, or before its first call
	Code        judge.Code `json:"code,omitempty"`
	TaskID      string     `json:"task_id,omitempty"`
	MilestoneID string     `json:"milestone_id,omitempty"`
	Intent      string     `json:"intent,omitempty"`
	Summary     string     `json:"summary,omitempty"`
	Commit      string     `json:"commit,omitempty"`
	DurationMS  int64      `json:"duration_ms"`
	// Limits are what ended a tick that is no attempt: it is remade after a wait,
	// with its own task when Again says that only the builder is missing.
	Limits []report.Limit `json:"limits,omitempty"`
	Again  bool           `json:"again,omitempty"` // the same task is built again
	Stop   Reason         `json:"stop,omitempty"`  // why no other tick follows
	Why    string         `json:"why,omitempty"`   // that reason in words
}

// Asked says that the tick finished nothing: it ended with a question.
func (t Tick) Asked() bool { return t.Stop == Question && t.Code == judge.Success }

// Outcome is how a loop ended.
type Outcome struct {
	ID      string
	Options Options
	Reason  Reason
	Why     string
	Ticks   []Tick // that were attempts and did not only ask
	Waits   []Waited
	Spend   Spend
	Report  *report.Report  // of the last tick of this process; nil when there was none
	Blocked *report.Blocked // when that tick was blocked
	Again   string          // see Progress
}

// Hooks let the caller watch and steer. All may be nil.
type Hooks struct {
	OnTick func(Tick)    // after each tick of this process that was an attempt
	Drain  func() bool   // true: end after the tick under way
	Clock  durable.Clock // nil is the machine's
	// Keyed makes a tick of a loop with a key.
	Keyed func(context.Context, Options, tick.Options) (*tick.Outcome, error)
}

// Loop is a loop to be run once.
type Loop struct {
	env   *tick.Env
	ws    *workspace.Workspace
	id    string
	o     Options
	again bool // its options are on record
	hooks Hooks
	begun time.Time
	store *durable.Files

	session pluginenv.Session
	series  *quota.Wait // the last wait, while nothing but limits was met
	last    Tick        // the one before
	seen    seen

	out     Outcome
	failure error // of a step, as it was before its record made a text of it
}

// Begin makes a new loop.
func Begin(env *tick.Env, ws *workspace.Workspace, o Options, h Hooks) *Loop {
	return &Loop{env: env, ws: ws, id: history.NewRunID(time.Now()), o: o, hooks: h}
}

// Resume continues the loop of this id; set are its settings now.
func Resume(env *tick.Env, ws *workspace.Workspace, id string, set []string, h Hooks) *Loop {
	return &Loop{env: env, ws: ws, id: id, again: true, o: Options{Set: set}, hooks: h}
}

// Run makes ticks until there is a reason to stop. A tick that stopped or was blocked
// is an Outcome; an error is an error that kept the loop or a report from being written, and
// comes with how far the loop had come, once it had begun.
// When ctx ends, the tick under way is ended in order and the loop can be resumed.
func (l *Loop) Run(ctx context.Context) (*Outcome, error) {
	if err := l.ws.Ensure(); err != nil {
		return nil, err
	}
	if err := l.ws.MkdirAll(Dir(l.ws)); err != nil {
		return nil, err
	}
	var err error
	if l.store, err = durable.NewFiles(Dir(l.ws), l.hooks.Clock); err == nil {
		err = l.store.Prune(keptLoops)
	}
	if err != nil {
		return nil, diag.Internal(err)
	}
	if !l.again {
		if err := l.takeOver(); err != nil {
			return nil, err
		}
	}
	defer l.closeSession(ctx)
	_, err = l.store.Run(ctx, l.id, Kind, Version, l.flow)
	switch {
	case errors.Is(err, durable.ErrBusy):
		return nil, diag.New(judge.BlockedLockHeld, "the loop "+l.id+" is running already", "another process is working on it", "`relay status`")
	case ctx.Err() != nil:
		l.out.Reason, l.out.Why = Interrupted, context.Cause(ctx).Error()
	case err != nil:
		return l.failed(err)
	case l.out.Reason == "": // the workflow failed, and its record says so
		return l.failed(errors.Join(l.failure, errors.New("the loop ended without a reason")))
	}
	l.out.ID, l.out.Options = l.id, l.o
	l.out.Spend, err = l.spent()
	return &l.out, err
}

func (l *Loop) failed(err error) (*Outcome, error) {
	f, ok := diag.As(err)
	if !ok {
		f = diag.Wrap(err, judge.StopInterrupted, "the loop "+l.id+" can't continue", "`relay status`, then `relay loop --mode "+string(l.o.Mode)+"` begins a new one")
		if m := diag.Machine(err); m != nil {
			f.Fix = m.Fix
		}
	}
	l.out.ID, l.out.Options, l.out.Reason, l.out.Why = l.id, l.o, Failed, f.What
	return &l.out, f
}

// flow is the workflow: deterministic code over recorded ticks.
func (l *Loop) flow(f durable.Flow) error {
	o, err := durable.Step(f, "options", func(ctx context.Context, _ durable.Attempt) (Options, error) {
		if l.again {
			return Options{}, errors.New("it has no options on record, so it never began")
		}
		var err error
		if l.o.UsageAt, err = ledger.Mark(l.ws); err == nil {
			l.o.Branch = l.branch(ctx)
		}
		return l.o, err
	})
	if err != nil {
		return err
	}
	o.Set = l.o.Set
	l.o = o
	if l.begun, err = f.Now(); err != nil {
		return err
	}
	defer l.noteEnd(f)()
	if o.After != nil {
		if err := l.await(f, "wait-0", o.After); err != nil {
			return err
		}
	}
	for step := 1; l.out.Reason == ""; step++ {
		n := len(l.out.Ticks) + 1
		if err := l.show(f, l.progress(n)); err != nil {
			return err
		}
		t, err := durable.Step(f, fmt.Sprintf("tick-%d", step), func(ctx context.Context, a durable.Attempt) (Tick, error) {
			t, err := l.step(ctx, f, n, a)
			l.failure = err
			return t, err
		})
		if err != nil {
			return errors.Join(err, l.fail(f, n, err))
		}
		l.last = t
		if len(t.Limits) > 0 && t.Stop == "" {
			if err := l.wait(f, step, t.Limits); err != nil {
				return err
			}
			continue
		}
		l.series = nil
		if t.RunID != "" && !t.Asked() {
			l.out.Ticks = append(l.out.Ticks, t)
		}
		l.out.Reason, l.out.Why = t.Stop, t.Why
	}
	p := l.progress(len(l.out.Ticks))
	if p.Again = l.command(); l.out.Report != nil {
		p.Next = l.out.Report.Next
	}
	l.out.Again = p.Again
	_ = l.show(f, p) // for those who look; the record itself has the end
	return nil
}

// command begins a loop with what is left of this one's limits; "" when nothing is.
func (l *Loop) command() string {
	c := "relay loop --mode " + string(l.o.Mode)
	if l.o.Goal != "" {
		c += " --goal " + diag.Word(l.o.Goal)
	}
	if l.o.MaxTicks > 0 {
		left := l.o.MaxTicks - len(l.out.Ticks)
		if left <= 0 {
			return ""
		}
		c += fmt.Sprintf(" --max-ticks %d", left)
	}
	if !l.o.Until.IsZero() {
		if !l.o.Until.After(l.now()) {
			return ""
		}
		c += " --until " + l.o.Until.UTC().Format(time.RFC3339)
	}
	if l.o.MaxCostUSD > 0 {
		s, err := l.spent()
		left := l.o.MaxCostUSD - s.Most()
		if err != nil || left < 0.01 {
			return ""
		}
		c += fmt.Sprintf(" --max-cost-usd %.2f", left)
	}
	if l.o.Key != "" {
		c += " --key " + diag.Word(afterKey(l.o.Key))
	}
	for _, f := range []struct{ name, value string }{{"signers", l.o.Signers}, {"push", l.o.Push}} {
		if f.value != "" {
			c += " --" + f.name + " " + diag.Word(f.value)
		}
	}
	return c + Flags(l.o.Set)
}

// afterKey is the key of a loop that continues where that of another one has ended: with the
// same key that end is found again, and nothing is made.
func afterKey(key string) string {
	i := strings.LastIndexByte(key, '-')
	if n, err := strconv.Atoi(key[i+1:]); i > 0 && err == nil && n > 0 && n < 100 {
		return key[:i+1] + strconv.Itoa(n+1)
	}
	return key + "-2"
}

// Flags are settings as they are typed, each after a space.
func Flags(set []string) string {
	var f strings.Builder
	for _, s := range set {
		f.WriteString(" --set " + diag.Word(s))
	}
	return f.String()
}

// step is one tick with the looks before and after it. An attempt that was cut off
// after its tick had ended gives that tick; one that was cut off within it makes a new
// tick, whose preflight settles what the old one left.
func (l *Loop) step(ctx context.Context, f durable.Flow, n int, a durable.Attempt) (Tick, error) {
	if a.Again && l.o.Key == "" { // a keyed tick looks by itself
		if t, ok := l.found(ctx, n, a.Key); ok {
			return t, nil
		}
	}
	o := tick.Options{Goal: l.o.Goal, Key: a.Key, Loop: l.id, Own: true, Branch: l.o.Branch, Session: &l.session, NextMilestone: l.o.Mode == Autonomous, OneMilestone: l.o.Mode == Milestone, Command: l.command()}
	if o.Task = l.taskOf(l.last); o.Task != nil {
		o.Again = true
	}
	reason, why, err := l.ready(ctx, f, n, o)
	if reason != "" || err != nil {
		return Tick{N: n, Stop: reason, Why: why}, err
	}
	var out *tick.Outcome
	if l.o.Key == "" {
		out, err = tick.Run(ctx, l.env, o)
	} else {
		o.Key, o.Own = fmt.Sprintf("%s.%d", l.o.Key, n), false
		out, err = l.hooks.Keyed(ctx, l.o, o)
	}
	if out != nil {
		l.out.Report, l.out.Blocked = out.Report, out.Blocked
	}
	if err != nil {
		return Tick{}, err
	}
	t := record(n, out.Report)
	t.Stop, t.Why, err = l.after(out.Report, out.Was)
	if err == nil && l.hooks.OnTick != nil && len(t.Limits) == 0 {
		l.hooks.OnTick(t)
	}
	if out.Unmade {
		t.RunID = ""
	}
	if err == nil && ctx.Err() != nil && t.Code == judge.StopInterrupted {
		l.out.Ticks = append(l.out.Ticks, t)
		err = ctx.Err() // not recorded: a resumed loop makes this tick anew
	}
	return t, err
}

// branch is the one that HEAD is on; "" for none. What is wrong with the repository the
// first tick says.
func (l *Loop) branch(ctx context.Context) string {
	git, err := git.Open(ctx, l.env.Root)
	if err != nil {
		return ""
	}
	_, branch, _ := git.Head(ctx)
	return branch
}

func record(n int, r *report.Report) Tick {
	return Tick{N: n, RunID: r.RunID, Code: r.Code, TaskID: r.Task.TaskID, MilestoneID: r.Task.MilestoneID,
		Intent: r.Task.Intent, Summary: r.Summary, Commit: r.Commit, DurationMS: r.DurationMS,
		Limits: r.Limits, Again: len(r.Limits) > 0 && r.Task.TaskID != ""}
}

// found looks for the tick that an earlier attempt of this step finished.
func (l *Loop) found(ctx context.Context, n int, key string) (Tick, bool) {
	out, err := tick.Find(ctx, l.env, tick.Options{Key: key, Loop: l.id, Own: true})
	if out == nil || err != nil {
		return Tick{}, false
	}
	t := record(n, out.Report)
	t.Stop, t.Why, err = l.after(out.Report, out.Was)
	l.out.Report = out.Report
	return t, err == nil
}
