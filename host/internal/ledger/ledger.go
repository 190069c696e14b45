package ledger

import (
	"time"

	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/judge"
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
	UnknownCostCalls int     `json:"unknown_cost_calls"` // calls whose cost nobody knows
}

// Pending is a call that was reserved and not settled.
type Pending struct {
	CallID   string    `json:"call_id"`
	RunID    string    `json:"run_id"`
	Role     string    `json:"role"`
	Provider string    `json:"provider"`
	Model    string    `json:"model,omitempty"`
	At       time.Time `json:"at"`
	MaxUSD   float64   `json:"max_usd,omitempty"`
	Offset   int64     `json:"usage_offset"` // size of usage.jsonl at the reservation
}

// Answer is what the operator answered to a question.
type Answer struct {
	RunID  string    `json:"run_id"`
	Prompt string    `json:"prompt"`
	Answer string    `json:"answer"`
	At     time.Time `json:"at"`
}

// Worst is the most that one tick can use.
type Worst struct {
	OrchestratorCalls int // 1 plus the parse retries
	BuilderCalls      int
	VerifyRuns        int
	CostUSD           float64
}

// Ledger is the open ledger of one workspace. It is for one goroutine at a time;
// the caller holds the workspace's lock.
type Ledger struct{}

// Open reads STATE.json (absent: a fresh one) and settles, as unknown, the calls
// that a crash left pending. recovered says how many those were.
func Open(ws *workspace.Workspace, b config.Budgets) (l *Ledger, recovered int, err error) {
	panic("todo")
}

// Read reads STATE.json without changing anything; a fresh State when there is none.
func Read(ws *workspace.Workspace) (*State, error) { panic("todo") }

// WorstCase is what one tick of this configuration can use at most. checks is the
// most verification runs that a task can ask for; 0 takes the schema's 32.
func WorstCase(c *config.Config, checks int) Worst { panic("todo") }

// State gives a copy of the present state.
func (l *Ledger) State() State { panic("todo") }

// Check refuses a tick: BLOCKED_BUDGET_CAP when a counter is at its cap,
// BLOCKED_BUDGET_EXHAUSTED when what is left does not cover w.
func (l *Ledger) Check(w Worst) error { panic("todo") }

// EnsureMilestone makes id the milestone, at once on disk. A change from another
// milestone archives that one's counters and starts fresh ones; a change from none
// keeps the counters.
func (l *Ledger) EnsureMilestone(id string) (changed bool, err error) { panic("todo") }

// Tick counts one tick, at once on disk.
func (l *Ledger) Tick(runID string) error { panic("todo") }

// Verify counts n verification runs, at once on disk, before they start.
func (l *Ledger) Verify(n int) error { panic("todo") }

// PatchAttempt counts one patch build; the fault is BLOCKED_BUDGET_CAP over max.
func (l *Ledger) PatchAttempt(max int) error { panic("todo") }

// Finish records how the run ended.
func (l *Ledger) Finish(runID string, code judge.Code) error { panic("todo") }

// Answer records the operator's answer; TakeAnswers gives and forgets them.
func (l *Ledger) Answer(a Answer) error          { panic("todo") }
func (l *Ledger) TakeAnswers() ([]Answer, error) { panic("todo") }

// Warnings are one-line texts for the report and the prompt: each counter at or
// over the warning fraction.
func (l *Ledger) Warnings() []string { panic("todo") }

// Summary is the budgets as the orchestrator's prompt shows them.
func (l *Ledger) Summary() string { panic("todo") }

// Call is a paid call about to be made.
type Call struct {
	ID       string // unique in the workspace: the idempotency key
	RunID    string
	Role     string // "orchestrator" or "builder"
	Provider string // plugin name
	Model    string
	MaxUSD   float64 // the most it may cost; 0: not known
}

// Usage is what a call used. nil means that nobody said.
type Usage struct {
	Model            string // that really answered; "" keeps the asked one
	InputTokens      *int64
	OutputTokens     *int64
	CacheReadTokens  *int64
	CacheWriteTokens *int64
	ReasoningTokens  *int64
	CostUSD          *float64 // as reported by the vendor
	CostIsEstimate   bool
	Outcome          string // "ok", "failed", "interrupted"
}

// Reservation is a call that was counted and not yet settled.
type Reservation struct{}

// Reserve counts the call and writes that down before it is made.
func (l *Ledger) Reserve(c Call) (*Reservation, error) { panic("todo") }

// Settle appends the call to usage.jsonl and clears the reservation.
func (r *Reservation) Settle(u Usage) error { panic("todo") }

// Cancel takes the count back: the call was never sent.
func (r *Reservation) Cancel() error { panic("todo") }

// Line is one line of usage.jsonl.
type Line struct {
	At               time.Time `json:"at"`
	CallID           string    `json:"call_id"`
	RunID            string    `json:"run_id"`
	MilestoneID      string    `json:"milestone_id,omitempty"`
	Role             string    `json:"role"`
	Provider         string    `json:"provider"`
	Model            string    `json:"model,omitempty"`
	InputTokens      *int64    `json:"input_tokens"`
	OutputTokens     *int64    `json:"output_tokens"`
	CacheReadTokens  *int64    `json:"cache_read_tokens"`
	CacheWriteTokens *int64    `json:"cache_write_tokens"`
	ReasoningTokens  *int64    `json:"reasoning_tokens,omitempty"`
	CostUSD          *float64  `json:"cost_usd"`   // null: unknown
	CostBasis        string    `json:"cost_basis"` // reported, estimated, table or unknown
	Outcome          string    `json:"outcome"`
}

// Usages calls fn for each line of usage.jsonl, oldest first; torn lines are passed over.
func Usages(ws *workspace.Workspace, fn func(Line) error) error { panic("todo") }
