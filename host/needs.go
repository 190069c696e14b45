package host

import (
	"context"
	"strings"
	"time"

	"github.com/paxiom/relay/host/cycle"
	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/quota"
	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/host/pipeline"
	"github.com/paxiom/relay/host/pipeline/prd"
	"github.com/paxiom/relay/judge"
)

// The kinds of a Need.
const (
	NeedCrash    = "crash"    // what was cut off
	NeedQuestion = "question" // of a run: Answer
	NeedTask     = "task"     // a question of the pipeline: TaskAnswer
	NeedPlan     = "plan"     // gate 1 of a cycle
	NeedRevision = "revision" // gate 2 of a cycle
	NeedProblem  = "problem"  // something has to be fixed first
	NeedPush     = "push"     // what landed did not reach the remote
	NeedLimit    = "limit"    // a vendor's limit
)

// Need is one thing that waits. With Until it continues by itself; without, the operator acts.
// All commands that look read it from here.
type Need struct {
	Kind    string    `json:"kind"` // crash, question, task, plan, revision, problem, push or limit
	Of      string    `json:"of"`   // run, loop, cycle, task or pipeline
	ID      string    `json:"id"`   // of the run, loop, cycle or task
	Title   string    `json:"title"`
	Text    string    `json:"text,omitempty"`
	Choices []string  `json:"choices,omitempty"`
	Since   time.Time `json:"since,omitzero"`
	Until   time.Time `json:"until,omitzero"`
	Next    string    `json:"next"`
}

// What says in one line what it is about.
func (n *Need) What() string {
	switch n.Of {
	case "task", "loop", "pipeline":
		return n.Text
	case "cycle":
		return n.Title + ": " + n.Text
	}
	if n.Kind == NeedQuestion {
		return "asks: " + n.Text
	}
	return n.Title
}

// gather lists what waits: in Needs for the operator, most urgent first, in Waits for a
// moment at which it continues by itself.
func (s *StatusResult) gather(r *Repo, o *Opened) {
	s.ofRuns(o)
	s.ofCycles()
	s.ofTasks(r, o)
	s.ofLoop(r.Now())
	s.ofEnd(o)
}

func (s *StatusResult) need(n Need) {
	if n.Until.IsZero() {
		s.Needs = append(s.Needs, n)
	} else {
		s.Waits = append(s.Waits, n)
	}
}

func (s *StatusResult) ofRuns(o *Opened) {
	if s.Unfinished != "" {
		n := Need{Kind: NeedCrash, Of: "run", ID: s.Unfinished, Title: "was cut off in the middle of a change", Next: "`relay recover`"}
		if s.LastRun != nil {
			n.Since = s.LastRun.StartedAt
		}
		s.need(n)
	}
	if s.Question != "" {
		n := Need{Kind: NeedQuestion, Of: "run", ID: s.AskedBy, Text: s.Question, Choices: s.Choices, Next: "`relay answer \"…\"`"}
		if m, err := o.History.Get(s.AskedBy); err == nil { // not the last run where that one was blocked
			n.Title, n.Since = m.Intent, m.EndedAt
		}
		s.need(n)
	}
}

func (s *StatusResult) ofCycles() {
	for _, c := range s.Cycles {
		n := Need{Kind: NeedProblem, Of: "cycle", ID: c.Short, Title: c.Service, Text: c.Detail, Since: c.Since, Until: c.Until, Next: c.Next[0]}
		switch {
		case !c.Waits && c.Until.IsZero():
			continue
		case c.CutOff:
			n.Kind = NeedCrash
		case !c.Waits:
			n.Kind = NeedLimit
		case c.State == cycle.AwaitingReview:
			n.Kind = NeedPlan
		case c.State == cycle.AwaitingAcceptance:
			n.Kind = NeedRevision
		}
		s.need(n)
	}
}

// ofTasks adds the questions of a pipeline's tasks, their waits, and a run that stands
// still although it has not come to its end.
func (s *StatusResult) ofTasks(r *Repo, o *Opened) {
	pid := 0
	if s.lockedBy == pipeline.Command {
		pid = s.LockPID
	}
	p, err := pipeline.Look(o.WS, pid)
	if err != nil {
		f := diag.Internal(err)
		s.need(Need{Kind: NeedCrash, Of: "pipeline", Title: "the pipeline", Text: f.What, Since: r.Now(), Next: f.Fix})
	}
	if p == nil || err != nil {
		return
	}
	left := true // not known while the list is broken
	if _, list, err := r.TaskList(); err == nil {
		for _, t := range pipeline.Failures(o.WS, list) {
			s.need(Need{Kind: NeedProblem, Of: "task", ID: t.TaskID, Title: t.Task.Title, Text: strings.TrimSuffix("failed: "+t.Summary+": "+t.Why, ": "), Since: t.EndedAt, Next: FailedNext(t.TaskID, t)})
		}
		p.Open = todo(list, p.Open)
		left = len(p.Open)+len(list.Ready()) > 0
	}
	s.Pipeline = p
	const goOn = "`relay pipeline run` continues it"
	for _, t := range p.Open {
		switch q := t.Waiting; {
		case q != nil:
			s.need(Need{Kind: NeedTask, Of: "task", ID: t.TaskID, Title: t.Task.Title, Text: q.Text, Since: q.Since, Next: q.Next(t.TaskID)})
		case t.Wait != nil && p.Running:
			s.need(Need{Kind: NeedLimit, Of: "task", ID: t.TaskID, Title: t.Task.Title, Text: waitText(t.Wait, r.Now()), Since: t.Wait.Since, Until: t.Wait.Until,
				Next: "`relay wake` asks again now, `relay stop` ends the run"})
		}
	}
	if u := p.Unpushed; u != nil && !u.Reached(context.Background(), o.Root) {
		s.need(Need{Kind: NeedPush, Of: "pipeline", ID: "push", Title: "the pipeline", Text: u.Why, Since: u.Since, Next: u.GoOn()})
	}
	n := Need{Of: "pipeline", ID: p.RunID, Title: "the pipeline", Since: p.Since, Next: goOn}
	asleep := p.Asleep()
	switch {
	case p.Running && p.Held != "":
		n.Kind, n.Text, n.Next = NeedProblem, p.Held, p.HeldFix
	case p.Running || p.Ended || !left:
		return
	case p.Reason == pipeline.LimitLasts:
		n.Kind, n.Text, n.Next = NeedLimit, p.Why, "`relay pipeline run` when the limit is over"
	case p.Reason == pipeline.Blocked:
		n.Kind, n.Text = NeedProblem, p.Why
		n.Next = p.GoOn()
	case p.CutOff() && asleep != nil:
		n.Kind, n.Text = NeedCrash, pipelineBroke(p)+" at "+asleep.TaskID+"; "+waitText(asleep.Wait, r.Now())
	case p.CutOff() && !p.ByOperator:
		n.Kind, n.Text = NeedCrash, pipelineBroke(p)
		for _, t := range p.Open {
			if t.Waiting == nil && t.Step != "" {
				n.Text += " at " + t.TaskID + " (" + t.Step + ")"
			}
		}
	default:
		return
	}
	s.need(n)
}

// FailedNext is what to type about a task that failed, in its last attempt where there is one.
func FailedNext(id string, last *TaskAttempt) string {
	again := "`relay pipeline run` try it again"
	if last != nil && last.Code == judge.BlockedBeyondCeiling { // as it is it would end so once more
		again = last.Next
	}
	return "`relay task show " + id + "`; `relay task retry " + id + "` and " + again
}

func pipelineBroke(p *pipeline.Seen) string {
	if p.ByOperator {
		return "was ended by you"
	}
	return "was cut off"
}

// todo are those of the attempts whose tasks are still to be done, in the order of the list.
func todo(l *prd.List, open []*TaskAttempt) (out []*TaskAttempt) {
	begun := map[string]*TaskAttempt{}
	for _, t := range open {
		begun[t.TaskID] = t
	}
	for i := range l.Tasks {
		t := &l.Tasks[i]
		todo := t.Status == prd.Pending || t.Status == prd.InProgress
		if a := begun[t.ID]; a != nil && (a.Code != "" || todo && a.Lost == "") {
			out = append(out, a)
		}
	}
	return out
}

// heldNext is what to type about a loop that waits for the operator's git.
const heldNext = "`git status` says what git is about here; `relay stop` ends the loop"

func (s *StatusResult) ofLoop(now time.Time) {
	l := s.Loop
	switch {
	case l == nil:
	case l.Running && l.Wait != nil:
		s.need(Need{Kind: NeedLimit, Of: "loop", ID: l.ID, Title: "the loop", Text: waitText(l.Wait, now), Since: l.Wait.Since, Until: l.Wait.Until,
			Next: "`relay wake` asks again now, `relay stop` ends the loop"})
	case l.Running && l.Held != "":
		s.need(Need{Kind: NeedProblem, Of: "loop", ID: l.ID, Title: "the loop", Text: l.Held, Since: l.UpdatedAt, Next: heldNext})
	case l.CutOff && l.Wait != nil:
		s.need(Need{Kind: NeedLimit, Of: "loop", ID: l.ID, Title: "the loop", Text: l.Broke() + "; " + waitText(l.Wait, now), Since: l.UpdatedAt, Next: "`relay loop --resume` continues the wait"})
	case l.CutOff && !l.ByOperator:
		s.need(Need{Kind: NeedCrash, Of: "loop", ID: l.ID, Title: "the loop", Text: l.Broke(), Since: l.UpdatedAt, Next: "`relay loop --resume`"})
	}
}

// waitText says what is waited for, and whether that is over.
func waitText(w *quota.Wait, now time.Time) string {
	until := w.Until.Local().Format(time.DateTime)
	if now.Before(w.Until) {
		return "waits until " + until + ": " + report.Tell(w.Limits, report.Limit.Met)
	}
	return "its wait ended at " + until
}

// OpenTasks are the attempts that have not ended at tasks that are still to be done, in
// the order of the list; none where relay is not set up.
func (r *Repo) OpenTasks(l *prd.List) []*TaskAttempt {
	repo, err := r.Open()
	if err != nil {
		return nil
	}
	open, err := pipeline.Open(repo.WS)
	if err != nil {
		return nil
	}
	return todo(l, open)
}

// Trails are the attempts at a task, newest first; none where relay is not set up.
func (r *Repo) Trails(id string) []*TaskAttempt {
	repo, err := r.Open()
	if err != nil {
		return nil
	}
	all, err := pipeline.Attempts(repo.WS, id)
	if err != nil {
		return nil
	}
	return all
}

// Types of pipelines that the commands show.
type (
	// TaskAttempt is all that is known of one attempt at a task.
	TaskAttempt = pipeline.Record
	// PipelineSeen is the newest run over the task list as it stands.
	PipelineSeen = pipeline.Seen
	// PipelineEstimate is what a run over the task list may cost.
	PipelineEstimate = pipeline.Estimate
	// PipelineOrders are what the operator asks of a run.
	PipelineOrders = pipeline.Orders
	// Replacement says who took over a role for the rest of a run.
	Replacement = pipeline.Replacement
)
