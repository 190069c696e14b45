package cycle

import "slices"

// State is where a cycle stands.
type State string

// The states.
const (
	Initialized        State = "INITIALIZED"         // branch and work tree are there
	AuditRunning       State = "AUDIT_RUNNING"       // calls to the auditors
	AuditComplete      State = "AUDIT_COMPLETE"      // all audits are there; refinement
	AwaitingReview     State = "AWAITING_REVIEW"     // gate 1
	PlanApproved       State = "PLAN_APPROVED"       // the operator ran continue
	RevisionRunning    State = "REVISION_RUNNING"    // somebody carries out the plan
	Testing            State = "TESTING"             // the revision is committed, tests run
	AwaitingAcceptance State = "AWAITING_ACCEPTANCE" // gate 2
	Complete           State = "COMPLETE"            // the operator accepted
	Iterating          State = "ITERATING"           // another round of audits follows
	Aborted            State = "ABORTED"             // the operator ended it
)

// who makes a transition.
type who string

const (
	byRelay    who = "relay"
	byOperator who = "operator"
)

// transition is one line of the table.
type transition struct {
	from, to State
	by       who
}

// transitions is the one table of what may follow what.
var transitions = []transition{
	{Initialized, AuditRunning, byRelay},
	{AuditRunning, AuditComplete, byRelay},
	{AuditComplete, AwaitingReview, byRelay},
	{AwaitingReview, PlanApproved, byOperator},
	{AwaitingReview, Complete, byOperator}, // an earlier iteration landed
	{PlanApproved, RevisionRunning, byRelay},
	{PlanApproved, AwaitingReview, byRelay},    // what was approved is not what is there
	{RevisionRunning, AwaitingReview, byRelay}, // the same, noticed later
	{RevisionRunning, Testing, byRelay},
	{RevisionRunning, AwaitingAcceptance, byRelay}, // nothing landed: nothing to test
	{Testing, AwaitingAcceptance, byRelay},
	{Testing, Iterating, byRelay}, // cycle.auto_iterate_on_test_failure
	{AwaitingAcceptance, Complete, byOperator},
	{AwaitingAcceptance, PlanApproved, byOperator}, // nothing landed: the plan once more
	{AwaitingAcceptance, Iterating, byOperator},
	{Iterating, AuditRunning, byRelay},
}

// Ended says that nothing follows.
func (s State) Ended() bool { return s == Complete || s == Aborted }

// Gate says that the cycle waits for the operator's decision.
func (s State) Gate() bool { return s == AwaitingReview || s == AwaitingAcceptance }

// may reports whether a transition is in the table. Every state that has not ended can
// be aborted by the operator.
func may(from, to State, by who) bool {
	if to == Aborted {
		return by == byOperator && !from.Ended()
	}
	return slices.ContainsFunc(transitions, func(t transition) bool { return t.from == from && t.to == to && t.by == by })
}
