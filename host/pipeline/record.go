package pipeline

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/paxiom/relay/host/internal/attest"
	"github.com/paxiom/relay/host/internal/ledger"
	"github.com/paxiom/relay/host/internal/quota"
	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/host/pipeline/answer"
	"github.com/paxiom/relay/host/pipeline/prd"
	"github.com/paxiom/relay/judge"
)

// The files of a pipeline in the workspace.
const (
	rootDir    = "pipeline"
	tasksDir   = "tasks" // a folder for each attempt
	plansDir   = "plans" // plans and reviews for people
	recordFile = "run.json"
	memoryFile = "context.json"
	logFile    = "log.jsonl"
	trailFile  = "trail.json"
	callsDir   = "calls"
)

func dir(ws *workspace.Workspace, name ...string) string {
	return filepath.Join(append([]string{ws.Dir(), rootDir}, name...)...)
}

func (p *Pipeline) dir(name ...string) string { return dir(p.env.WS, name...) }

// Record is all that is known of one attempt at a task: trail.json.
type Record struct {
	SchemaVersion int      `json:"schema_version"`  // 1
	Attempt       string   `json:"attempt"`         // <task>.<n>, the name of its folder
	RunID         string   `json:"run_id"`          // of the change: refs, trailers
	PipelineID    string   `json:"pipeline_run_id"` // the run over the task list
	TaskID        string   `json:"task_id"`
	Task          prd.Task `json:"task"`           // as it was when the attempt began
	Key           string   `json:"key,omitempty"`  // its result is left under this key, and nothing lands
	From          string   `json:"from,omitempty"` // it joins the result of this key, which another attempt has made
	Base          string   `json:"base_commit"`
	Branch        string   `json:"branch"`

	StartedAt time.Time   `json:"started_at"`
	EndedAt   time.Time   `json:"ended_at,omitzero"`
	Step      string      `json:"step,omitempty"` // the one that is under way
	Steps     []StepDone  `json:"steps"`
	Plan      *PlanFacts  `json:"plan,omitempty"`
	Sessions  []Session   `json:"sessions"` // of builders
	Reviews   []Review    `json:"reviews"`
	Findings  []Finding   `json:"findings"` // of all reviews
	Checks    []Check     `json:"checks"`   // runs of the validation command
	Criteria  []Criterion `json:"criteria"`
	// NewTests is what the last look at the change's new tests found, before a review.
	NewTests  *report.NewTests `json:"new_tests,omitempty"`
	Decisions []Decision       `json:"decisions,omitempty"` // the operator's
	Judged    *Judged          `json:"judged,omitempty"`    // the last look at the change
	Policy    *report.Policy   `json:"policy,omitempty"`    // the policy as code, and what it made of the change
	// Box says which containment was in force.
	Box *report.BoxReport `json:"box,omitempty"`

	// Calls are all that were made, those whose answer is lost included. They stand in
	// usage.jsonl from UsageOffset on.
	Calls       []ledger.Line `json:"calls"`
	UsageOffset int64         `json:"usage_offset,omitempty"` // in bytes, into usage.jsonl

	Raised int `json:"raised,omitempty"` // how often the operator gave as many dollars again

	Limits   []report.Limit  `json:"limits,omitempty"`
	Waits    []Waited        `json:"waits,omitempty"`
	Switches []report.Switch `json:"switches,omitempty"`
	Notes    []string        `json:"notes,omitempty"`

	Waiting *Question   `json:"waiting,omitempty"` // what the operator is asked
	Wait    *quota.Wait `json:"wait,omitempty"`    // for the end of vendors' limits, while it lasts
	Lost    string      `json:"lost,omitempty"`    // why its work is gone: another attempt follows
	// Network is what its boxes were refused.
	Network []report.Network `json:"network,omitempty"`
	// Conflict is how what was built in a work tree of its own did not go together with
	// what had landed meanwhile.
	Conflict string     `json:"conflict,omitempty"`
	Code     judge.Code `json:"code,omitempty"` // how it ended; "" while it has not
	Summary  string     `json:"summary,omitempty"`
	Evidence string     `json:"evidence,omitempty"` // of what landed; see report.Verification
	Why      string     `json:"why,omitempty"`
	Next     string     `json:"next,omitempty"`
	Commit   string     `json:"commit,omitempty"` // the last of Commits
	Commits  []string   `json:"commits"`
	Salvage  string     `json:"salvage,omitempty"` // the ref that keeps what was rejected
	Kept     string     `json:"kept,omitempty"`    // the commit that keeps the work while the operator is asked
	Memory   string     `json:"memory,omitempty"`  // the new rolling summary
	Settled  bool       `json:"settled"`           // its end is in prd.json
}

// StepDone is one step with its time.
type StepDone struct {
	Name string `json:"name"` // of the step
	MS   int64  `json:"ms"`
	Text string `json:"text,omitempty"` // what came of it
}

// PlanFacts is the plan, whose text is in File.
type PlanFacts struct {
	Provider string   `json:"provider"`
	Model    string   `json:"model,omitempty"`
	File     string   `json:"file"` // relative to the repository
	SHA256   string   `json:"sha256"`
	Files    []string `json:"files"`              // that it names
	Question string   `json:"question,omitempty"` // that the planner asks the operator
}

// Session is one process of a builder.
type Session struct {
	Name     string           `json:"name"` // code-1-1, cleanup-2-1, …
	Step     string           `json:"step"` // code or cleanup
	Round    int              `json:"round"`
	Builder  string           `json:"builder"` // its name
	Model    string           `json:"model,omitempty"`
	End      string           `json:"end"` // done, cap, invalid or open
	Why      string           `json:"why,omitempty"`
	MS       int64            `json:"ms"`
	Summary  string           `json:"summary,omitempty"` // in its own words
	Memory   string           `json:"memory,omitempty"`  // its summary for the next session
	Commits  int              `json:"commits"`           // its own, so far
	Judged   Judged           `json:"judged"`
	Outcomes []answer.Outcome `json:"outcomes,omitempty"`
}

// The ends of a session. All but done are followed by a fresh process.
const (
	endDone    = "done"
	endCap     = "cap"     // it was ended at its cap
	endInvalid = "invalid" // its result is not valid
	endOpen    = "open"    // it left findings without an outcome
)

// Judged is what the judge found in the box.
type Judged struct {
	Code       judge.Code `json:"code"`
	Files      int        `json:"files"`
	Added      int        `json:"lines_added"`
	Deleted    int        `json:"lines_deleted"`
	New        int        `json:"new_files"`
	Paths      []string   `json:"paths"`                // the first ones
	Violations []string   `json:"violations,omitempty"` // each of Rules on a line
	// Rules are those that were broken, the first ones.
	Rules []report.RuleHit `json:"rules,omitempty"`
}

// Review is one review of the whole change.
type Review struct {
	Round    int    `json:"round"`
	Provider string `json:"provider"`
	Model    string `json:"model,omitempty"`
	Summary  string `json:"summary"`
	Diff     string `json:"diff_sha256"`
	Found    int    `json:"findings"` // how many
	New      int    `json:"new"`      // of them, not found before
}

// Finding is one thing that a review found, and what came of it.
type Finding struct {
	ID    string `json:"id"`
	Round int    `json:"round"`
	answer.Finding
	Outcome string `json:"outcome,omitempty"` // fixed or refuted
	Why     string `json:"why,omitempty"`
}

// Check is one run of a command in a fresh box with the change.
type Check struct {
	Round   int      `json:"round"`
	Command []string `json:"command"`
	OK      bool     `json:"ok"`
	Outcome string   `json:"outcome"`
	// ExitCode is -1 when it did not exit by itself.
	ExitCode int    `json:"exit_code"`
	TimedOut bool   `json:"timed_out,omitempty"`
	MS       int64  `json:"ms"`
	File     string `json:"file"` // with its output, in the attempt's folder
	// Code is what it ends the task with when it fails in the last round.
	Code  judge.Code        `json:"code,omitempty"`
	Tests *report.TestFacts `json:"tests,omitempty"` // what its tests said by name
	// Hidden says how many hidden checks passed, such as "2 of 2": it is about them, and
	// has neither command nor output. They made their values from Seed.
	Hidden string `json:"hidden,omitempty"`
	Seed   uint64 `json:"hidden_seed,omitempty"` // repeats its random choices
}

// Name is what was run.
func (c Check) Name() string {
	if c.Hidden != "" {
		return "the hidden checks"
	}
	return strings.Join(c.Command, " ")
}

// Criterion is one acceptance criterion with its verdict.
type Criterion struct {
	Text     string `json:"text"` // as the task list has it
	Provider string `json:"provider"`
	answer.Verdict
	ByOperator bool `json:"by_operator,omitempty"` // the operator decided it
}

// Question is what the operator is asked.
type Question struct {
	Name     string    `json:"name"` // of the wait
	Kind     string    `json:"kind"` // plan, criteria or dollars
	Text     string    `json:"text"`
	Criteria []int     `json:"criteria,omitempty"` // the numbers of those that are unsure
	Since    time.Time `json:"since"`
}

// Decision is what the operator answered.
type Decision struct {
	Question string    `json:"question"`       // the question's text
	Kind     string    `json:"kind,omitempty"` // of the question; "" in older trails: criteria
	Yes      bool      `json:"yes"`            // to a question about criteria
	Text     string    `json:"text,omitempty"` // the operator's own words
	At       time.Time `json:"at"`
	// Approval is a yes to what was built.
	Approval *attest.Approval `json:"approval,omitempty"`
}

// Waited is one wait for limits that is over.
type Waited struct {
	quota.Wait
	Ended time.Time `json:"ended"` // when the wait was over
}

// At says in few words where an attempt that has not ended stands.
func (t *Record) At() string {
	switch {
	case t.Code != "":
		return "ended with " + string(t.Code) + "; the next run writes it down"
	case t.Step == "":
		return "before its first step"
	}
	return "at " + t.Step
}

// calls are those that the books have for the attempt, the lost and the failed ones among
// them.
func (t *Record) calls(ws *workspace.Workspace) []ledger.Line {
	if t.From != "" { // they stand in the books of who made it
		return t.Calls
	}
	calls := []ledger.Line{}
	_ = ledger.UsagesFrom(ws, t.UsageOffset, func(u ledger.Line) error { // `relay cost` says which lines can't be read
		if u.RunID == t.RunID {
			calls = append(calls, u)
		}
		return nil
	})
	return calls
}

func (t *Record) write(p *Pipeline) error {
	t.Calls = t.calls(p.env.WS)
	err := workspace.WriteJSON(p.dir(tasksDir, t.Attempt, trailFile), t)
	_ = p.env.WS.Publish() // old copies harm nothing
	return err
}

// Attempts are the trails of a task, newest first.
func Attempts(ws *workspace.Workspace, task string) ([]*Record, error) {
	numbers, err := attemptNumbers(ws, task)
	if err != nil {
		return nil, err
	}
	var all []*Record
	for _, n := range numbers {
		t, err := readTrail(ws, attemptID(task, n))
		if err != nil {
			return nil, err
		}
		if t != nil {
			all = append(all, t)
		}
	}
	return all, nil
}

// newest is the last attempt at a task; nil when there was none.
func newest(ws *workspace.Workspace, task string) (*Record, error) {
	numbers, err := attemptNumbers(ws, task)
	if err != nil || len(numbers) == 0 {
		return nil, err
	}
	return readTrail(ws, attemptID(task, numbers[0]))
}

func attemptID(task string, n int) string { return fmt.Sprintf("%s.%d", task, n) }

// nextAttempt is the name of the attempt after those that there are.
func nextAttempt(ws *workspace.Workspace, task string) (string, error) {
	numbers, err := attemptNumbers(ws, task)
	return attemptID(task, 1+slices.Max(append(numbers, 0))), err
}

// attemptNumbers are those of a task's attempts, newest first. The folder of an attempt
// is the task's id and its number; the id may have dots and numbers of its own.
func attemptNumbers(ws *workspace.Workspace, task string) ([]int, error) {
	folders, err := os.ReadDir(dir(ws, tasksDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var numbers []int
	for _, f := range folders {
		rest, ok := strings.CutPrefix(f.Name(), task+".")
		if n, err := strconv.Atoi(rest); ok && err == nil && n > 0 && f.IsDir() {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	slices.Reverse(numbers)
	return numbers, err
}

func readTrail(ws *workspace.Workspace, attempt string) (*Record, error) {
	return workspace.ReadJSON[Record](dir(ws, tasksDir, attempt, trailFile), 64<<20, json.Unmarshal)
}

// every calls fn for the newest attempt at each task.
func every(ws *workspace.Workspace, fn func(*Record)) error {
	folders, err := os.ReadDir(dir(ws, tasksDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	last := map[string]int{}
	var tasks []string
	for _, f := range folders {
		i := strings.LastIndexByte(f.Name(), '.')
		if i < 0 || !f.IsDir() {
			continue
		}
		n, err := strconv.Atoi(f.Name()[i+1:])
		if err != nil {
			continue
		}
		if id := f.Name()[:i]; n > last[id] {
			if last[id] == 0 {
				tasks = append(tasks, id)
			}
			last[id] = n
		}
	}
	for _, id := range tasks {
		t, err := readTrail(ws, attemptID(id, last[id]))
		if err != nil {
			return err
		}
		if t != nil {
			fn(t)
		}
	}
	return nil
}

// Open are the attempts whose end is not in the list yet.
func Open(ws *workspace.Workspace) (open []*Record, err error) {
	err = every(ws, func(t *Record) {
		if !t.Settled {
			if t.Wait != nil && !sleeps(ws, t) {
				t.Wait = nil
			}
			open = append(open, t)
		}
	})
	return open, err
}

// Waiting are the attempts that wait for the operator.
func Waiting(ws *workspace.Workspace) (waiting []*Record, err error) {
	err = every(ws, func(t *Record) {
		if !t.Settled && t.Waiting != nil {
			waiting = append(waiting, t)
		}
	})
	return waiting, err
}

func readRecord(ws *workspace.Workspace) (*record, error) {
	return workspace.ReadJSON[record](dir(ws, recordFile), 1<<20, json.Unmarshal)
}
