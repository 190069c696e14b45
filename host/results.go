package host

import (
	"context"
	"time"

	"github.com/paxiom/relay/host/fault"
	"github.com/paxiom/relay/host/internal/catalog"
	"github.com/paxiom/relay/host/internal/history"
	"github.com/paxiom/relay/host/internal/trust"
	"github.com/paxiom/relay/host/tick"
)

// CheckResult is one line of doctor or of preflight.
type CheckResult struct {
	ID   string `json:"id"`   // for example "git", "lock", "box"
	OK   bool   `json:"ok"`   //
	Skip bool   `json:"skip"` // not looked at, since an earlier check failed
	Code Code   `json:"code,omitempty"`
	What string `json:"what"` // one line: what was found
	Why  string `json:"why,omitempty"`
	Fix  string `json:"next,omitempty"`
	// PluginSays is what a plugin suggests; relay does not vouch for it.
	PluginSays string `json:"plugin_says,omitempty"`
	// Warnings are for a person to know though nothing stands in the way.
	Warnings []string `json:"warnings,omitempty"`
	// Gaps are what a means of containment does not stop.
	Gaps []string `json:"gaps,omitempty"`
}

// DoctorResult is what doctor found.
type DoctorResult struct {
	Doc
	OK     bool          `json:"ok"`
	Checks []CheckResult `json:"checks"`
}

// StatusResult is what is known without starting anything, and preflight when asked.
type StatusResult struct {
	Doc
	Root        string        `json:"root"`
	Config      string        `json:"config,omitempty"`
	Workspace   string        `json:"workspace,omitempty"`
	Branch      string        `json:"branch,omitempty"`
	MilestoneID string        `json:"milestone_id,omitempty"`
	Lock        string        `json:"lock"` // free, held, stale or corrupt
	LockPID     int           `json:"lock_pid,omitempty"`
	Budgets     []BudgetLine  `json:"budgets,omitempty"`
	Warning     bool          `json:"budget_warning,omitempty"`
	Alerts      []string      `json:"alerts,omitempty"` // caps of a day that are half used
	LastRun     *RunLine      `json:"last_run,omitempty"`
	Loop        *LoopSeen     `json:"loop,omitempty"`     // that runs, or the last one
	Question    string        `json:"question,omitempty"` // waits on the operator
	Choices     []string      `json:"choices,omitempty"`
	AskedBy     string        `json:"asked_by,omitempty"` // the run whose question it is
	Blocked     *Blocked      `json:"blocked,omitempty"`
	Unfinished  string        `json:"unfinished,omitempty"` // run whose journal is open
	Cycles      []CycleLine   `json:"cycles,omitempty"`     // in flight, those that wait first
	LastCycle   *CycleLine    `json:"last_cycle,omitempty"` // the newest that has ended
	Pipeline    *PipelineSeen `json:"pipeline,omitempty"`   // the newest run over the task list
	Needs       []Need        `json:"needs,omitempty"`      // what waits for the operator, most urgent first
	Waits       []Need        `json:"waits,omitempty"`      // what goes on by itself at a known time
	Today       *CostResult   `json:"cost_today,omitempty"` // by provider, where cycles are in flight or have ended today
	Preflight   []CheckResult `json:"preflight,omitempty"`
	Ready       *bool         `json:"ready,omitempty"` // of the preflight
	Problem     *CheckResult  `json:"problem,omitempty"`
	Next        string        `json:"next"` // the next sensible command
	ExitCode    int           `json:"exit_code"`

	lockedBy string // the command that has the lock
	spent    string // what to type when the budgets cover no tick; "" when they do
}

// BudgetLine is one counter and its cap; Max 0 means no cap.
type BudgetLine struct {
	Name string  `json:"name"`
	Used float64 `json:"used"`
	Max  float64 `json:"max"`
	// Unknown is how many calls of unknown cost there are, which count as what others cost.
	Unknown int `json:"unknown_calls,omitempty"`
}

// RunLine is one run in a list.
type RunLine struct {
	history.Meta
	ExitCode int `json:"exit_code"`
}

// RunOptions are one call of relay run.
type RunOptions struct {
	Goal      string // the operator's words; "" takes none
	TaskFile  string // judge this task with no orchestrator call
	Task      []byte // the task itself; TaskFile then only names where it came from
	RecordDir string // write every provider call there, as a script for replay
	Beyond    bool   // the task may have more than the ceiling gives
	Observer  Observer
	// ChangedTests is asked whether a change may land that no longer runs tests of the base,
	// or fails with them. nil: it may not.
	ChangedTests func(context.Context, ChangedTests) bool
	// Key is the run's idempotency key: where a run with it has ended, its result is given
	// again. Signers is a file of allowed signers whose results from elsewhere count, besides
	// those of this machine; Push a remote that is asked for the result before, and gets it and
	// what landed after.
	Key, Signers, Push string
	// Policy is asked whether a change may land that rules of the policy ask about; nil: the
	// run ends with the question.
	Policy func(context.Context, []PolicyHit, []FileDiff) bool
}

// ChangedTests are what a change does to tests where those of the base no longer run, or
// no longer pass.
type ChangedTests struct {
	Why     string
	Missing []string // those that no longer run, each with what became of it
	Files   []FileDiff
}

// RunResult is how a tick ended. Report is set whenever the run got an id.
type RunResult struct {
	Doc
	Report  *Report  `json:"report"`
	Blocked *Blocked `json:"blocked,omitempty"`
	Patch   string   `json:"patch,omitempty"` // file with what was judged
	// Earlier is set where nothing was done, since a run with this key had ended before.
	Earlier  *EarlierRun `json:"earlier,omitempty"`
	Result   string      `json:"result,omitempty"` // the commit that holds the result of a run with a key
	Pushed   *RunPushed  `json:"pushed,omitempty"`
	ExitCode int         `json:"exit_code"`
}

// EarlierRun is the run that had ended with the same key.
type EarlierRun = tick.Earlier

// RunPushed is what became of the push of a run with a key.
type RunPushed struct {
	To     string `json:"to"`               // the remote
	Result string `json:"result,omitempty"` // the ref there; "" when it was not pushed
	Branch string `json:"branch,omitempty"` // that has what landed there; "" when nothing landed
	Code   Code   `json:"code,omitempty"`   // why not all of it was pushed, as below
	What   string `json:"what,omitempty"`
	Why    string `json:"why,omitempty"`
	Fix    string `json:"next,omitempty"`
}

// AnswerResult says which question was answered.
type AnswerResult struct {
	Doc
	RunID  string `json:"run_id"`
	Prompt string `json:"prompt"`
	Answer string `json:"answer"`
	// Key is of who gave the approval that the answer is; Unsigned says why git's SSH key did
	// not sign it.
	Key      string `json:"key,omitempty"`
	Unsigned string `json:"unsigned,omitempty"`
	Next     string `json:"next"`
}

// ShowResult is one run in full.
type ShowResult struct {
	Doc
	Run      RunLine       `json:"run"`
	Report   *Report       `json:"report,omitempty"`
	Markdown string        `json:"-"`
	Explain  *Explanation  `json:"explain,omitempty"`
	Files    []HistoryFile `json:"files"`
	Rules    []RuleLook    `json:"rules,omitempty"`     // what decided, one rule after the other
	Output   []string      `json:"output,omitempty"`    // the last lines of the check that failed
	Tests    []FileDiff    `json:"tests,omitempty"`     // what was done to tests, where they decided
	Diff     []FileDiff    `json:"diff,omitempty"`      // with --diff
	Landed   bool          `json:"landed"`              // its commit is in the history of a branch
	LandedOn string        `json:"landed_on,omitempty"` // of which one, where it is not in that of HEAD
	Way      string        `json:"way,omitempty"`       // out of a verdict that is none of success
	Next     fault.Steps   `json:"next,omitempty"`
}

// HistoryFile is one file that a run left behind.
type HistoryFile struct {
	Name  string `json:"name"`
	Path  string `json:"path"` // absolute
	Bytes int64  `json:"bytes"`
}

// HistoryListResult lists runs, newest first.
type HistoryListResult struct {
	Doc
	Runs  []RunLine `json:"runs"`
	Total int       `json:"total"`
	Bytes int64     `json:"bytes"`
}

// PruneOptions say what to remove; zero values do not limit.
type PruneOptions struct {
	Keep      int
	OlderThan time.Duration
	MaxBytes  int64
	DryRun    bool
}

// PruneResult is what was removed.
type PruneResult struct {
	Doc
	Runs []string `json:"runs"`
	Refs []string `json:"refs,omitempty"`
	// Attempts is of how many attempts at tasks the files went.
	Attempts int   `json:"attempts,omitempty"`
	Bytes    int64 `json:"bytes"`
	DryRun   bool  `json:"dry_run,omitempty"`
}

// UndoResult is the commit that took a landed change back.
type UndoResult struct {
	Doc
	RunID  string   `json:"run_id"`
	Undone string   `json:"undone"` // the commit that was taken back
	Commit string   `json:"commit"` // the new commit; "" when nothing was done
	Paths  []string `json:"paths"`
	Notes  []string `json:"notes,omitempty"`
}

// SalvageOptions say where a rejected change goes; at most one of the two.
type SalvageOptions struct {
	Branch string // make this branch from the rejected tree
	Patch  string // write the patch to this file, "-" gives it in the result
}

// SalvageResult is where a rejected change is now.
type SalvageResult struct {
	Doc
	RunID  string      `json:"run_id"` // of a cycle's revision, too
	name   string      // by which it is asked for again
	Ref    string      `json:"ref,omitempty"` // refs/relay/…; "" when only the patch exists
	Branch string      `json:"branch,omitempty"`
	File   string      `json:"file,omitempty"`
	Patch  string      `json:"patch,omitempty"`
	Notes  []string    `json:"notes,omitempty"`
	Next   fault.Steps `json:"next,omitempty"`
}

// RecoverResult is what recover found and did.
type RecoverResult struct {
	Doc
	Runs  []string `json:"runs"`  // runs whose journal was open
	Done  []string `json:"done"`  // one line for each thing that was done
	Clean bool     `json:"clean"` // nothing is left to recover
	Next  string   `json:"next,omitempty"`
}

// TrustOptions steer trust.
type TrustOptions struct {
	Service string // of this service; "" is the configuration
	Show    bool   // change nothing
	Revoke  bool
	Digest  string // trust only if the configuration has this digest
}

// TrustResult is what a configuration asks for, and whether it is trusted now.
type TrustResult struct {
	Doc
	Digest  string       `json:"digest"`
	Items   []trust.Item `json:"items"`
	Trusted bool         `json:"trusted"`
	// Changes are what is not as it was when this was agreed to the last time; Known reports
	// whether there was a last time.
	Changes []trust.Change `json:"changes,omitempty"`
	Known   bool           `json:"known,omitempty"`
	// Ceiling is what you have added to the repository's ceiling for good.
	Ceiling trust.Widening `json:"ceiling,omitzero"`
	Revoked bool           `json:"revoked,omitempty"`
}

// ConfigResult is the configuration in force.
type ConfigResult struct {
	Doc
	File    string        `json:"file"`
	Values  []ConfigValue `json:"values"`
	Notices []string      `json:"notices,omitempty"`
}

// PluginListResult is what can be used.
type PluginListResult struct {
	Doc
	Plugins []catalog.Entry `json:"plugins"`
	Problem *CheckResult    `json:"problem,omitempty"` // why those that come with relay are not among them
}
