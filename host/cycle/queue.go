package cycle

import (
	"fmt"
	"strings"
	"time"

	"github.com/paxiom/relay/host/internal/format"
	"github.com/paxiom/relay/host/internal/queue"
	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/host/internal/workspace"
)

// Waits reports whether a cycle needs the operator: at a gate, or with a problem.
func (r *Record) Waits() bool { return !r.State.Ended() && (r.State.Gate() || r.Problem != nil) }

// Detail says in a few words what a cycle is about in its state.
func (r *Record) Detail() string {
	switch {
	case r.Problem != nil && !r.State.Gate():
		return r.Problem.What
	case r.Wait != nil:
		return "waits until " + r.Wait.Until.Local().Format(time.DateTime) + ": " + report.Tell(r.Wait.Limits, report.Limit.Met)
	case r.State == AuditRunning:
		var names []string
		for _, a := range r.ConfigSnapshot.Auditors() {
			names = append(names, a.Provider)
		}
		return strings.Join(names, "+")
	case r.State == AuditComplete && r.ConfigSnapshot.Models.Refinement.Enabled:
		return r.ConfigSnapshot.Models.Refinement.Provider + " refines"
	case r.State == AwaitingReview:
		if note := formless(r.Audits); note != "" {
			return note + ": read what was said"
		}
		if r.Plan != nil && r.Plan.Items == 0 {
			return "the auditors found nothing"
		}
		return "plan ready"
	case r.State == RevisionRunning, r.State == PlanApproved:
		return r.Reviser
	case r.State == Testing:
		return strings.Join(r.ConfigSnapshot.Cycle.TestCommand, " ")
	case r.State == AwaitingAcceptance && r.Revision != nil && !r.Revision.Landed:
		return "nothing landed: " + r.Revision.Why
	case r.State == AwaitingAcceptance:
		return r.Tests.Text()
	}
	return ""
}

// Next is what the operator can type, most likely first.
func (r *Record) Next() []string {
	id := Short(r.UUID)
	switch {
	case r.State == AwaitingReview && r.LastLanded != nil && r.Plan != nil && r.Plan.Items == 0:
		return []string{r.earlier(), "`relay audit review " + id + "`", "`relay audit abort " + id + "`"}
	case r.State == AwaitingReview:
		next := []string{"`relay audit review " + id + "`", "`relay audit continue " + id + "`"}
		if r.LastLanded != nil {
			next = append(next, r.earlier())
		}
		return append(next, "`relay audit abort "+id+"`")
	case r.State == AwaitingAcceptance:
		return r.nextOfResult()
	case r.State == Complete:
		return []string{"`git merge --no-ff " + r.Branch + "`"}
	case r.State == Aborted:
		return []string{"`relay audit start " + r.ServiceID + "`"}
	case r.Problem != nil && r.Problem.Fix != "":
		if strings.Contains(r.Problem.Fix, "`relay audit ") {
			return []string{r.Problem.Fix}
		}
		return []string{"`relay audit resume " + id + "` continues once the cause is gone: " + r.Problem.Fix}
	case r.Wait != nil:
		return []string{"`relay wake " + id + "` asks again now", "`relay audit resume " + id + "` continues the wait if no relay is waiting", "`relay audit abort " + id + "`"}
	}
	return []string{"`relay audit resume " + id + "`"}
}

// nextOfResult is what can be typed at the second gate.
func (r *Record) nextOfResult() []string {
	id := Short(r.UUID)
	next := []string{"`relay show " + id + " --diff`"}
	failing := r.Tests != nil && !r.Tests.Passed
	landed := r.Revision != nil && r.Revision.Landed
	if landed && !failing {
		next = append(next, "`relay audit accept "+id+"`")
	}
	if !landed {
		next = append(next, "`relay audit continue "+id+"` carries the plan out once more, `relay audit review "+id+"` edits it first")
	}
	if r.Iteration < r.ConfigSnapshot.Cycle.MaxIterations {
		next = append(next, "`relay audit iterate "+id+"`")
	}
	if landed && failing {
		next = append(next, "`relay audit accept "+id+" --with-failing-tests`")
	}
	if !landed && r.LastLanded != nil {
		next = append(next, r.earlier())
	}
	if r.Revision != nil && r.Revision.Salvage != "" {
		next = append(next, "`relay salvage "+id+"` has what was built")
	}
	return append(next, "`relay audit abort "+id+"`")
}

// earlier accepts what an earlier iteration landed.
func (r *Record) earlier() string {
	flag := ""
	if t := r.LastLanded.Tests; t != nil && !t.Passed {
		flag = " --with-failing-tests"
	}
	return fmt.Sprintf("`relay audit accept %s%s` accepts what iteration %d landed", Short(r.UUID), flag, r.LastLanded.Iteration)
}

// publish shows a cycle in queue.md.
func (r *Record) publish(ws *workspace.Workspace) error {
	id := Short(r.UUID)
	err := queue.Drop(ws, "cycle", id)
	if !r.State.Ended() {
		e := queue.Entry{ID: id, Kind: "cycle", Since: r.StartedAt, What: fmt.Sprintf("%s %s%s", r.ServiceID, r.State, after(", ", format.Clip(r.Detail(), 100))), Next: r.Next()[0], Running: !r.Waits()}
		if r.Wait != nil {
			e.Until = r.Wait.Until
		}
		if n := len(r.Transitions); n > 0 {
			e.Since = r.Transitions[n-1].At
		}
		err = queue.Put(ws, e)
	}
	return err
}
