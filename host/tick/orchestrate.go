package tick

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/catalog"
	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/host/internal/pluginhost"
	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/host/internal/strictjson"
	"github.com/paxiom/relay/host/internal/task"
	"github.com/paxiom/relay/host/internal/trust"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/prompts"
	"github.com/paxiom/relay/schemas"
)

// propose gets the task: from the operator's file, or from the orchestrator. The
// milestone is on disk before anything is built.
func (r *run) propose(ctx context.Context) error {
	if err := r.enter(stateOrchestrate); err != nil {
		return err
	}
	err := r.book.Tick(r.rep.RunID)
	var allowed *trust.Wish
	if err == nil && !r.o.operators() {
		allowed, err = r.takeAllowed()
	}
	switch {
	case err != nil || r.o.Task != nil:
	case allowed != nil:
		if r.approved = allowed.Yes; allowed.Built != nil {
			r.letLand = allowed
		}
		err = r.accept(allowed.Task)
	default:
		err = r.ask(ctx)
	}
	if err != nil {
		return err
	}
	t := r.task
	r.rep.Task = report.Task{TaskID: t.TaskID, MilestoneID: t.MilestoneID, TaskKind: string(t.Kind), Intent: t.Intent}
	if t.Question != nil && t.Kind == judge.Question {
		r.rep.Question = &report.Question{Prompt: t.Question.Prompt, Choices: t.Question.Choices}
	}
	if st := r.book.State(); st.MilestoneID != nil && !st.MilestoneReached {
		r.was = *st.MilestoneID
	}
	if _, err = r.book.EnsureMilestone(t.MilestoneID, t.Control != nil && t.Control.Action == "stop"); err != nil {
		return err
	}
	r.leave(t.TaskID + ": " + t.Intent)
	err = workspace.WriteFile(r.ws.Task(), r.taskJSON)
	// A driver may read TASK.json in the workspace.
	r.publish()
	if err == nil && r.hist != nil && allowed == nil { // what was allowed once is asked about anew
		err = r.hist.Note(r.meta())
	}
	return err
}

// publish brings the copies in the workspace up to date. An old copy is worth a note and
// decides nothing.
func (r *run) publish() {
	if err := r.ws.Publish(); err != nil {
		r.note("the copies in " + r.ws.Rel() + " are not up to date: " + err.Error())
	}
}

// builders are the names and aliases that a task's builder.mode may have: of those that can
// start, since choosing another would cost a call, and of the one that is configured.
func (r *run) builders() []string {
	var names []string
	for _, e := range r.env.Catalog.List() {
		if !e.Is(catalog.Builder) || !r.canStart(&e) {
			continue
		}
		names = append(append(names, e.Name), e.Aliases...)
	}
	for _, alias := range []string{"claude_code", "cursor"} { // the seeds' names
		if slices.Contains(names, catalog.Canonical(alias)) && !slices.Contains(names, alias) {
			names = append(names, alias)
		}
	}
	return names
}

// accept parses a text as a task, under relay's schema and the operator's own.
func (r *run) accept(text []byte) error {
	t, err := task.Parse(text, task.Options{Builders: r.builders()})
	if err != nil {
		return err
	}
	own, err := r.brought(r.cfg.Orchestrator.TaskSchemaFile, 1<<20)
	if err == nil {
		if err := matches(schemas.Narrowing(own), text); err != nil {
			return fmt.Errorf("%s: %w", r.cfg.Orchestrator.TaskSchemaFile, err)
		}
	} else if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if g := r.folderIn(t.Scope.AllowedGlobs); g != "" && t.Kind == judge.Execute {
		return fmt.Errorf("scope.allowed_globs: %q is a folder, and allows nothing in it; write %q", g, g+"/**")
	}
	r.task = t
	r.taskJSON, err = json.MarshalIndent(t, "", "  ")
	return err
}

// matches holds a document to a schema of the operator's, which can only narrow.
func matches(schema, doc []byte) error {
	s, err := schemas.Compile(schema)
	if err != nil {
		return err
	}
	tree, err := strictjson.Decode(doc, task.MaxBytes)
	if err != nil {
		return err
	}
	return schemas.Explain(s.Validate(tree))
}

// takeTask uses the operator's own task.
func (r *run) takeTask() error {
	if err := r.unready(); err != nil {
		return err
	}
	err := r.accept(r.o.Task)
	if err == nil && !r.o.Again {
		err = r.misspelt()
	}
	if err != nil {
		name := strings.TrimSpace("the task " + r.o.TaskName)
		if r.o.TaskName == "-" {
			name = "the task on standard input"
		}
		return diag.Wrap(err, judge.BlockedTaskInvalid, name+" is not valid", "fix it, then `"+r.ownCommand()+"`")
	}
	return nil
}

// unready says why a builder that is installed can't carry out the operator's task. One that is not
// installed is not a value that the task may have.
func (r *run) unready() error {
	var named struct {
		Builder struct {
			Mode string `json:"mode"`
		} `json:"builder"`
	}
	_ = json.Unmarshal(r.o.Task, &named)
	for _, e := range r.env.Catalog.List() {
		if e.Name != catalog.Canonical(named.Builder.Mode) || e.Name == "patch" || !e.Is(catalog.Builder) || r.canStart(&e) {
			continue
		}
		if _, err := r.env.Catalog.Find(e.Name, catalog.Builder); err != nil {
			return err
		}
		return diag.New(judge.BlockedTaskInvalid, "the task's builder "+e.Name+" can't start here", "its program was not found, or the configuration names none",
			"`relay doctor --set builder.default_mode="+e.Name+"` says what it needs")
	}
	return nil
}

// misspelt names a check of the operator's task that the configuration does not have. In a
// planner's that is STOP_VERIFY_TAINTED.
func (r *run) misspelt() error {
	for _, id := range slices.Concat(r.task.Verification.Fast, r.task.Verification.Slow) {
		if !slices.ContainsFunc(r.cfg.Verification.Templates, func(t config.Template) bool { return t.ID == id }) {
			return fmt.Errorf("verification: the configuration has no check %q", id)
		}
	}
	return nil
}

// ownCommand carries out the operator's own task.
func (r *run) ownCommand() string { return cmp.Or(r.o.Command, "relay run --task FILE") }

// ask asks the orchestrator once, and once more when its answer was no task.
func (r *run) ask(ctx context.Context) error {
	data, err := r.promptData()
	if err != nil {
		return err
	}
	limit := 1 + r.cfg.Orchestrator.MaxParseRetriesPerTick
	repeated := false
	for call := 1; ; call++ {
		text, f, err := r.call(ctx, data)
		if err != nil {
			return err
		}
		var reason error
		switch {
		case f == nil:
			reason = r.accept([]byte(text))
		case badOutput(f):
			reason = errors.New(f.Summary)
		case !repeated && limit > 1 && mayRepeat(f): // it bought nothing, and leaves the second answer its chance
			repeated = true
			call--
			r.note("the orchestrator's call failed, and relay makes it once more: " + f.Summary)
			if err := pause(ctx, pluginhost.Decide(f).After); err != nil {
				return interrupted(ctx, err)
			}
			continue
		default:
			if over := r.provider.Plan.Exceeded("the provider " + r.provider.Entry.Name); over != nil && ctx.Err() == nil {
				return over
			}
			return failed(ctx, f)
		}
		if reason == nil {
			_, err := r.book.TakeAnswers() // they have been heard
			return err
		}
		if call >= limit {
			return &diag.Error{Code: judge.BlockedOrchestrator, What: "the orchestrator returned no valid task",
				Why: reason.Error(), Fix: "`relay show` says what is wrong with the answer; try another model, or `relay run --task FILE`", Err: reason}
		}
		r.note("the first answer was not a valid task: " + reason.Error())
		data.RetryReason = reason.Error()
	}
}

// promptData gathers what the orchestrator is told.
func (r *run) promptData() (prompts.OrchestratorData, error) {
	d := prompts.OrchestratorData{ProductName: r.cfg.ProductName, ProjectGoal: r.o.Goal, BudgetsSummary: r.book.Summary(),
		Facts: r.facts(), LastReport: r.lastReport(), Blocked: r.file(r.ws.Blocked()),
		GitStatus: r.gitStatus(), Builders: r.builders(), Preferred: r.cfg.Builder.DefaultMode, TaskSchema: task.Schema(r.builders()), Protected: r.cfg.Verification.ProtectedGlobs,
		Ceiling:        r.toldCeiling(),
		DefaultAllowed: r.cfg.Scope.DefaultAllowedGlobs, DefaultForbidden: r.cfg.Scope.DefaultForbiddenGlobs,
		DefaultNewFiles: r.cfg.Scope.DefaultAllowNewFiles, DefaultLockfiles: r.cfg.Scope.DefaultAllowLockfileChanges,
		MaxFiles: r.cfg.DiffLimits.DefaultMaxFilesTouched, MaxLines: r.cfg.DiffLimits.DefaultMaxLinesChanged}
	if id := r.book.State().MilestoneID; id != nil {
		d.MilestoneID = *id
	}
	for _, t := range r.cfg.Verification.Templates {
		d.VerifyIDs = append(d.VerifyIDs, signature(t.ID, t.Params))
	}
	for _, a := range r.book.State().Answers {
		d.Answers = append(d.Answers, prompts.Answer{Question: a.Prompt, Answer: a.Answer})
	}
	var err error
	d.Override, err = prompts.LoadOverride(r.brought, r.cfg.Orchestrator.SystemPromptFile, r.cfg.Orchestrator.UserPromptFile)
	if err != nil {
		return d, diag.Wrap(err, judge.BlockedMissingConfig, "your own prompt can't be used", "`relay config show orchestrator` names the files")
	}
	return d, nil
}

// lastReport is the last run for a model to read: rendered from REPORT.json, which alone is
// believed and is there when no REPORT.md is wanted.
func (r *run) lastReport() string {
	raw, err := workspace.ReadFile(r.ws.Report(), report.MaxBytes)
	if err != nil {
		return ""
	}
	last, err := report.Decode(raw)
	if err != nil {
		return "" // the preflight looks at it where it is to be valid
	}
	return string(report.Render(last, r.cfg.Runner.RenderReportMD.MaxChars))
}

// gitStatus is the status of the preflight as text.
func (r *run) gitStatus() string {
	var b strings.Builder
	for _, e := range r.status {
		fmt.Fprintf(&b, "%c%c %s\n", e.Index, e.Work, e.Path)
	}
	return b.String()
}
