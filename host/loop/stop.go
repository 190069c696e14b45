package loop

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/paxiom/relay/host/internal/format"
	"github.com/paxiom/relay/host/internal/ledger"
	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/judge"
)

// Reason is why a loop stopped.
type Reason string

// The reasons.
const (
	ControlStop      Reason = "control_stop"      // the orchestrator says that the goal is reached
	TaskDone         Reason = "task_done"         // mode task: the task was carried out
	Stopped          Reason = "stopped"           // the tick ended in STOP_*
	Blocked          Reason = "blocked"           // the tick ended in BLOCKED_*
	Question         Reason = "question"          // the operator is asked
	BudgetWarning    Reason = "budget_warning"    // a counter of the milestone is over its warning mark
	MilestoneChanged Reason = "milestone_changed" // mode milestone: the next one began
	MaxTicks         Reason = "max_ticks"
	UntilReached     Reason = "until"
	CostReached      Reason = "max_cost"    // what is left does not cover a tick
	LimitLasts       Reason = "limit"       // a vendor's limit or outage lasts longer than limits.max_wait
	Drained          Reason = "drained"     // the operator asked for an end after the tick
	Failed           Reason = "failed"      // the loop could not continue; only those who look from outside see it
	Interrupted      Reason = "interrupted" // a signal, or the operator asked for an end now
	NothingToResume  Reason = "nothing"     // no loop was cut off by anything but the operator; see host.LoopOptions.Unattended
)

// Words say it to a person.
func (r Reason) Words() string {
	switch r {
	case ControlStop:
		return "the model says that the goal is reached"
	case TaskDone:
		return "the task is done"
	case Stopped:
		return "the last tick was stopped"
	case Blocked:
		return "the last tick could not begin or continue"
	case Question:
		return "it waits for your answer"
	case BudgetWarning:
		return "a budget is nearly used up"
	case MilestoneChanged:
		return "the milestone is done"
	case MaxTicks:
		return "as many ticks as it may make"
	case UntilReached:
		return "the time is over"
	case CostReached:
		return "what is left of its dollars does not cover a tick"
	case LimitLasts:
		return "a vendor's limit lasts too long to wait for"
	case Drained:
		return "you asked for an end after the tick"
	case Interrupted:
		return "interrupted"
	}
	return string(r)
}

// Spend is what the calls of the workspace have used since the loop began.
type Spend = ledger.Sum

// spent adds up the calls since the loop began: by where they stand, since a clock that
// is set back would make them older than the loop.
func (l *Loop) spent() (s Spend, err error) {
	err = ledger.UsagesFrom(l.ws, l.o.UsageAt, func(u ledger.Line) error { s.Add(u); return nil })
	return s, err
}

// milestone is the present one, "" on a fresh workspace.
func milestone(ws *workspace.Workspace) (string, error) {
	st, err := ledger.Read(ws)
	if err != nil || st.MilestoneID == nil {
		return "", err
	}
	return *st.MilestoneID, nil
}

// before says why no tick begins. The limits here are the operator's own; those of the
// milestone are the tick's preflight.
func (l *Loop) before(n int) (Reason, string, error) {
	now := l.now()
	switch {
	case l.hooks.Drain != nil && l.hooks.Drain():
		return Drained, "you asked for an end after the tick under way", nil
	case l.o.MaxTicks > 0 && n > l.o.MaxTicks:
		return MaxTicks, fmt.Sprintf("%d of %d ticks were made", n-1, l.o.MaxTicks), nil
	case !l.o.Until.IsZero() && !now.Before(l.o.Until):
		return UntilReached, "it is past " + l.o.Until.Local().Format(time.DateTime), nil
	case l.o.MaxCostUSD > 0:
		return l.cost()
	}
	return "", "", nil
}

// cost reserves the worst case of one tick: a limit that is only noticed once it has
// been passed is none.
func (l *Loop) cost() (Reason, string, error) {
	s, err := l.spent()
	if err != nil || l.env.Loaded == nil {
		return "", "", err
	}
	tick := ledger.WorstCase(l.env.Loaded.Config, 0)
	if slices.ContainsFunc(tick.Needs, func(n ledger.Need) bool { return n.Unbound }) {
		return CostReached, fmt.Sprintf("orchestrator.max_budget_usd or builder.claude_code.max_budget_usd is 0, so nothing limits what a call may cost, and the limit of $%.2f can't be kept", l.o.MaxCostUSD), nil
	}
	if s.Boundless > 0 {
		return CostReached, fmt.Sprintf("%s without a limit reported no cost, so the limit of $%.2f can't be kept", format.Count(s.Boundless, "call"), l.o.MaxCostUSD), nil
	}
	worst := tick.CostUSD
	if s.Most()+worst <= l.o.MaxCostUSD {
		return "", "", nil
	}
	why := fmt.Sprintf("$%.4f of $%.2f are used, and one tick may cost $%.2f", s.Most(), l.o.MaxCostUSD, worst)
	if s.UnknownCalls > 0 {
		why += fmt.Sprintf(" (with %s of unknown cost, counted at the limit)", format.Count(s.UnknownCalls, "call"))
	}
	return CostReached, why, nil
}

// after says why no other tick follows the one that ended with this report. was is the
// milestone that it continued. The first rule that matches decides.
func (l *Loop) after(r *report.Report, was string) (Reason, string, error) {
	now, err := milestone(l.ws)
	if err != nil {
		return "", "", err
	}
	st, err := ledger.Read(l.ws)
	if err != nil {
		return "", "", err
	}
	if r.Task.MilestoneID != "" { // another machine's tick, with a key, is not in the state here
		now = r.Task.MilestoneID
	}
	if n := len(l.out.Ticks); n > 0 { // a crash may have come when the next one was on record already
		was = l.out.Ticks[n-1].MilestoneID
	}
	switch {
	case len(r.Limits) > 0:
		return "", "", nil // no attempt: it is waited for
	case r.Verdict == judge.OutcomeBlocked:
		return Blocked, r.Summary, nil
	case r.Code == judge.StopHeadMoved && r.Question != nil:
		return Question, r.Question.Prompt, nil
	case r.Verdict != judge.OutcomeSuccess:
		return Stopped, r.Summary, nil
	case r.Control != nil && r.Control.Action == "stop":
		return ControlStop, r.Control.Reason, nil
	case r.Question != nil:
		return Question, r.Question.Prompt, nil
	case l.o.Mode == Milestone && was != "" && now != was:
		return MilestoneChanged, fmt.Sprintf("milestone %q began after %q", now, was), nil
	case l.o.Mode == Task && r.Control == nil && !changedNothing(r):
		return TaskDone, r.Summary, nil
	case st.BudgetWarning:
		return BudgetWarning, strings.Join(r.Budgets.Warnings, "; "), nil
	}
	return "", "", nil
}

// changedNothing reports whether a task that was to change something did not: it is not done, and the
// planner is told.
func changedNothing(r *report.Report) bool {
	return r.Task.TaskKind == string(judge.Execute) && r.BlastRadius.FilesTouched == 0
}

// Next is what a person does about a loop that ended for this reason; "" where nobody
// is needed, or its last tick says it. again is the command that continues with its limits.
func (r Reason) Next(again string) string {
	more := "`" + again + "` continues"
	if again == "" {
		more = "its own limit is reached; `relay loop --help` shows how to begin another with a higher one"
	}
	switch r {
	case LimitLasts:
		return "when the limit is over, " + more + "; `fallback` in the configuration names who may stand in, limits.max_wait how long a loop waits"
	case Question:
		return "`relay answer \"…\"`, then " + more
	case BudgetWarning:
		return "`relay milestone --reset` resets it, `relay milestone NAME` begins another one, then " + more + "; `relay status` shows the budgets of budgets.per_milestone"
	case MilestoneChanged:
		return "`relay history list`; for the next milestone " + more
	case Failed:
		return "`relay status`, then `relay loop --mode milestone` begins a new one"
	}
	return ""
}
