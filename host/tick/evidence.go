package tick

import (
	"context"
	"fmt"
	"strings"

	"github.com/paxiom/relay/host/checks"
	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/format"
	"github.com/paxiom/relay/host/internal/patch"
	"github.com/paxiom/relay/host/internal/progress"
	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/verify"
)

func (r *run) changedTests() []string {
	all := r.Checker.Tests()
	return all[:min(len(all), 500)]
}

// agreed asks the operator whether tests may be missing, or the changed ones may decide.
func (r *run) agreed(ctx context.Context, code judge.Code, how verify.Result) bool {
	patch, err := patch.Bytes(r.Change.Left)
	if err != nil {
		return false
	}
	f, v := checkFault(code, []verify.Result{how}, false), &r.rep.Verification
	ask := ChangedTests{Why: f.What + " with the tests of the base: " + f.Why, Files: r.Checker.Tests(), Patch: patch}
	missing := code == judge.StopTestsMissing
	if missing {
		ask.Why, ask.Missing = f.What, report.FactsOf(how).Missing
	}
	if !r.o.ChangedTests(ctx, ask) {
		return false
	}
	v.ChangedTests, v.Agreed, v.MissingAgreed = r.changedTests(), v.Agreed || !missing, v.MissingAgreed || missing
	return true
}

// lookAtTests says in the report what the change's new tests are worth.
func (r *run) lookAtTests(ctx context.Context, k checks.Checks) (err error) {
	v := &r.cfg.Verification
	if v.Mutation == nil || !*v.Mutation || len(k.Commands) == 0 {
		return nil
	}
	r.observe(progress.Event{Kind: progress.Plugin, Text: "tries the new tests without the change, and on mistakes in it"})
	r.rep.Verification.NewTests, err = r.NewTests(ctx, k, r.results)
	return interrupted(ctx, err)
}

// oldTests says which tests were changed where those of the base do not pass.
func (r *run) oldTests(f *diag.Error) *diag.Error {
	if n := len(r.results); n > 0 {
		f.What = fmt.Sprintf("the check %s passes only with the changed tests, and fails with those of the base", r.results[n-1].Command.ID)
	}
	f.Code, f.Why = judge.StopOldTestsFail, "changed without being named by the task: "+list(r.Checker.Tests())+". "+f.Why
	f.Fix = "`relay show` has them; if they are meant to change, name them one by one in the scope.allowed_globs of a copy of .relay/TASK.json, then `relay run --task FILE`"
	return f
}

// unproven says why a check that ended with exit code 0 is no success.
func unproven(f *diag.Error, r verify.Result) *diag.Error {
	t := report.FactsOf(r)
	f.Why = "it ended with exit code 0, and yet: " + list(t.Problems)
	if n := len(r.Evidence.Missing); f.Code == judge.StopTestsMissing {
		f.What = fmt.Sprintf("the check %s no longer runs %s", r.Command.ID, format.Count(n, "test"))
		f.Why = list(t.Missing)
		if len(t.Problems) > 0 {
			f.Why += "; " + list(t.Problems)
		}
		f.Fix = "`relay show` names them; if they are to go, name their file in the scope.allowed_globs of a copy of .relay/TASK.json, then `relay run --task FILE`"
	}
	return f
}

// list names the first few.
func list(all []string) string {
	const most = 5
	text := strings.Join(all[:min(len(all), most)], "; ")
	if n := len(all) - most; n > 0 {
		text += fmt.Sprintf(" (and %d more)", n)
	}
	return format.Clip(report.Safe(text), 1000)
}
