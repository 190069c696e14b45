package ledger

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/judge"
)

// archived is one line of milestones.jsonl: a milestone's counters when another
// one took its place. The last line of a milestone counts.
type archived struct {
	At          time.Time `json:"at"`
	MilestoneID string    `json:"milestone_id"`
	Budgets     Counters  `json:"budgets"`
}

func milestonesPath(ws *workspace.Workspace) string {
	return filepath.Join(ws.Dir(), "milestones.jsonl")
}

// wayOn is what leads on from a milestone whose budget is used up.
const wayOn = "`relay milestone --reset` resets it, `relay milestone NAME` begins another one; `relay config show budgets --origin` says where budgets.per_milestone is set"

// EnsureMilestone makes id the milestone, at once on disk; reached says that its goal is. A change from none keeps
// the counters. A change from another milestone archives that one's counters; what
// the present tick has used moves to the new one, and a milestone that was there
// before continues where it was, so that names can't be changed to and fro to get
// around a cap. One whose budget is used up can only be said to be reached: all else is
// BLOCKED_BUDGET_CAP.
func (l *Ledger) EnsureMilestone(id string, reached bool) (changed bool, err error) {
	if n := utf8.RuneCountInString(id); n == 0 || n > 80 || !utf8.ValidString(id) {
		return false, fmt.Errorf("ledger: a milestone id has 1 to 80 characters, this one %d", n)
	}
	old := l.state.milestone()
	if old == id {
		if l.state.MilestoneReached == reached {
			return false, nil
		}
		return false, l.change(func(s *State) { s.MilestoneReached = reached })
	}
	if old == "" && l.state.MilestoneLeft == "" {
		return true, l.change(func(s *State) { s.MilestoneID, s.MilestoneReached = &id, reached })
	}
	before, err := l.archivedCounters(id)
	if err != nil {
		return false, err
	}
	if full, _ := l.lacks(before, Worst{BuilderCalls: 1, VerifyRuns: 1}); len(full) > 0 && !reached && id != l.state.MilestoneLeft {
		return false, diag.New(judge.BlockedBudgetCap, "the budget of milestone "+quoted(id)+" is used up", strings.Join(full, "; ")+"; the planner proposes a task for it", wayOn)
	}
	if old != "" {
		if err := l.archive(old, l.state.Budgets.plus(l.tick, -1)); err != nil {
			return false, err
		}
	}
	stuck := id == l.state.MilestoneLeft && !reached
	err = l.change(func(s *State) {
		s.MilestoneID, s.MilestoneReached, s.Budgets = &id, reached, before.plus(l.tick, 1)
		if !stuck {
			s.MilestoneLeft = ""
		}
	})
	if err == nil && stuck {
		err = diag.New(judge.BlockedBudgetCap, fmt.Sprintf("the budget of milestone %q is used up", id), "the planner was told, and still proposes a task for it", wayOn)
	}
	return true, err
}

// archive keeps a milestone's counters. A crash after this line and before the change that
// it is for only leaves a line too many, which the next change of this milestone overrules.
func (l *Ledger) archive(id string, c Counters) error {
	b, err := json.Marshal(archived{now(), id, c})
	if err != nil {
		return err
	}
	return appendLine(milestonesPath(l.ws), b)
}

// Leave archives a milestone whose budget is used up, so that the planner can be asked for
// the next one. It reports whether it did: only what a fresh milestone would cover is a
// reason, and the planner is asked once for each.
func (l *Ledger) Leave(w Worst) (bool, error) {
	id := l.state.milestone()
	full, short := l.lacks(l.state.Budgets, w)
	fullAnew, shortAnew := l.lacks(Counters{}, w)
	if id == "" || id == l.state.MilestoneLeft || len(full)+len(short) == 0 || len(fullAnew)+len(shortAnew) > 0 {
		return false, nil
	}
	if err := l.archive(id, l.state.Budgets); err != nil {
		return false, err
	}
	return true, l.change(func(s *State) {
		s.MilestoneID, s.MilestoneReached, s.MilestoneLeft, s.Budgets = nil, false, id, Counters{}
	})
}

// BeginMilestone makes id the milestone because the operator says so; one that was there
// before continues where it was.
func (l *Ledger) BeginMilestone(id string) error {
	l.tick = Counters{}
	err := l.change(func(s *State) { s.MilestoneLeft = "" })
	if err == nil {
		_, err = l.EnsureMilestone(id, false)
	}
	return err
}

// ResetMilestone counts the present milestone anew because the operator says so.
func (l *Ledger) ResetMilestone() error {
	if id := l.state.milestone(); id != "" {
		if err := l.archive(id, l.state.Budgets); err != nil {
			return err
		}
	}
	l.tick = Counters{}
	return l.change(func(s *State) { s.Budgets, s.MilestoneReached, s.MilestoneLeft = Counters{}, false, "" })
}

// archivedCounters gives what a milestone had used when it was left, zero for a new one.
func (l *Ledger) archivedCounters(id string) (c Counters, err error) {
	err = readLines(milestonesPath(l.ws), 0, func(b []byte) error {
		var a archived
		if json.Unmarshal(b, &a) == nil && a.MilestoneID == id {
			c = a.Budgets
		}
		return nil
	})
	return c, err
}

// Rebuild sets a STATE.json aside that can't be read and makes a new one: calls,
// ticks and cost of the milestone counted anew from usage.jsonl, and no counter
// lower than in floor, which comes from the last report. An empty milestone takes the
// last one on record. aside is the old file's
// new name, "" when there was none.
func Rebuild(ws *workspace.Workspace, milestone string, floor Counters) (s *State, aside string, err error) {
	if _, err := os.Lstat(ws.State()); err == nil {
		aside = ws.State() + ".damaged-" + now().Format("20060102-150405")
		if err := os.Rename(ws.State(), aside); err != nil {
			return nil, "", err
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, "", err
	}
	s = &State{}
	if milestone == "" { // the last one on record
		err := Usages(ws, func(u Line) error {
			if u.MilestoneID != "" {
				milestone = u.MilestoneID
			}
			return nil
		})
		if err != nil {
			return nil, aside, err
		}
	}
	if milestone != "" {
		s.MilestoneID = &milestone
	}
	runs := map[string]bool{}
	err = Usages(ws, func(u Line) error {
		if u.MilestoneID != milestone && u.MilestoneID != "" {
			return nil
		}
		s.Budgets = s.Budgets.plus(u.counters(), 1)
		if u.Outcome != Unreadable {
			runs[u.RunID] = true
			s.LastRunID = &u.RunID
		}
		return nil
	})
	if err != nil {
		return nil, aside, err
	}
	b := &s.Budgets
	b.Ticks = max(len(runs), floor.Ticks)
	b.OrchestratorCalls = max(b.OrchestratorCalls, floor.OrchestratorCalls)
	b.BuilderCalls = max(b.BuilderCalls, floor.BuilderCalls)
	b.VerifyRuns = max(b.VerifyRuns, floor.VerifyRuns)
	b.PatchAttempts = max(b.PatchAttempts, floor.PatchAttempts)
	b.EstimatedCostUSD = max(b.EstimatedCostUSD, floor.EstimatedCostUSD)
	return s, aside, writeState(ws, s)
}
