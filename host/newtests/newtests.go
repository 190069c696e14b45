package newtests

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/paxiom/relay/host/change"
	"github.com/paxiom/relay/host/checks"
	"github.com/paxiom/relay/host/internal/mutate"
	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/box"
	"github.com/paxiom/relay/verify"
)

const (
	maxMutants = 8
	maxNamed   = 100     // tests in a report
	maxText    = 1 << 20 // bytes of a file that is looked at
)

// Look is a change whose checks have passed.
type Look struct {
	Change  *change.Change
	Checker *checks.Checker
	Checks  checks.Checks
	Base    string   // the commit that it was built on
	Tests   []string // globs of tests
	// Ran are the results of the checks, as far as they are known.
	Ran   []verify.Result
	Limit time.Duration
}

// At looks at the change's new and changed tests; nil where it brings none, or nothing that
// they could be about.
func (l *Look) At(ctx context.Context) (*report.NewTests, error) {
	var tests, source []judge.Change
	for _, c := range l.Change.Kept() {
		if judge.Match(l.Tests, c.Path) {
			tests = append(tests, c)
		} else {
			source = append(source, c)
		}
	}
	if len(tests) == 0 || len(source) == 0 {
		return nil, nil
	}
	out := &report.NewTests{}
	if !box.AtOwnPath(l.Change.Box().Means()) {
		out.NotDone = []string{"the checks ran beside the repository's path"}
		return out, nil
	}
	limit := l.Limit
	if end, ok := ctx.Deadline(); ok {
		limit = min(limit, time.Until(end)/2) // the change has to land as well
	}
	in, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	checks, err := l.checks(in, out)
	if err == nil {
		l.onBase(in, checks, tests, out)
		err = l.onMutants(in, checks, source, out)
	}
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case in.Err() != nil:
		out.NotDone = append(out.NotDone, fmt.Sprintf("the time for it was over after %v", limit.Round(time.Second)))
	case err != nil:
		return nil, err
	}
	for _, c := range checks {
		out.Tests += len(c.names)
	}
	return out, nil
}

// check is one command with the new and changed tests that it names.
type check struct {
	cmd   verify.Command
	names []string
	now   *verify.Report  // with the change
	limit time.Duration   // for a run that hangs
	alive map[string]bool // tests that no mutant has made fail
}

// checks are those that name such tests. A test counts for the first of them.
func (l *Look) checks(ctx context.Context, out *report.NewTests) (all []*check, err error) {
	changed, err := l.changedTests(ctx)
	if err != nil {
		return nil, err
	}
	l.Checks.Before = nil // paid with the checks themselves
	seen := map[string]bool{}
	for i, cmd := range l.Checks.Commands {
		var ran verify.Result
		if i < len(l.Ran) {
			ran = l.Ran[i]
		} else {
			ran = l.Checker.Once(ctx, l.Checks, cmd, l.Change.Kept(), nil)
		}
		if !ran.Report.Named() {
			out.NotDone = append(out.NotDone, "the check "+cmd.ID+" names no tests")
			continue
		}
		base := l.Checker.Known(ctx, l.Checks, cmd)
		if base == nil {
			out.NotDone = append(out.NotDone, "the check "+cmd.ID+" comes to no end on the base")
			continue
		}
		c := &check{cmd: cmd, now: ran.Report, limit: 3*ran.Duration + 5*time.Second, alive: map[string]bool{}}
		for name, t := range ran.Report.Tests {
			if _, old := base.Tests[name]; t.Status == verify.Pass && !seen[name] && (!old || changed(name, t.File)) {
				seen[name], c.alive[name] = true, true
			}
		}
		for name := range c.alive { // a test with parts passes and fails with them
			for other := range c.alive {
				if strings.HasPrefix(other, name+"/") {
					delete(c.alive, other)
				}
			}
		}
		if c.names = slices.Sorted(maps.Keys(c.alive)); len(c.names) > 0 {
			all = append(all, c)
		}
	}
	return all, nil
}

// onBase runs the checks with the change's tests on the base's source.
func (l *Look) onBase(ctx context.Context, checks []*check, tests []judge.Change, out *report.NewTests) {
	for _, c := range checks {
		r := l.run(ctx, c, tests, nil)
		if ctx.Err() != nil {
			return
		}
		for _, name := range c.names {
			if r.Report != nil && r.Report.Tests[name].Status == verify.Pass {
				out.PassBefore = append(out.PassBefore, name)
			}
		}
	}
	out.PassBefore = out.PassBefore[:min(len(out.PassBefore), maxNamed)]
}

// onMutants runs the checks on mistakes in the changed lines, until each test has failed.
func (l *Look) onMutants(ctx context.Context, checks []*check, source []judge.Change, out *report.NewTests) error {
	if len(checks) == 0 {
		return nil
	}
	all, err := l.mutants(ctx, source, out)
	for _, m := range all {
		tried := false
		for _, c := range checks {
			if len(c.alive) == 0 {
				continue
			}
			r := l.run(ctx, c, l.Change.Kept(), m.write(l.Checks))
			if ctx.Err() != nil {
				break
			}
			if r.Err != nil {
				return r.Err
			}
			if !comparable(c.now, r.Report) {
				continue
			}
			tried = true
			maps.DeleteFunc(c.alive, func(name string, _ bool) bool { return r.Report.Tests[name].Status != verify.Pass })
		}
		if tried {
			out.Mutants++
		}
	}
	if out.Mutants == 0 {
		if err == nil && ctx.Err() == nil && len(out.NotDone) == 0 {
			out.NotDone = append(out.NotDone, "no mistake could be made in the changed lines that leaves them running")
		}
		return err
	}
	for _, c := range checks {
		out.FailNone = append(out.FailNone, slices.Sorted(maps.Keys(c.alive))...)
	}
	out.FailNone = out.FailNone[:min(len(out.FailNone), maxNamed)]
	return err
}

// comparable tells a mutant that was run from one that could not even be compiled or
// loaded, which no test has to notice.
func comparable(now, then *verify.Report) bool {
	if then == nil || !maps.Equal(now.Runners, then.Runners) || len(then.Tests)+len(then.Early) == 0 {
		return false
	}
	for name, t := range then.Tests {
		if t.Status == verify.Broken && now.Tests[name].Status != verify.Broken {
			return false
		}
	}
	return true
}

// run runs a check once more, with a limit that fits how long it took.
func (l *Look) run(ctx context.Context, c *check, with []judge.Change, prepare func(*box.Box) error) verify.Result {
	k, its := l.Checks, l.Checks.Settings
	k.Settings = func(id string) (dir string, env []string, limit time.Duration) {
		if its != nil {
			dir, env, _ = its(id)
		}
		return dir, env, min(c.limit, l.Checks.Limit(c.cmd))
	}
	return l.Checker.Once(ctx, k, c.cmd, with, prepare)
}

// mutant is one mistake in one file.
type mutant struct {
	path string
	mutate.Mutant
}

// mutants are mistakes in the changed lines, spread over the files.
func (l *Look) mutants(ctx context.Context, source []judge.Change, out *report.NewTests) (all []mutant, err error) {
	var unknown []string
	var files []judge.Change
	for _, c := range source {
		switch ext := path.Ext(c.Path); {
		case c.Kind == judge.Deleted || !c.NewMode.IsRegular() || c.Ignored:
		case mutate.Known(c.Path):
			files = append(files, c)
		case mutate.Unknown(c.Path) && !slices.Contains(unknown, ext):
			unknown = append(unknown, ext)
		}
	}
	for _, ext := range unknown {
		out.NotDone = append(out.NotDone, "relay makes no mutants of *"+ext)
	}
	for _, c := range files {
		text, lines, err := l.lines(ctx, c)
		if err != nil {
			return nil, err
		}
		for _, m := range mutate.Make(c.Path, text, lines, max(1, maxMutants/len(files))) {
			if len(all) < maxMutants {
				all = append(all, mutant{c.Path, m})
			}
		}
	}
	return all, nil
}

// write has the mistake in a box.
func (m mutant) write(k checks.Checks) func(*box.Box) error {
	return func(b *box.Box) error { return Write(b, k, `cat >"$1"`, m.Text, m.path) }
}
