package prompts

import (
	"fmt"
	"strings"
)

// Caps of the sections of pipelines, in characters.
const (
	capAgents   = 20_000
	capText     = 8000 // a description, a note, a criterion
	capMemory   = 40_000
	capTree     = 12_000
	capDiff     = 400_000
	capOutput   = 12_000
	capState    = 6000 // each part of what an earlier process left
	capEarlier  = 12_000
	capTaskList = 200_000
	capClaim    = 2000
	maxFindings = 200
	maxCriteria = 100
	maxOutputs  = 20
)

// PipelineTask is a task of a pipeline's list, as every step is told it.
type PipelineTask struct {
	ProductName        string
	ID, Title          string
	Description, Notes string
	Criteria           []string
	Validation         []string // argv of the command that tries the result
	Agents             string   // AGENTS.md of the repository
	Earlier            string   // what became of an earlier attempt: why it was refused, or the conflict it met

	Allowed, Forbidden   []string
	AllowNewFiles        bool
	AllowLockfileChanges bool
	MaxFiles, MaxLines   int
}

func (t PipelineTask) values() values {
	return values{
		"product_name": product(t.ProductName), "id": word(t.ID), "title": word(t.Title),
		"description": block(t.Description, capText), "notes": block(t.Notes, capText),
		"criteria": numbered(t.Criteria), "validation": list(t.Validation),
		"agents": block(t.Agents, capAgents), "earlier": block(t.Earlier, capEarlier),
		"allowed_globs": list(t.Allowed), "forbidden_globs": list(t.Forbidden),
		"allow_new_files": yesNo(t.AllowNewFiles), "allow_lockfile_changes": yesNo(t.AllowLockfileChanges),
		"max_files": number(t.MaxFiles), "max_lines": number(t.MaxLines),
	}
}

// Finding is one thing that a review found, and what came of it.
type Finding struct {
	ID, Severity, File string
	Line               int // 0: none in particular
	Claim, Evidence    string
	Outcome, Why       string // fixed or refuted, once it was dealt with
}

// Output is a command that relay ran itself, with what it printed.
type Output struct{ Command, Text string }

// Resume is what a process that was ended at its cap left for a fresh one.
type Resume struct {
	Attempt                     int // 1 for the first fresh process
	Reason                      string
	Log, Status, DiffStat, Left string // as git and the earlier steps know it
}

// PlanData is all that the planner of a task is told.
type PlanData struct {
	Task         PipelineTask
	Memory       string // context.json: what earlier tasks left
	Files        string // the repository's files
	ResultSchema []byte

	Call
}

func (PlanData) role() string { return "plan" }

func (d PlanData) values() values {
	v := d.Task.values()
	v["memory"], v["files"], v["result_schema"] = block(d.Memory, capMemory), block(d.Files, capTree), schema(d.ResultSchema)
	return v
}

// CodeData is all that the builder of a task is told.
type CodeData struct {
	Task         PipelineTask
	Plan         string
	Resume       *Resume
	ResultSchema []byte
	Call
}

func (CodeData) role() string { return "code" }

func (d CodeData) values() values {
	v := d.Task.values()
	v["plan"], v["resume"], v["result_schema"] = block(d.Plan, capPlan), resume(d.Resume), schema(d.ResultSchema)
	return v
}

// ReviewData is all that a task's reviewer is told.
type ReviewData struct {
	Task         PipelineTask
	Plan         string
	Round        int       // 1 for the first
	Diff         string    // of the whole task, as it really is
	Code         string    // the changed files, with line numbers
	Outputs      []Output  // commands that relay has run on it
	Findings     []Finding // of earlier rounds, with their outcomes
	ResultSchema []byte

	Call
}

func (ReviewData) role() string { return "review" }

func (d ReviewData) values() values {
	v := d.Task.values()
	v["plan"], v["round"] = block(d.Plan, capPlan), number(d.Round)
	v["diff"], v["code"] = block(d.Diff, capDiff), block(d.Code, capDiff)
	v["outputs"], v["earlier_findings"], v["result_schema"] = outputs(d.Outputs), findings(d.Findings), schema(d.ResultSchema)
	return v
}

// CleanupData is all that the builder is told who brings a task to its end.
type CleanupData struct {
	Task         PipelineTask
	Plan         string
	Findings     []Finding
	Outputs      []Output // commands that failed on what is there
	Memory       string   // the rolling summary of earlier tasks
	Resume       *Resume
	ResultSchema []byte
	Call
}

func (CleanupData) role() string { return "cleanup" }

func (d CleanupData) values() values {
	v := d.Task.values()
	v["plan"], v["findings"], v["outputs"] = block(d.Plan, capPlan), findings(d.Findings), outputs(d.Outputs)
	v["memory"], v["resume"], v["result_schema"] = block(d.Memory, capText), resume(d.Resume), schema(d.ResultSchema)
	return v
}

// CriteriaData is all that the checker of a task's acceptance criteria is told.
type CriteriaData struct {
	Task         PipelineTask
	Diff         string
	Code         string // the files to look at, with line numbers
	Outputs      []Output
	ResultSchema []byte

	Call
}

func (CriteriaData) role() string { return "criteria" }

func (d CriteriaData) values() values {
	v := d.Task.values()
	v["diff"], v["code"] = block(d.Diff, capDiff), block(d.Code, capDiff)
	v["outputs"], v["result_schema"] = outputs(d.Outputs), schema(d.ResultSchema)
	return v
}

// GenerateData is all that the author of a task list is told.
type GenerateData struct {
	ProductName  string
	Agents       string // AGENTS.md
	Tasks        string // prd.json as it is
	Files        string // the repository's files
	ResultSchema []byte

	Call
}

func (GenerateData) role() string { return "generate" }

func (d GenerateData) values() values {
	return values{"product_name": product(d.ProductName), "agents": block(d.Agents, capTaskList), "tasks": block(d.Tasks, capTaskList),
		"files": block(d.Files, capTree), "result_schema": schema(d.ResultSchema)}
}

// ExaminerData is all that the author of a hidden check is told.
type ExaminerData struct {
	ProductName  string
	Description  string // the operator's
	Skeleton     string // a check of another module, in the language that it is to be in
	Files        string // the repository's files
	Sources      string // the text of some of them
	ResultSchema []byte

	Call
}

func (ExaminerData) role() string { return "examiner" }

func (d ExaminerData) values() values {
	return values{"product_name": product(d.ProductName), "description": block(d.Description, capText), "skeleton": block(d.Skeleton, capTaskList),
		"files": block(d.Files, capTree), "sources": block(d.Sources, capDiff), "result_schema": schema(d.ResultSchema)}
}

// numbered gives texts one after the other, each below its number.
func numbered(all []string) string {
	return sections(all, maxCriteria, "criteria", func(b *strings.Builder, n int, s string) {
		fmt.Fprintf(b, "%d.\n%s", n, block(s, capText))
	})
}

func outputs(all []Output) string {
	return sections(all, maxOutputs, "commands", func(b *strings.Builder, n int, o Output) {
		fmt.Fprintf(b, "Command %d:\n%s\nWhat it printed:\n%s", n, block(o.Command, capClaim), block(o.Text, capOutput))
	})
}

func findings(all []Finding) string {
	return sections(all, maxFindings, "findings", func(b *strings.Builder, _ int, f Finding) {
		fmt.Fprintf(b, "Finding %s, %s, file %s, line %s\nClaim:\n%s\nEvidence:\n%s",
			word(f.ID), word(f.Severity), word(f.File), number(f.Line), block(f.Claim, capClaim), block(f.Evidence, capClaim))
		if f.Outcome != "" {
			fmt.Fprintf(b, "\nWhat came of it: %s, because:\n%s", word(f.Outcome), block(f.Why, capClaim))
		}
	})
}

// sections gives each entry its own lines, at most limit of them.
func sections[T any](all []T, limit int, what string, one func(*strings.Builder, int, T)) string {
	if len(all) == 0 {
		return none
	}
	left := len(all) - limit
	if left > 0 {
		all = all[:limit]
	}
	var b strings.Builder
	for i, e := range all {
		if i > 0 {
			b.WriteByte('\n')
		}
		one(&b, i+1, e)
	}
	if left > 0 {
		fmt.Fprintf(&b, "\n[relay left out %d more %s]", left, what)
	}
	return b.String()
}

// resume tells a fresh process where it stands.
func resume(r *Resume) string {
	if r == nil {
		return "You begin this step; nobody was here before you."
	}
	return strings.Join([]string{
		fmt.Sprintf("You continue this step: you are fresh process number %d of it. The one before you was ended: %s.", r.Attempt, word(r.Reason)),
		"What it did is in the files. Trust what git says below, not what you would expect, and don't start over.",
		"Commits of this task so far:", block(r.Log, capState),
		"Uncommitted (git status):", block(r.Status, capState),
		"Changed so far (git diff --stat):", block(r.DiffStat, capState),
		"What is left:", block(r.Left, capState)}, "\n")
}
