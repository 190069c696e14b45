package tick

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/paxiom/relay/host/change"
	"github.com/paxiom/relay/host/checks"
	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/confine"
	"github.com/paxiom/relay/host/internal/format"
	"github.com/paxiom/relay/host/internal/patch"
	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/box"
	"github.com/paxiom/relay/verify"
)

// plan builds the commands of all checks, or says what can't be trusted. It is asked
// before the build, since a tainted check makes the build a waste, and again with the
// changes, since those can put a link under a parameter.
func (r *run) plan(ctx context.Context, changes []judge.Change) error {
	if r.task.Kind == judge.Question {
		return nil // nothing can have changed
	}
	v := r.task.Verification
	fast := v.Fast
	if r.task.Kind == judge.Execute {
		fast = r.cfg.Verification.WithRequired(v.Fast, v.Slow)
	}
	var err error
	r.commands, err = verify.Plan(r.cfg.Verification.Plannable(), verify.Rules{MaxParamLen: r.cfg.Verification.MaxParamLen,
		RejectPattern: r.cfg.Verification.RejectMetacharsRegex, Forbidden: r.forbidden(), Root: r.git.Root, Changes: changes},
		verify.Requests{Fast: fast, Slow: v.Slow, Params: v.Params})
	if taint, ok := errors.AsType[*verify.Taint](err); ok {
		return &diag.Error{Code: judge.StopVerifyTainted, What: "a check that the task asks for can't be trusted, so none was run",
			Why: taint.Error(), Fix: "`relay config show verification` lists the checks and their parameters", Err: err}
	}
	if err != nil {
		return internal(err)
	}
	return r.canRun(ctx, slices.Concat(fast, v.Slow))
}

// judge reads the box's layer and applies the rules. The builder's own result is
// looked at last: what was touched counts more than what was said.
func (r *run) judge(ctx context.Context) error {
	if err := r.enter(stateJudge); err != nil {
		return err
	}
	v, err := r.Attempt.Judge(ctx)
	if err != nil {
		return interrupted(ctx, err)
	}
	r.verdict = v
	r.describe(v)
	if v.Code != judge.Success {
		return r.reject(ctx, verdictFault(v))
	}
	valid := r.badBuild == ""
	r.rep.BuilderOutputValid = &valid
	if !valid {
		r.note("the builder's output is not valid: " + r.badBuild)
		if r.cfg.Builder.ClaudeCode.StrictBuilderJSON {
			return r.reject(ctx, diag.New(judge.StopBuilderOutputInvalid, "the builder's answer is not the result that was asked for", r.badBuild, "`relay show`"))
		}
	}
	r.leave(r.rep.BlastRadius.String())
	return nil
}

// verdictFault says the first broken rule in words.
func verdictFault(v judge.Verdict) *diag.Error {
	f := diag.New(v.Code, "the judge stopped the change", "", "`relay show` lists every broken rule")
	for _, b := range v.Violations {
		if b.Code != v.Code {
			continue
		}
		f.Why = b.Rule
		if b.Path != "" {
			f.Why = fmt.Sprintf("%s: %s", report.Safe(b.Path), b.Rule)
		}
		break
	}
	if n := len(v.Violations) - 1; n > 0 {
		f.Why += fmt.Sprintf(" (and %d more)", n)
	}
	return f
}

// describe puts what was touched into the report, whatever the verdict.
func (r *run) describe(v judge.Verdict) {
	r.rep.BlastRadius = report.BlastRadius{FilesTouched: v.Radius.Files, LinesAdded: v.Radius.Added, LinesDeleted: v.Radius.Deleted, NewFiles: v.Radius.New}
	r.rep.Diff.FilesChanged, r.rep.Diff.LinesChanged = v.Radius.Files, v.Radius.Added+v.Radius.Deleted
	changes := r.Change.Touched().Changes
	if v.Code == judge.Success {
		changes = v.Kept // without the caches, of which a build leaves more than a report has room for
	}
	r.rep.Scope.TouchedPaths = slices.Grow(r.rep.Scope.TouchedPaths, len(changes))
	for _, c := range changes {
		r.rep.Scope.TouchedPaths = append(r.rep.Scope.TouchedPaths, c.Path)
	}
	r.rep.Rules = report.Hits(v, len(v.Violations))
	for _, h := range r.rep.Rules {
		r.rep.Scope.OK = false
		r.rep.Scope.Violations = append(r.rep.Scope.Violations, h.String())
	}
	if v.Scratch > 0 {
		text := "thrown away: " + format.Count(v.Scratch, "ignored or cache file") + " that the scope does not lead to"
		if slices.ContainsFunc(changes, func(c judge.Change) bool { return filepath.Base(c.Path) == ".gitignore" }) {
			text += "; the rules of before count, so what this change takes out of a .gitignore has to be named by a scope"
		}
		r.note(text)
	}
	switch n := r.Change.OwnCommits(); {
	case v.Code != judge.Success || !v.BuilderCommitted:
	case n > 0:
		r.note(fmt.Sprintf("the builder's own commits (%d) are made again one by one", n))
	case r.letLand == nil: // otherwise it is relay's own, which kept the change
		r.note("the builder's own commits are folded into this one")
	}
	r.keepPatch()
}

// keepPatch writes what was built into the history.
func (r *run) keepPatch() {
	if !r.cfg.History.IncludeDiffPatch {
		return
	}
	kept, err := r.writePatch("diff.patch")
	if kept {
		r.patch = r.hist.Dir() + "/diff.patch"
	}
	if err != nil {
		r.note("the patch could not be kept: " + err.Error())
	}
}

// writePatch writes what was built into a file of the history, as it is read: it can be
// larger than what relay wants to hold in memory. An empty one is not kept.
func (r *run) writePatch(name string) (kept bool, err error) {
	f, err := r.hist.Create(name)
	if err != nil {
		return false, err
	}
	n, err := patch.Write(f, r.Change.Left)
	if err = errors.Join(err, f.Close()); err == nil && n == 0 {
		remove(filepath.Join(r.hist.Dir(), name))
	}
	return err == nil && n > 0, err
}

// verify runs the checks, each in a fresh box with exactly what was judged.
func (r *run) verify(ctx context.Context) error {
	if err := r.enter(stateVerify); err != nil {
		return err
	}
	if err := r.plan(ctx, r.verdict.Kept); err != nil {
		return r.reject(ctx, err)
	}
	hidden := r.hiddenChecks()
	if len(r.commands) == 0 {
		if slices.ContainsFunc(r.verdict.Kept, func(c judge.Change) bool { return c.Kind != judge.Added && slices.Contains(r.verdict.Tests, c.Path) }) {
			return r.reject(ctx, r.oldTests(diag.New(judge.StopOldTestsFail, "no check can say whether the tests of the base still pass", "", "")))
		}
	}
	if len(r.commands)+len(hidden) == 0 {
		r.leave("no checks asked for")
		return nil
	}
	checks := r.checks()
	checks.Hidden = hidden
	checks.Base, checks.Excuse = r.base, r.base != nil && r.excuses()
	var err error
	if checks.Log, err = r.verifyLog(); err != nil {
		return err
	}
	if r.o.ChangedTests != nil {
		checks.Agreed = func(code judge.Code, how verify.Result) bool { return r.agreed(ctx, code, how) }
	}
	r.checked = &checks
	if err := r.check(ctx, checks); err != nil {
		return r.reject(ctx, interrupted(ctx, err))
	}
	if err := r.lookAtTests(ctx, checks); err != nil {
		return r.reject(ctx, err)
	}
	said := r.rep.Verification.Evidence()
	if rest, verified := strings.CutPrefix(said, "verified"); verified {
		said = strings.TrimLeft(rest, ": ")
	}
	r.leave(counted(r.results) + "; " + said)
	return nil
}

// check runs the checks on the change and its base, and says in the report what they found.
func (r *run) check(ctx context.Context, checks checks.Checks) error {
	results, code := r.Checker.Verify(ctx, checks)
	r.results, r.rep.Verification.Runs = results, []report.VerifyRun{}
	r.listRuns(results)
	r.besides(results)
	hidden := r.TellHidden(&r.rep.Verification)
	if code == judge.Success {
		return nil
	}
	f := checkFault(code, results, checks.Log != nil)
	if code == judge.StopOldTestsFail || code == judge.StopTestsMissing {
		r.rep.Verification.ChangedTests = r.changedTests()
	}
	switch code {
	case judge.StopOldTestsFail:
		f = r.oldTests(f)
	case judge.StopHiddenFailed:
		f = hidden.Fault
	}
	return f
}

// verifyLog is the log of the checks in the history, opened once; nil when none is
// kept.
func (r *run) verifyLog() (io.Writer, error) {
	if !r.cfg.History.IncludeVerifyLog {
		return nil, nil
	}
	if r.checkLog == nil {
		var err error
		if r.checkLog, err = r.hist.Create("verify.log"); err != nil {
			return nil, internal(err)
		}
	}
	return r.checkLog, nil
}

// closeLog makes the log last.
func (r *run) closeLog() {
	if r.checkLog != nil {
		r.checkLog.Close()
		r.checkLog = nil
	}
}

// counted says how the checks of a success ended.
func counted(results []verify.Result) string {
	before := 0
	for _, v := range results {
		if v.Finding == verify.FailedBefore {
			before++
		}
	}
	text := format.Count(len(results)-before, "check") + " passed"
	if before > 0 {
		text += fmt.Sprintf(", %d failed before too", before)
	}
	return text
}

func (r *run) listRuns(results []verify.Result) {
	for i, v := range results {
		row := report.RunOf(v)
		if r.base != nil {
			row.Base, row.Finding = string(r.base[i].Before), string(v.Finding)
		}
		r.rep.Verification.Runs = append(r.rep.Verification.Runs, row)
	}
}

// checkFault says which check ended the run, and why; logged says that its output is kept.
func checkFault(code judge.Code, results []verify.Result, logged bool) *diag.Error {
	f := diag.New(code, "a check failed", "", "`relay show` has its output")
	if !logged {
		f.Fix = "`relay config show history`: its output is kept when include_verify_log is true"
	}
	if len(results) == 0 {
		return f
	}
	last := results[len(results)-1]
	f.What = fmt.Sprintf("the check %s failed", last.Command.ID)
	if last.Finding == verify.Unproven {
		return unproven(f, last)
	}
	var over *box.Exceeded
	switch {
	case errors.As(last.Err, &over):
		f = confine.Fault("the check "+last.Command.ID, over)
		f.Code = code
	case code == judge.StopVerifyTainted:
		f.What, f.Why = "the check "+last.Command.ID+" can't be trusted, so none was run", last.Err.Error()
		f.Fix = "`relay show` has the change; when it was you who replaced the program, run again"
	case last.Err != nil:
		f.Why, f.Err = last.Err.Error(), last.Err
	case last.TimedOut:
		f.Why = fmt.Sprintf("it did not end within %v and was ended with all that it had started", last.Duration.Round(time.Second))
	default:
		f.Why = fmt.Sprintf("it ended with exit code %d", last.ExitCode)
		if last.ExitCode < 0 {
			f.Why = "a signal or a limit ended it"
		}
		if t := last.Tests; t != nil && len(t.Failed) > 0 {
			f.Why += "; " + format.Count(len(t.Failed), "test") + " failed: " + list(slices.Sorted(maps.Keys(t.Failed)))
		}
		if said := report.Safe(format.Telling(string(last.Output))); said != "" && last.Command.Folder == "" {
			f.Why += ": " + format.Clip(said, 200)
		}
	}
	return f
}

// reject keeps what was built where the operator can get at it, and gives the verdict
// back. Nothing of the work tree was written.
func (r *run) reject(ctx context.Context, verdict error) error {
	kept := r.patch != "" && r.cfg.History.Enabled
	if len(r.Change.Touched().Changes) == 0 || kept && !r.cfg.Commit.OnSuccess {
		return verdict // without commits of relay's the patch is enough
	}
	code := judge.StopInterrupted
	if f, ok := diag.As(verdict); ok {
		code = f.Code
	}
	ref, notes := r.Reject(ctx, r.message("rejected: "+r.task.Intent, code))
	r.rep.Salvage, r.rep.Notes = ref, append(r.rep.Notes, notes...)
	return verdict
}

// land writes what was judged into the work tree and commits it. Once it has begun it
// is finished, whatever signal comes.
func (r *run) land(ctx context.Context) error {
	if len(r.verdict.Kept) == 0 {
		return nil
	}
	if err := r.enter(stateApply); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return interrupted(ctx, ctx.Err())
	}
	r.rep.Verification.Said = r.rep.Verification.Evidence()
	landed, err := r.Change.Land(ctx, r.landing())
	if err != nil {
		if ctx.Err() != nil {
			return interrupted(ctx, err)
		}
		if f, ok := diag.As(err); ok && f.Code == judge.BlockedCrashRecovery {
			return err // the journal has what recover needs
		}
		if r.follows() {
			r.askAbout(err)
		}
		return r.reject(ctx, internal(err))
	}
	r.rep.Commit = landed.Commit
	if landed.Commit != "" {
		r.rep.BaseCommit, r.rep.HeadCommit = landed.Base, landed.Commit
	}
	for _, n := range landed.Notes {
		r.note(n)
	}
	if landed.Commit != "" {
		r.attest(ctx)
	}
	r.rememberPassed(ctx)
	text := format.Count(len(landed.Paths), "file") + " written, not committed (commit.on_success is false)"
	if landed.Commit != "" {
		text = fmt.Sprintf("%s committed as %.12s", format.Count(len(landed.Paths), "file"), landed.Commit)
	}
	r.leave(text)
	return nil
}

// message is the commit message of a change; see docs/reference/commits.md.
func (r *run) message(subject string, code judge.Code) change.Message {
	var body []string
	if len(subject) > 60 { // the subject line may not hold all of it
		body = []string{r.task.Intent}
	}
	return change.Message{Subject: subject, Body: body, Trailers: r.withKey([]change.Trailer{
		{Key: "Relay-Run", Value: r.rep.RunID},
		{Key: "Relay-Task", Value: r.task.TaskID},
		{Key: "Relay-Milestone", Value: r.task.MilestoneID},
		{Key: "Relay-Builder", Value: r.Builder.Entry.Name},
		{Key: "Relay-Code", Value: string(code)},
	})}
}

// evident is message with what speaks for the change.
func (r *run) evident() change.Message {
	said := report.ByExitCode
	if r.results != nil || len(r.commands) == 0 {
		said = r.rep.Verification.Evidence()
	}
	m := r.message(r.task.Intent, judge.Success)
	m.Trailers = append(m.Trailers, change.Trailer{Key: "Relay-Evidence", Value: said})
	return m
}
