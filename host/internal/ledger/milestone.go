package ledger

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
	"unicode/utf8"

	"github.com/paxiom/relay/host/internal/workspace"
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

// EnsureMilestone makes id the milestone, at once on disk; reached says that its goal is. A change from none keeps
// the counters. A change from another milestone archives that one's counters; what
// the present tick has used moves to the new one, and a milestone that was there
// before goes on where it was, so that names can't be changed to and fro to get
// around a cap.
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
	if old == "" {
		return true, l.change(func(s *State) { s.MilestoneID, s.MilestoneReached = &id, reached })
	}
	left := l.state.Budgets.plus(l.tick, -1)
	before, err := l.archivedCounters(id)
	if err != nil {
		return false, err
	}
	b, err := json.Marshal(archived{now(), old, left})
	if err != nil {
		return false, err
	}
	// A crash after this line and before the change only leaves a line too many,
	// which the next change of this milestone overrules.
	if err := appendLine(milestonesPath(l.ws), b); err != nil {
		return false, err
	}
	return true, l.change(func(s *State) {
		s.MilestoneID, s.MilestoneReached, s.Budgets = &id, reached, before.plus(l.tick, 1)
	})
}

// archivedCounters gives what a milestone had used when it was left, zero for a new one.
func (l *Ledger) archivedCounters(id string) (c Counters, err error) {
	err = readLines(milestonesPath(l.ws), 0, toEnd, func(b []byte) error {
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
