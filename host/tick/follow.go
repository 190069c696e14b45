package tick

import (
	"context"
	"fmt"
	"strings"

	"github.com/paxiom/relay/host/change"
	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/policy"
	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/git"
)

// follows reports whether the change lands on its branch wherever the operator is
// meanwhile, and on top of what was committed there. Under the seed's rule for a dirty
// tree a moved HEAD ends the tick.
func (r *run) follows() bool { return r.cfg.Worktree.Dirty != "block" }

// landing says how the judged change lands.
func (r *run) landing() change.Landing {
	l := change.Landing{Message: r.evident(), Commit: r.cfg.Commit.OnSuccess, Note: r.rep, Say: r.note}
	if r.follows() {
		l.Verify = func(ctx context.Context) (string, error) { return diag.Refused(ctx, r.checkAgain(ctx)) }
	}
	return l
}

// home is where a workflow builds that began on another branch than HEAD is on now: the
// tip of its own one. Where boxes show the work tree there is only that.
func (r *run) home(ctx context.Context, git *git.Repo, commit, branch string) (string, string, error) {
	if r.o.Branch == "" || branch == r.o.Branch || !r.cfg.Worktree.MayBeDirty(r.cfg.Commit.OnSuccess) {
		return commit, branch, born(commit)
	}
	if _, err := r.checkBox(ctx); err != nil || r.at().Changes().Keep == nil {
		return commit, branch, born(commit) // what is wrong with the box is said in its turn
	}
	out, err := git.Run(ctx, nil, "rev-parse", "--verify", "-q", "refs/heads/"+r.o.Branch+"^{commit}")
	if err != nil {
		return "", "", diag.New(judge.BlockedDirtyWorktree, "the branch on which the loop began is gone", fmt.Sprintf("there is no %q any more", r.o.Branch),
			"`git branch` shows those that there are; `relay loop` begins a new loop on the present one")
	}
	return strings.TrimSpace(string(out)), r.o.Branch, nil
}

// born refuses a branch that has no commit yet.
func born(commit string) error {
	if commit == "" {
		return diag.Git(&git.Error{Kind: git.NoCommits})
	}
	return nil
}

// checkAgain verifies the change once more, on top of what the operator has committed. It
// costs no budget.
func (r *run) checkAgain(ctx context.Context) error {
	r.note("you committed while it was built: the change goes on top of that, and is verified there")
	if r.checked != nil {
		if err := r.verifyThere(ctx); err != nil {
			return err
		}
	}
	set, err := policy.Open(ctx, r.git, r.Change.Base(), r.env.Environ)
	if err != nil {
		return err
	}
	if r.policies.Digest() == set.Digest() {
		return nil
	}
	r.policies = set // of where it lands
	asks, err := r.decidePolicy()
	if err == nil && len(asks) > 0 {
		err = diag.New(judge.StopPolicyForbidden, "the policy that you have committed meanwhile asks about the change", report.ListHits(asks), "`relay run` builds it on what is there now")
	}
	return err
}

// verifyThere runs the checks on the other commit.
func (r *run) verifyThere(ctx context.Context) error {
	checks := *r.checked
	checks.Before, checks.Base, checks.Excuse = nil, nil, false // what failed on the other commit excuses nothing here
	return r.check(ctx, checks)
}

// askAbout makes a question of a change of a loop that can't land because of what the
// operator did meanwhile.
func (r *run) askAbout(err error) {
	if f, ok := diag.As(err); ok && f.Code == judge.StopHeadMoved && r.o.Loop != "" {
		r.rep.Question = &report.Question{Prompt: fmt.Sprintf("%q is built and can't land: %s. `relay salvage %s` has it. Shall it be built again on what is there now?", r.task.Intent, f.Why, r.rep.RunID),
			Choices: []string{"build it again", "leave it"}}
	}
}
