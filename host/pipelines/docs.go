package pipelines

import (
	"time"

	"github.com/paxiom/relay/host"
	"github.com/paxiom/relay/host/pipeline/prd"
)

// TaskLine is one task of the list.
type TaskLine struct {
	ID        string   `json:"id"`
	Title     string   `json:"title"`
	Status    string   `json:"status"`
	Priority  int      `json:"priority"`
	DependsOn []string `json:"depends_on,omitempty"`
	Waits     []string `json:"waits,omitempty"`   // the blockers that are not over yet
	HeldBy    string   `json:"held_by,omitempty"` // a failed task that it can't start without
	Ready     bool     `json:"ready"`             // it can start now
	// Step is the one that the attempt at it is at, Asked what the operator is asked.
	Step  string `json:"step,omitempty"`
	Asked string `json:"asked,omitempty"` // what the operator is asked
}

// TasksResult is the task list.
type TasksResult struct {
	host.Doc
	Tasks  []TaskLine     `json:"tasks"`
	Ready  []string       `json:"ready,omitempty"` // what may start now, the next one first
	Counts map[string]int `json:"counts"`          // by status
}

// TaskResult is one task with all that is known of it.
type TaskResult struct {
	host.Doc
	TaskLine
	Description string     `json:"description,omitempty"` // what is to be done
	Criteria    []string   `json:"acceptance_criteria,omitempty"`
	Validation  []string   `json:"validation,omitempty"` // argv
	Scope       *prd.Scope `json:"scope,omitempty"`
	Blocks      []string   `json:"blocks,omitempty"`    // the tasks that wait for it
	Artifacts   []string   `json:"artifacts,omitempty"` // plan and review, where they are
	CompletedAt *time.Time `json:"completed_at,omitempty"`
	Unsigned    string     `json:"unsigned,omitempty"` // why the approval that was just given has no key
	Notes       string     `json:"notes,omitempty"`
	// Attempts are all that is known of the attempts at it, newest first.
	Attempts []*host.TaskAttempt `json:"attempts,omitempty"`
}

// NewTask is a task to be added.
type NewTask struct {
	ID         string // "" makes one of the title
	Title      string
	Priority   int
	DependsOn  []string
	Criteria   []string
	Validation string // plain words; no shell
}

// TaskEdit are the fields to be changed; nil leaves one as it is.
type TaskEdit struct {
	Title      *string
	Priority   *int
	Notes      *string
	Validation *string
	Criteria   []string
}

// GraphResult is a drawing of the task list.
type GraphResult struct {
	host.Doc
	Text string `json:"text"` // the drawing
}

// Files is what pipeline init wrote and import would write.
type Files struct {
	host.Doc
	Wrote  []string   `json:"wrote"`
	Kept   []string   `json:"kept,omitempty"`   // files that were there already
	Tasks  int        `json:"tasks,omitempty"`  // how many
	Losses []prd.Loss `json:"losses,omitempty"` // what a foreign file had and a task list has no place for
	DryRun bool       `json:"dry_run,omitempty"`
	Text   string     `json:"text,omitempty"` // what would be written
	Next   string     `json:"next,omitempty"`
}

// CheckResult is what a check of the task list found; a broken list is an error.
type CheckResult struct {
	host.Doc
	Tasks    int      `json:"tasks"`           // how many
	Ready    []string `json:"ready,omitempty"` // ids of those that can start now
	Warnings []string `json:"warnings,omitempty"`
	// Estimate is what a run may cost; nil where relay is not set up.
	Estimate *host.PipelineEstimate `json:"estimate,omitempty"`
}
