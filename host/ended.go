package host

import (
	"cmp"
	"context"
	"strings"

	"github.com/paxiom/relay/host/internal/history"
	"github.com/paxiom/relay/host/internal/lock"
	"github.com/paxiom/relay/host/internal/queue"
	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/host/loop"
	"github.com/paxiom/relay/judge"
)

// NoteNeeds brings queue.md up to date with what no workflow writes there itself: the question of
// a tick, a push that was refused, and how a run, a loop or a task ended. A command that changes it calls it when it is
// over; one that begins a run also before, when how the last one ended is past.
func (r *Repo) NoteNeeds(begins bool) {
	o, err := r.Open()
	if err != nil {
		return // the commands that look report it
	}
	s, err := r.Status(context.Background(), false)
	if err != nil {
		return
	}
	var noted []queue.Entry
	for _, n := range s.Needs {
		ended := n.Kind == NeedProblem && (n.Of == "run" || n.Of == "loop")
		if ended && !begins || n.Kind == NeedProblem && n.Of == "task" || n.Kind == NeedQuestion || n.Kind == NeedPush {
			noted = append(noted, queue.Entry{ID: n.ID, Kind: n.Of, Since: n.Since, What: n.What(), Next: n.Next})
		}
	}
	_ = queue.Note(o.WS, noted) // status has it, too
}

// ofEnd adds how the last loop or run came to its end where somebody has to do something about
// it, until another one begins. A question, and what a crash cut off, have needs of their own.
func (s *StatusResult) ofEnd(o *Opened) {
	if s.Question != "" || s.Unfinished != "" || s.Lock == string(lock.Held) {
		return
	}
	last := s.LastRun
	if l := s.Loop; l != nil && (l.Running || last == nil || last.Loop == l.ID || l.UpdatedAt.After(last.StartedAt)) {
		if l.Running || l.CutOff {
			return
		}
		next := l.Reason.Next(l.Again)
		if l.Reason == loop.Stopped || l.Reason == loop.Blocked {
			next = cmp.Or(l.Next, "`relay show`")
		}
		if next != "" && l.Reason != loop.Question {
			s.need(Need{Kind: NeedProblem, Of: "loop", ID: l.ID, Title: "the loop", Text: strings.TrimSuffix("ended: "+l.Reason.Words()+": "+l.Why, ": "), Since: l.UpdatedAt, Next: next})
		}
		return
	}
	n := Need{Kind: NeedProblem, Of: "run"}
	switch b := s.Blocked; {
	case b != nil:
		n.ID, n.Title, n.Next = b.RunID, "ended in "+string(b.Code)+": "+b.What, b.Next
	case last != nil && last.Workflow == history.Tick && last.Code.Outcome() == judge.OutcomeStop:
		rep, err := o.reportOf(last.Meta)
		if rep == nil || err != nil {
			rep = &report.Report{}
		}
		if rep.Question != nil || last.Code == judge.StopInterrupted && strings.HasPrefix(rep.Next, "`relay run") {
			return // it was answered; or nobody is needed to start over
		}
		n.ID, n.Title, n.Next = last.RunID, "ended in "+string(last.Code)+": "+rep.Summary, cmp.Or(rep.Next, "`relay show`")
	default:
		return
	}
	if last != nil {
		n.Since = last.EndedAt
	}
	s.need(n)
}
