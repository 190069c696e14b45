package tick

import (
	"context"
	"fmt"
	"path"
	"strings"

	"github.com/paxiom/relay/host/checks"
	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/checkcache"
	"github.com/paxiom/relay/host/internal/progress"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/verify"
)

// checks are the verification commands of the task with their limits.
func (r *run) checks() checks.Checks {
	k := r.Checks(r.commands...)
	k.Before = r.beforeCheck
	return k
}

// beforeCheck counts a command that is about to start, and shows it.
func (r *run) beforeCheck(c verify.Command) error {
	limit := r.checks().Limit(c)
	r.observe(progress.Event{Kind: progress.Limit, Text: "check", Until: r.now().Add(limit)})
	r.observe(progress.Event{Kind: progress.Plugin, Text: "runs " + strings.Join(c.Argv, " ")})
	return r.book.Verify(1)
}

// baseline runs the checks on the base before the builder is let in: what it does
// later, to a server on this machine perhaps, can't make them fail there. Only a task
// that changes something can have failures excused; one that verifies asks for them.
func (r *run) baseline(ctx context.Context) error {
	if !r.cfg.Verification.Baseline || r.task.Kind != judge.Execute || len(r.commands) == 0 {
		return nil
	}
	if err := r.enter(stateBaseline); err != nil {
		return err
	}
	tree, err := r.tree(ctx, r.rep.BaseCommit)
	if err != nil {
		return interrupted(ctx, diag.Git(err))
	}
	r.known = checkcache.Open(r.env.StateDir, r.env.Root)
	k := r.checks()
	if k.Log, err = r.verifyLog(); err != nil {
		return err
	}
	bases, err := r.Checker.Baseline(ctx, k, func(c verify.Command) bool { return r.known.Has(tree, k.Identity(c)) })
	if err != nil {
		return interrupted(ctx, internal(err))
	}
	r.base, r.baseTree = bases, tree
	failed := 0
	for i, b := range bases {
		switch b.Before {
		case verify.BeforePassed:
			r.known.Add(tree, k.Identity(r.commands[i]))
		case verify.BeforeFailed:
			failed++
		}
	}
	r.leave(fmt.Sprintf("%d of %d checks fail before anything is changed", failed, len(bases)))
	return nil
}

// excuses reports whether a failure that was there before may be excused: not when the
// change touches what the checks are made of, since then they are other checks.
func (r *run) excuses() bool {
	if len(r.verdict.Kept) == 0 {
		return false
	}
	named := map[string]bool{}
	for _, c := range r.commands {
		dir, _, _ := r.cfg.Verification.Setting(c.ID)
		for _, arg := range c.Argv {
			name := path.Clean(strings.TrimPrefix(arg, r.git.Root+"/"))
			named[name], named[path.Join(dir, name)] = true, true
		}
	}
	for i := range r.verdict.Kept {
		c := &r.verdict.Kept[i]
		if named[c.Path] || judge.Match(r.cfg.Verification.ProtectedGlobs, c.Path) || judge.Triggered(c) ||
			c.Kind != judge.Added && judge.Match(r.cfg.Verification.TestGlobs, c.Path) {
			r.note(fmt.Sprintf("%q decides what the checks are, so no failure of theirs is excused", c.Path))
			return false
		}
	}
	return true
}

// besides says in the report what the checks found beside the base.
func (r *run) besides(results []verify.Result) {
	if r.base == nil {
		return
	}
	silent := 0
	for i, v := range results {
		switch v.Finding {
		case verify.FailedBefore:
			silent++
			r.note(fmt.Sprintf("the check %s failed before this change in the same way (%s): it is not blamed, and says nothing about the change", v.Command.ID, v.Outcome()))
		case verify.Flaky:
			r.note(fmt.Sprintf("the check %s is flaky: it failed once and then passed twice on the same files", v.Command.ID))
		case verify.NewFailure: // what passed on this tree by memory may fail by now for another reason
			r.known.Remove(r.baseTree, r.checks().Identity(r.commands[i]))
		}
	}
	if silent > 0 && silent == len(results) {
		r.note("no check says anything about this change: all of them failed before it too")
	}
}

// rememberPassed notes that the checks passed on the tree that has just been committed: it
// is the next tick's base.
func (r *run) rememberPassed(ctx context.Context) {
	if r.base == nil || r.rep.Commit == "" {
		return
	}
	tree, err := r.tree(ctx, r.rep.Commit)
	if err != nil {
		return // it costs the next tick a run
	}
	for _, v := range r.results {
		if v.Finding == verify.Passed {
			r.known.Add(tree, r.checks().Identity(v.Command))
		}
	}
}

// tree gives the tree of a commit.
func (r *run) tree(ctx context.Context, commit string) (string, error) {
	out, err := r.git.Run(ctx, nil, "rev-parse", "--verify", commit+"^{tree}")
	return strings.TrimSpace(string(out)), err
}
