package task

import "github.com/paxiom/relay/judge"

// Task is one proposed step. Exactly one of Builder and Control is set.
type Task struct {
	TaskID       string         `json:"task_id"`
	MilestoneID  string         `json:"milestone_id"`
	Kind         judge.TaskKind `json:"task_kind"`
	Intent       string         `json:"intent"`
	Question     *Question      `json:"question,omitempty"`
	Scope        Scope          `json:"scope"`
	DiffLimits   DiffLimits     `json:"diff_limits"`
	Verification Verification   `json:"verification"`
	Builder      *Builder       `json:"builder,omitempty"`
	Control      *Control       `json:"control,omitempty"`
}

// Question is what the operator is asked.
type Question struct {
	Prompt  string   `json:"prompt"`
	Choices []string `json:"choices,omitempty"`
}

// Scope is the task's own fence. The configuration's forbidden globs are added to
// it and can't be taken away by it.
type Scope struct {
	AllowedGlobs         []string `json:"allowed_globs"`
	ForbiddenGlobs       []string `json:"forbidden_globs"`
	AllowNewFiles        bool     `json:"allow_new_files"`
	AllowLockfileChanges bool     `json:"allow_lockfile_changes"`
}

// DiffLimits bound the size of the change.
type DiffLimits struct {
	MaxFilesTouched int `json:"max_files_touched"` // 1 to 500
	MaxLinesChanged int `json:"max_lines_changed"` // 1 to 20000
}

// Verification names the checks to run.
type Verification struct {
	Fast   []string                  `json:"fast"`             // ids of checks
	Slow   []string                  `json:"slow"`             // ids of checks
	Params map[string]map[string]any `json:"params,omitempty"` // template id → parameter → scalar
}

// Builder says who does the work, and what it is.
type Builder struct {
	Mode         string `json:"mode"`            // an installed builder
	MaxTurns     int    `json:"max_turns"`       // 1 to 40
	Instructions string `json:"instructions"`    // what is to be done
	Patch        string `json:"patch,omitempty"` // mode "patch" only
}

// Control ends or continues a loop without building anything.
type Control struct {
	Action string `json:"action"` // "continue" or "stop"
	Reason string `json:"reason,omitempty"`
}
