package pipeline

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/paxiom/relay/host/change"
	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/pipeline/prd"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/git"
)

// The task list and the memory are files of the branch on which a run began. While the
// operator is on another one nothing of them is read or written: what is being built continues,
// and the run waits with the rest.

// home waits until the operator's checkout is on the run's branch and his git about nothing that a
// commit there would harm, as long as it would wait for a vendor's limit. What was begun continues
// with the next run.
func (p *Pipeline) home(ctx context.Context) error {
	said, began, most := "", p.now(), p.env.Config.Limits.LongestWait()
	for {
		waited := p.now().Sub(began)
		what, fix, err := p.away(ctx, waited)
		if err != nil {
			return err
		}
		if what == "" {
			if said == "" {
				return nil
			}
			return p.hold(Hold{})
		}
		if said != what && (fix == p.back() || waited > time.Second) { // git is mostly done by then
			said = what
			p.notice(what)
			if err := p.hold(Hold{Held: what, HeldFix: fix}); err != nil {
				return err
			}
		}
		if waited > most {
			return diag.New(judge.StopHeadMoved, what, "it waited as long as limits.max_wait says ("+p.env.Config.Limits.MaxWait+")", fix+", then `relay pipeline run` continues it")
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(readAgain):
		}
	}
}

// away says what keeps the run from its branch, and what to type about it; "" is nothing.
func (p *Pipeline) away(ctx context.Context, waited time.Duration) (what, fix string, err error) {
	env := change.Env{Git: p.place}
	tip, branch, err := env.Head(ctx)
	if err != nil {
		return "", "", diag.Git(err)
	}
	held := env.AtWork(p.branch, waited)
	if held == "" && branch == "" {
		held = env.AtWork("", waited)
	}
	switch {
	case held != "":
		return "the run continues once " + held, "`git status` says what git is about here", nil
	case branch == p.branch && tip == "":
		return fmt.Sprintf("the branch %s is gone: the run continues once it is there again", p.branch), "`git reflog` has its commits", nil
	case branch != p.branch:
		return fmt.Sprintf("your checkout is on %s: the run continues once it is back on %s", orHead(branch), orHead(p.branch)), p.back(), nil
	}
	return "", "", nil
}

// back is the command that leads the operator back to the run's branch.
func (p *Pipeline) back() string {
	if p.branch == "" {
		return "`git switch --detach -`"
	}
	return "`git switch " + diag.Word(p.branch) + "`"
}

// tip is the commit that the run's branch is at.
func (p *Pipeline) tip(ctx context.Context) (string, error) {
	out, err := p.place.Run(ctx, nil, "rev-parse", "--verify", refOf(p.branch)+"^{commit}")
	if err != nil {
		return "", diag.Internal(err)
	}
	return strings.TrimSpace(string(out)), nil
}

func refOf(branch string) string {
	if branch == "" {
		return "HEAD"
	}
	return "refs/heads/" + branch
}

// landing says how a change of the task lands.
func (a *taskRun) landing() change.Landing {
	l := change.Landing{Message: a.message(), Commit: true, Note: a.record.Attempt, Say: a.note}
	if a.p.env.Config.Worktree.Dirty != "block" {
		l.Verify = func(ctx context.Context) (string, error) { return diag.Refused(ctx, a.tryAgain(ctx)) }
	}
	return l
}

// tryAgain tries the change once more, on top of what the branch has got since.
func (a *taskRun) tryAgain(ctx context.Context) error {
	a.note("the branch has moved since it was built: the change goes on top of that, and is tried there")
	for i, r := range a.commands() {
		c, _, err := a.try(ctx, fmt.Sprintf("again-%d", i+1), r)
		if err != nil {
			return err
		}
		if !c.OK {
			return diag.New(judge.StopVerifyFailedSlow, strings.Join(r.argv, " "), c.Outcome, "`relay task show "+a.record.TaskID+"`")
		}
	}
	hidden := a.hidden()
	if len(hidden) == 0 {
		return nil
	}
	c, err := a.tryHidden(ctx, hidden)
	if err == nil && !c.OK {
		err = diag.New(judge.StopHiddenFailed, "the hidden checks fail on top of your commits", c.Outcome, "`relay show "+a.record.RunID+"` says what they printed, to you alone")
	}
	return err
}

// ofRun are the commits of a run on a branch, the oldest first.
func ofRun(ctx context.Context, git *git.Repo, branch, run string) ([]string, error) {
	const far = "-500"
	out, err := git.Run(ctx, nil, "log", far, "--no-show-signature", "--format=%H %(trailers:key=Relay-Run,valueonly,separator=%x2C)", refOf(branch))
	if err != nil {
		return nil, diag.Internal(err)
	}
	var commits []string
	for line := range strings.Lines(string(out)) {
		if commit, of, _ := strings.Cut(strings.TrimSpace(line), " "); of == run {
			commits = append([]string{commit}, commits...)
		}
	}
	return commits, nil
}

// commitRecords commits the task list and the memory as they are, once an editor that saves the
// list is done. Where the end of t, which may be nil, is not in the list any more, because git stash
// has taken it along, it is written again.
func (p *Pipeline) commitRecords(ctx context.Context, m change.Message, t *Record) (string, error) {
	for {
		list, err := p.tasks(ctx)
		if err == nil && t != nil && !ended(list.Find(t.TaskID), t) {
			if err = p.mark(ctx, t); err == nil {
				continue
			}
		}
		if err != nil {
			return "", err
		}
		if err := firstOf(p.env.WS.Publish(), p.env.WS.CopyMemory()); err != nil { // it is committed from the workspace
			return "", err
		}
		commit, err := change.Record(context.WithoutCancel(ctx), p.in(p.place, "").Changes(), "record-"+p.rec.RunID, p.branch, p.records(), m, func() error {
			if now, err := p.list.Read(); err != nil || !bytes.Equal(now.Bytes(), list.Bytes()) {
				return prd.ErrEdited
			}
			return nil
		})
		if err == nil {
			p.attest(ctx, commit, t)
			return commit, nil
		}
		p.env.WS.WithdrawMemory()
		if errors.Is(err, prd.ErrEdited) {
			continue
		}
		f, ok := diag.As(err) // the operator committed, or switched, in this very moment
		if moved := ok && f.Code == judge.StopHeadMoved || errors.Is(err, change.ErrElsewhere); !moved {
			return "", diag.Wrap(err, judge.BlockedCrashRecovery, TasksFile+" could not be committed", "`git status`, then `relay pipeline run`")
		}
	}
}
