package tick

import (
	"github.com/paxiom/relay/host/fault"
	"github.com/paxiom/relay/host/internal/crew"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/verify"
)

// hiddenChecks are those that this change has to pass.
func (r *run) hiddenChecks() (all []verify.Command) {
	if r.task.Kind == judge.Execute && len(r.verdict.Kept) > 0 {
		all, _ = r.cfg.Verification.HiddenChecks(r.git, r.env.Home, nil)
	}
	return all
}

// tellHidden says in the report how many hidden checks passed, and of those that did not
// what a model may know.
func (r *run) tellHidden() *fault.Fault {
	all, seed := r.change.Hidden()
	told := crew.KeepHidden(r.env.StateDir, r.rep.RunID, all, seed)
	if r.rep.Verification.Hidden = told.Said; told.Said != "" {
		r.rep.Verification.Seed = seed
	}
	if told.Note != "" {
		r.note(told.Note)
	}
	return told.Fault
}
