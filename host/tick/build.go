package tick

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/paxiom/relay/host/change"
	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/catalog"
	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/host/internal/ledger"
	"github.com/paxiom/relay/host/internal/modelcall"
	"github.com/paxiom/relay/host/internal/pluginenv"
	"github.com/paxiom/relay/host/internal/pluginhost"
	"github.com/paxiom/relay/host/internal/progress"
	"github.com/paxiom/relay/host/internal/redact"
	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/host/internal/strictjson"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/box"
	"github.com/paxiom/relay/prompts"
	"github.com/paxiom/relay/schemas"
	"github.com/paxiom/relay/sdk/pluginpb"
)

// maxResult is the largest builder result that is read, in bytes.
const maxResult = 256 << 10

// prepare opens the change and starts the builder, that of the task or that which it will
// most likely name: before anything is paid for it shows whether it can work. A task that names
// another one costs a second start.
func (r *run) prepare(ctx context.Context) error {
	name := r.cfg.Builder.DefaultMode
	if own := r.builderOf(r.o.Task); own != "" {
		name = own
	}
	if err := r.openBuilder(ctx, name); err != nil {
		return err
	}
	return healthy(ctx, r.Builder)
}

// openBuilder begins the change, with a box for the builder of this name.
func (r *run) openBuilder(ctx context.Context, name string) error {
	if r.boxErr != nil {
		return r.boxErr
	}
	r.At = r.at()
	if err := r.Open(ctx, r.pluginEnv(), name, change.Options{RunID: r.rep.RunID, Base: r.rep.BaseCommit, Branch: r.branch}); err != nil {
		return interrupted(ctx, err)
	}
	b := r.Change.Box()
	r.rep.Box = &report.BoxReport{Means: b.Means(), Gaps: append(b.Gaps(), r.Builder.Plan.Gaps(b.Means())...)}
	if r.rep.Verification.Beside = !box.AtOwnPath(b.Means()); r.rep.Verification.Beside {
		r.observe(progress.Event{Kind: progress.Notice, Text: pluginenv.BesideWarning(b.Means())})
	}
	return nil
}

// chooseBuilder makes sure that the open builder is the one of this name.
func (r *run) chooseBuilder(ctx context.Context, name string) error {
	entry, err := r.env.Catalog.Find(name, catalog.Builder)
	if err != nil {
		return err
	}
	if r.Builder != nil && r.Builder.Entry.Name == entry.Name {
		return nil
	}
	if err := r.dropBuilder(ctx); err != nil {
		return err
	}
	return r.openBuilder(ctx, entry.Name)
}

// dropBuilder ends the open builder and throws its box away.
func (r *run) dropBuilder(ctx context.Context) error {
	r.Close(ctx)
	r.Builder, r.built = nil, false
	return internal(r.Discard())
}

// build lets the builder work in its box, and whom its fallback names, each in a fresh
// one, while one after the other meets a limit. When it returns nil the box is quiet:
// the plugin and all that it started have ended.
func (r *run) build(ctx context.Context) error {
	r.TaskID = r.task.TaskID
	if r.task.Builder.Patch != "" {
		if err := checkPatch(r.task.Builder.Patch); err != nil {
			return diag.Wrap(err, judge.StopBuilderOutputInvalid, "the patch is refused before it is applied", "`relay show`")
		}
		if r.masked && strings.Contains(r.task.Builder.Patch, redact.Mask) { // not what the model wrote
			return diag.New(judge.StopSecret, "the change contains a credential", "the orchestrator's patch had one, which relay shows to nobody", "`relay show` has the patch, with "+redact.Mask+" in its place")
		}
	}
	f, err := r.calls().Through(ctx, r.workers(), r.buildWith, func() error {
		r.keepUnfinished(ctx)
		return r.dropBuilder(ctx)
	})
	if err == nil && f != nil {
		err = failed(ctx, f)
	}
	return r.callEnd(ctx, err)
}

// buildWith makes one build. A failure of the vendor's comes apart from all other ends.
func (r *run) buildWith(ctx context.Context, c pluginenv.Choice) (*pluginhost.Failure, error) {
	if err := r.chooseBuilder(ctx, c.Name); err != nil {
		return nil, err
	}
	if r.base == nil {
		if err := r.baseline(ctx); err != nil {
			return nil, err
		}
	}
	if r.task.Kind == judge.Execute {
		r.Checker.Ahead(ctx, r.checks())
	}
	if err := r.showTask(); err != nil {
		return nil, err
	}
	if err := r.enter(stateBuild); err != nil {
		return nil, err
	}
	p := r.Builder
	r.rep.Builder = p.Worker
	if p.Entry.Name == "patch" {
		if err := r.book.PatchAttempt(r.cfg.Builder.Patch.MaxPatchAttemptsPerMilestone); err != nil {
			return nil, err
		}
	}
	var f *pluginhost.Failure
	var err error
	if r.letLand != nil {
		p.Worker.Summary = "what run " + r.letLand.RunID + " had built"
		p.Close(ctx) // started ahead of its time; the box has to be quiet
		err = r.replay(ctx)
	} else {
		f, err = r.runBuilder(ctx, p, c)
	}
	switch {
	case err != nil:
	case f != nil:
		r.left(f.Summary, true)
	default:
		r.leave(p.Worker.Summary)
	}
	return f, err
}

// showTask puts this run's TASK.json into what the box shows: that was made while the
// orchestrator thought, and has that of the run before. A driver that reads it there would
// carry out the wrong task.
func (r *run) showTask() error {
	return internal(r.Change.Show(path.Join(r.ws.Rel(), filepath.Base(r.ws.Task())), r.taskJSON))
}

// afterFailedBuild keeps what a builder had done before it failed, was interrupted or
// ran out of time, and judges it: a broken rule says more than "it failed".
func (r *run) afterFailedBuild(ctx context.Context, failure error) error {
	if !r.built {
		return failure
	}
	f := diag.Internal(failure)
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	r.badBuild = "" // the failure counts
	verdict := r.judge(late)
	r.rep.BuilderOutputValid = nil // it gave none
	broken := r.verdict.Code != "" && r.verdict.Code != judge.Success
	if ctx.Err() == nil && (f.Code == judge.StopInterrupted || f.Code == judge.StopPluginCrashed) && broken {
		if over := (*box.Exceeded)(nil); errors.As(failure, &over) {
			r.note(f.What + ": " + f.Why)
		}
		r.rep.Limits = nil // it ended for more than a limit
		return verdict
	}
	if r.rep.Salvage == "" && r.verdict.Code == judge.Success {
		r.reject(late, nil)
	}
	return failure
}

// runBuilder makes the builder call of the tick. A failure of the vendor's, and of the
// plugin, comes apart from the ends that have a verdict of their own.
func (r *run) runBuilder(ctx context.Context, p *pluginenv.Plugin, c pluginenv.Choice) (*pluginhost.Failure, error) {
	req, err := r.buildRequest(c)
	if err != nil {
		return nil, err
	}
	limit, limitKey := r.buildTimeout(p.Entry.Name)
	done, f, late, err := r.Build(ctx, r.calls(), c, modelcall.Work{ID: r.rep.RunID + "-builder", Role: ledger.RoleBuilder, Request: req, Limit: limit,
		MaxUSD: r.cfg.Builder.ClaudeCode.MaxBudgetUSD, Began: func() { r.built = true }})
	switch {
	case err != nil:
		return nil, err
	case f == nil:
		r.checkResult(done.GetResultJson())
		return nil, nil
	case badOutput(f):
		r.badBuild = f.Summary
		return nil, nil
	case late:
		return nil, &diag.Error{Code: judge.StopBuilderTimeout, What: fmt.Sprintf("the builder %s did not end within %v", p.Entry.Name, limit),
			Why: "it was stopped, with everything that it had started", Fix: "`relay show`, then ask for a smaller step or raise " + limitKey, Err: f}
	case p.Entry.Name == "patch" && f.Cause == pluginhost.Reported && f.Reason == pluginpb.Failure_REASON_BAD_REQUEST:
		// A patch is the orchestrator's work: one that can't be applied is a bad answer,
		// and no accident that another try would mend.
		return nil, &diag.Error{Code: judge.StopBuilderOutputInvalid, What: "the patch of the task is refused", Why: strings.TrimSuffix(f.Summary+": "+f.Detail, ": "),
			Fix: "`relay show`, then ask for a patch against the present files", Err: f}
	}
	return f, nil
}

// buildTimeout is the wall clock of one build, and the key that says so.
func (r *run) buildTimeout(name string) (time.Duration, string) {
	seconds, key := r.cfg.Builder.TimeoutSeconds, "builder.timeout_seconds"
	if e := r.cfg.Builder.External; name == "external" && e != nil && e.TimeoutSeconds > 0 {
		seconds, key = e.TimeoutSeconds, "builder.external.timeout_seconds"
		if r.cfg.Builder.Cursor != nil {
			key = "builder.cursor.timeout_seconds"
		}
	}
	if seconds <= 0 {
		seconds, key = r.cfg.Runner.MaxTickSeconds, "runner.max_tick_seconds"
	}
	return time.Duration(seconds) * time.Second, key
}

func (r *run) buildRequest(c pluginenv.Choice) (*pluginpb.BuildRequest, error) {
	t, b := r.task, r.task.Builder
	override, err := prompts.LoadOverride(r.brought, r.cfg.Builder.ClaudeCode.SystemPromptFile, r.cfg.Builder.ClaudeCode.UserPromptFile)
	var system, user string
	if err == nil {
		system, user, err = prompts.Render(prompts.BuilderData{ProductName: r.cfg.ProductName, TaskJSON: r.taskJSON, Instructions: b.Instructions,
			AllowedGlobs: t.Scope.AllowedGlobs, ForbiddenGlobs: r.forbidden(), AllowNewFiles: t.Scope.AllowNewFiles,
			AllowLockfileChanges: t.Scope.AllowLockfileChanges, MaxFilesTouched: t.DiffLimits.MaxFilesTouched,
			MaxLinesChanged: t.DiffLimits.MaxLinesChanged, VerifyIDs: append(slices.Clone(t.Verification.Fast), t.Verification.Slow...),
			Facts: r.facts(), ResultSchema: schemas.Bytes(schemas.BuilderResult), Call: prompts.Call{Override: override}})
	}
	if err != nil {
		return nil, diag.Wrap(err, judge.BlockedMissingConfig, "the builder's prompt can't be made", "`relay config show builder` names its files")
	}
	turns := b.MaxTurns
	if most := r.cfg.Builder.ClaudeCode.MaxTurns; most > 0 {
		turns = min(turns, most)
	}
	fallback := ""
	if c.First && configured(r.cfg, c.Name) {
		fallback = r.cfg.Models.BuilderFallbackModel
	}
	return &pluginpb.BuildRequest{TaskJson: r.taskJSON, System: system, Prompt: user, Patch: b.Patch, Model: c.Model, FallbackModel: fallback,
		MaxTurns: int32(turns), ResultSchemaJson: schemas.Bytes(schemas.BuilderResult)}, nil
}

// checkResult holds the builder's own account to its schema. It decides nothing but
// whether the builder kept to the form.
func (r *run) checkResult(raw []byte) {
	if len(raw) == 0 {
		r.badBuild = "it left no result that can be used"
		return
	}
	tree, err := strictjson.Decode(raw, maxResult)
	if err == nil {
		var s interface{ Validate(any) error }
		if s, err = schemas.Compiled(schemas.BuilderResult); err == nil {
			err = schemas.Explain(s.Validate(tree))
		}
	}
	if err == nil {
		var own []byte
		own, err = r.brought(r.cfg.Builder.ClaudeCode.BuilderResultSchemaFile, 1<<20)
		if err == nil {
			err = matches(own, raw)
		} else if errors.Is(err, os.ErrNotExist) {
			err = nil
		}
	}
	if err != nil {
		r.badBuild = "its result is not valid: " + err.Error()
		return
	}
	var said struct {
		Summary string `json:"summary"`
	}
	if strictjson.Unmarshal(raw, &said) == nil {
		r.Builder.Worker.Summary = said.Summary
	} else if m, ok := tree.(map[string]any); ok {
		r.Builder.Worker.Summary, _ = m["summary"].(string)
	}
}

// forbidden is the task's list and the configuration's: a task adds, never removes.
func (r *run) forbidden() []string {
	all := slices.Clone(r.task.Scope.ForbiddenGlobs)
	for _, g := range r.cfg.Scope.DefaultForbiddenGlobs {
		if !slices.Contains(all, g) {
			all = append(all, g)
		}
	}
	return all
}

// signature is a check as the orchestrator names it: id(param, …).
func signature(id string, params map[string]config.Param) string {
	if len(params) == 0 {
		return id
	}
	return id + "(" + strings.Join(slices.Sorted(maps.Keys(params)), ", ") + ")"
}
