package ledger

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/paxiom/relay/host/internal/strictjson"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/schemas"
)

// State is STATE.json. The fields of seed 002 come first.
type State struct {
	MilestoneID   *string        `json:"milestone_id"`
	Budgets       Counters       `json:"budgets"`
	BudgetWarning bool           `json:"budget_warning"`
	LastRunID     *string        `json:"last_run_id"`
	LastVerdict   *judge.Outcome `json:"last_verdict"`

	// relay's own
	SchemaVersion int       `json:"schema_version"` // 1
	LastCode      string    `json:"last_code,omitempty"`
	UpdatedAt     time.Time `json:"updated_at"`
	Pending       []Pending `json:"pending,omitempty"` // reserved and not settled
	Answers       []Answer  `json:"answers,omitempty"` // the operator's answers not yet in a prompt
	// MilestoneReached: the orchestrator has said so, and nothing was proposed for it since.
	MilestoneReached bool `json:"milestone_reached,omitempty"`
	// MilestoneLeft is a milestone whose budget is used up, and which the planner was asked
	// to continue from.
	MilestoneLeft string `json:"milestone_left,omitempty"`
	// Goal is what the operator wants, until another goal is given.
	Goal string `json:"goal,omitempty"`
	// Question waits for the operator's answer; nothing is planned before there is one.
	Question *Question `json:"question,omitempty"`
}

// Question is one that a run has put to the operator.
type Question struct {
	RunID   string   `json:"run_id"`
	Prompt  string   `json:"prompt"`
	Choices []string `json:"choices,omitempty"`
}

// Counters are what the milestone has used.
type Counters struct {
	Ticks             int `json:"ticks"`
	OrchestratorCalls int `json:"orchestrator_calls"`
	BuilderCalls      int `json:"builder_calls"`
	VerifyRuns        int `json:"verify_runs"`

	// relay's own
	PatchAttempts    int     `json:"patch_attempts"`
	EstimatedCostUSD float64 `json:"estimated_cost_usd"` // the sum of what is known
	UnknownCostCalls int     `json:"unknown_cost_calls"` // calls of unknown cost
	// UnknownMaxUSD is what those calls were allowed to cost, UnknownGuessUSD what such
	// calls did cost: the latter counts against the milestone's dollars.
	UnknownMaxUSD   float64 `json:"unknown_max_usd"`
	UnknownGuessUSD float64 `json:"unknown_guess_usd"`
}

func (c Counters) plus(d Counters, sign int) Counters {
	c.Ticks += sign * d.Ticks
	c.OrchestratorCalls += sign * d.OrchestratorCalls
	c.BuilderCalls += sign * d.BuilderCalls
	c.VerifyRuns += sign * d.VerifyRuns
	c.PatchAttempts += sign * d.PatchAttempts
	c.UnknownCostCalls += sign * d.UnknownCostCalls
	c.UnknownMaxUSD = Dollars(max(c.UnknownMaxUSD+float64(sign)*d.UnknownMaxUSD, 0))
	c.UnknownGuessUSD = Dollars(max(c.UnknownGuessUSD+float64(sign)*d.UnknownGuessUSD, 0))
	c.EstimatedCostUSD = Dollars(max(c.EstimatedCostUSD+float64(sign)*d.EstimatedCostUSD, 0))
	return c
}

// Spent is what counts against the milestone's dollars.
func (c Counters) Spent() float64 { return Dollars(c.EstimatedCostUSD + c.UnknownGuessUSD) }

// Pending is a call that was reserved and not settled.
type Pending struct {
	CallID   string    `json:"call_id"`
	RunID    string    `json:"run_id"`
	Role     string    `json:"role"`
	Provider string    `json:"provider"`
	Model    string    `json:"model,omitempty"`
	At       time.Time `json:"at"`
	MaxUSD   float64   `json:"max_usd,omitempty"`
	CycleID  string    `json:"cycle_id,omitempty"`
	// Offset is the size of usage.jsonl at the reservation: the call's line, if
	// there is one, comes after it.
	Offset int64 `json:"usage_offset"`
}

// Answer is what the operator answered to a question.
type Answer struct {
	RunID  string    `json:"run_id"`
	Prompt string    `json:"prompt"`
	Answer string    `json:"answer"`
	At     time.Time `json:"at"`
}

// Read reads STATE.json without changing anything; a fresh State when there is none.
// A file that relay can't have written is BLOCKED_CRASH_RECOVERY_REQUIRED.
func Read(ws *workspace.Workspace) (*State, error) {
	s := &State{SchemaVersion: 1}
	b, err := workspace.ReadFile(ws.State(), workspace.MaxRunnerFile)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err == nil {
		err = schemas.Validate(schemas.State, b)
	}
	if err == nil {
		err = strictjson.Unmarshal(b, s)
	}
	if err != nil {
		return nil, workspace.Unreadable(ws.State(), err)
	}
	return s, nil
}

func writeState(ws *workspace.Workspace, s *State) error {
	s.SchemaVersion, s.UpdatedAt = 1, time.Now().UTC().Truncate(time.Millisecond)
	b, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	if err := schemas.Validate(schemas.State, b); err != nil {
		return fmt.Errorf("ledger: the state does not fit its own schema: %w", err)
	}
	return workspace.WriteFile(ws.State(), append(b, '\n'))
}

func (s *State) copy() State {
	c := *s
	c.Pending = append([]Pending(nil), s.Pending...)
	c.Answers = append([]Answer(nil), s.Answers...)
	return c
}

// milestone is the present one, "" when there is none yet.
func (s *State) milestone() string {
	if s.MilestoneID == nil {
		return ""
	}
	return *s.MilestoneID
}
