package pipeline

import (
	"context"
	"errors"
	"path/filepath"
	"slices"

	"github.com/paxiom/relay/host/attempt"
	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/host/internal/worktree"
	"github.com/paxiom/relay/host/pipeline/prd"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/git"
)

// loop takes one task after the other, as many at a time as the options say. An error
// begins no more of them, and what is under way comes to its end.
func (p *Pipeline) loop(ctx context.Context) error {
	type end struct {
		task string
		err  error
	}
	ends := make(chan end)
	var first error
	alone := false
	for {
		for first == nil && ctx.Err() == nil && !alone && p.at() < max(p.o.Parallel, 1) {
			var t *prd.Task
			if t, first = p.next(ctx); t == nil || first != nil {
				break
			}
			if alone = !p.beside(t.ID); alone && p.at() > 0 {
				alone = false // once the others have ended
				break
			}
			p.take(t.ID)
			go func() {
				_, err := p.work(ctx, *t)
				ends <- end{t.ID, err}
			}()
		}
		if p.at() == 0 {
			return p.ended(ctx, first)
		}
		e := <-ends
		p.leave(e.task)
		if alone = false; first == nil {
			first = e.err
		}
	}
}

// ended says why a loop ended.
func (p *Pipeline) ended(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		p.out.Reason, p.out.Why = Interrupted, context.Cause(ctx).Error()
		return nil
	case errors.Is(err, errLimit):
		p.out.Reason, p.out.Why = LimitLasts, err.Error()
		return nil
	case errors.Is(err, errDrained):
		p.out.Reason, p.out.Why = Drained, err.Error()
		return nil
	case err != nil:
		p.out.Reason = ""
	}
	return err
}

// sideBranch is the branch of a task that is worked on in a work tree of its own.
func sideBranch(task string) string { return "relay/task/" + task }

// beside reports whether a task is worked on in a work tree of its own. An attempt continues
// where it began.
func (p *Pipeline) beside(task string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if t := p.begun[task]; t != nil && t.Branch != "" && t.Lost == "" {
		return t.Branch == sideBranch(task)
	}
	return p.o.Parallel > 1
}

// where gives the checkout for a task: the operator's, or a work tree of its own at the
// tip of the operator's branch. That of an attempt that has begun is left as it is.
func (p *Pipeline) where(ctx context.Context, task string) (*git.Repo, error) {
	if !p.beside(task) {
		return p.place, nil
	}
	p.turn.Lock()
	defer p.turn.Unlock()
	path, err := p.treeOf(task)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	begun := p.begun[task]
	goOn := path != "" && begun != nil && begun.Branch != "" && begun.Lost == ""
	p.mu.Unlock()
	if !goOn {
		if path, err = p.freshTree(ctx, task, path); err != nil {
			return nil, err
		}
	}
	git, err := git.Open(ctx, path)
	if err != nil {
		return nil, diag.Wrap(err, judge.BlockedCrashRecovery, "the work tree of task "+task+" can't be used", "`git worktree repair "+diag.Word(path)+"`")
	}
	return git, nil
}

// freshTree puts a work tree, the task's old one if it has one, at the tip of the
// operator's branch.
func (p *Pipeline) freshTree(ctx context.Context, task, path string) (string, error) {
	if err := p.tidy(ctx, p.place); err != nil {
		return "", err
	}
	tip, err := p.tip(ctx)
	if err != nil {
		return "", err
	}
	if err := p.dropTree(ctx, task, path); err != nil {
		return "", err
	}
	if path, err = p.pool().Take(ctx, task, sideBranch(task), tip); err != nil {
		return "", err
	}
	ws, err := workspace.Open(path, p.env.Config.WorkspaceDir) // builders leave their results there
	if err != nil {
		return "", err
	}
	return path, errors.Join(ws.Ensure(), ws.Publish())
}

// pool is this repository's work trees for tasks. Those of tasks that have neither begun
// nor are worked on are free.
func (p *Pipeline) pool() *worktree.Pool {
	pool := poolOf(p.env, p.place)
	pool.Now = p.now
	pool.Alive = func(task string) bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.begun[task] != nil || p.busy[task]
	}
	return pool
}

func poolOf(env *Env, git *git.Repo) *worktree.Pool {
	return &worktree.Pool{Git: git, Dir: worktree.Dir(filepath.Join(env.DataDir, "tasks"), git), Fill: env.at(git).Filtering().Fill}
}

// at is where attempts are made in a checkout.
func (e *Env) at(git *git.Repo) attempt.Env {
	return attempt.Env{Git: git, Root: e.Root, Config: e.Config, WS: e.WS, Catalog: e.Catalog, StateDir: e.StateDir, Home: e.Home, Environ: e.Environ, Version: e.Version}
}

// Trees are the work trees of tasks while no pipeline runs: those of tasks that have
// begun have their owners. Removing one takes the workspace's lock.
func Trees(ctx context.Context, env *Env) (*worktree.Pool, error) {
	git, err := git.Open(ctx, env.Root)
	if err != nil {
		return nil, diag.Git(err)
	}
	open, err := Open(env.WS)
	if err != nil {
		return nil, err
	}
	pool := poolOf(env, git)
	pool.Alive = func(task string) bool {
		return slices.ContainsFunc(open, func(t *Record) bool { return t.TaskID == task })
	}
	return pool, nil
}

// treeOf is the work tree that a task has; "" when it has none.
func (p *Pipeline) treeOf(task string) (string, error) {
	trees, err := poolOf(p.env, p.place).List(false) // by its mark, whatever is known of the task
	i := slices.IndexFunc(trees, func(t worktree.Tree) bool { return t.Owner == task })
	if i < 0 {
		return "", err
	}
	return trees[i].Path, err
}

// placeOf is the work tree that a task has, or the operator's checkout.
func (p *Pipeline) placeOf(ctx context.Context, task string) *git.Repo {
	if path, err := p.treeOf(task); err == nil && path != "" {
		if git, err := git.Open(ctx, path); err == nil {
			return git
		}
	}
	return p.place
}

// dropTree leaves a task's work tree to the next one, and removes its branch.
func (p *Pipeline) dropTree(ctx context.Context, task, path string) error {
	if path != "" {
		if err := p.pool().Release(ctx, path, task); err != nil {
			return err
		}
	}
	if _, err := p.place.Write(ctx, nil, nil, "update-ref", "-d", "refs/heads/"+sideBranch(task)); err != nil {
		return diag.Wrap(err, judge.BlockedMissingConfig, "the branch of task "+task+" can't be removed", "`git branch -D "+sideBranch(task)+"`")
	}
	return nil
}

// release gives up the work tree of a task whose end is on record.
func (p *Pipeline) release(ctx context.Context, task string) error {
	path, err := p.treeOf(task)
	if path == "" || err != nil {
		return err
	}
	return p.dropTree(context.WithoutCancel(ctx), task, path)
}

// at is how many tasks are worked on, take and leave count one in and out.
func (p *Pipeline) at() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.busy)
}

func (p *Pipeline) take(task string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.busy[task] = true
}

func (p *Pipeline) leave(task string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.busy, task)
}
