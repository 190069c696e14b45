package cycle

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/paxiom/relay/host/attempt"
	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/store"
	"github.com/paxiom/relay/host/internal/worktree"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/git"
)

// Worktree is one work tree of the pool.
type Worktree struct {
	Path  string `json:"path"`
	Cycle string `json:"cycle,omitempty"` // that has it; "" when it is free
	Bytes int64  `json:"bytes,omitempty"`
}

func worktrees(trees []worktree.Tree) []Worktree {
	var out []Worktree
	for _, t := range trees {
		out = append(out, Worktree{Path: t.Path, Cycle: t.Owner, Bytes: t.Bytes})
	}
	return out
}

// pool is this repository's work trees for cycles.
func (e *Env) pool(ctx context.Context) (*worktree.Pool, error) {
	git, err := git.Open(ctx, e.Root)
	if err != nil {
		return nil, diag.Git(err)
	}
	return &worktree.Pool{Git: git, Dir: worktree.Dir(filepath.Join(e.DataDir, "worktrees"), git), Alive: e.alive, Room: e.room, Fill: e.where(nil).Filtering().Fill, Now: e.now}, nil
}

// where is where attempts are made in a checkout.
func (e *Env) where(git *git.Repo) attempt.Env {
	return attempt.Env{Git: git, Root: e.Root, Config: e.Config, WS: e.WS, Catalog: e.Catalog, StateDir: e.StateDir, Home: e.Home, Environ: e.Environ, Version: e.Version, Now: e.now}
}

// locked does something while no other process changes the pool, the locks of services
// or the rotation.
func (e *Env) locked(do func() error) error {
	if err := e.WS.MkdirAll(e.WS.Locks()); err != nil {
		return err
	}
	unlock, err := store.Lock(filepath.Join(e.WS.Locks(), ".mutex"))
	if err != nil {
		return diag.Wrap(err, judge.BlockedLockHeld, "another relay is just starting or ending a cycle here", "`relay queue`, then try again")
	}
	defer unlock()
	return do()
}

// Worktrees lists the pool. sizes costs a walk through all of them.
func (e *Env) Worktrees(ctx context.Context, sizes bool) ([]Worktree, error) {
	p, err := e.pool(ctx)
	if err != nil {
		return nil, err
	}
	trees, err := p.List(sizes)
	return worktrees(trees), err
}

// alive reports whether a cycle has not ended.
func (e *Env) alive(uuid string) bool {
	if !uuidName.MatchString(uuid) {
		return false
	}
	r, err := ReadRecord(e.WS, uuid)
	if err != nil {
		_, serr := os.Lstat(filepath.Join(folder(e.WS, uuid), "log.jsonl"))
		return serr == nil // damaged, or just beginning
	}
	return !r.State.Ended()
}

// takeWorktree gives a cycle a work tree on a new branch.
func (e *Env) takeWorktree(ctx context.Context, uuid, branch, base string) (string, error) {
	p, err := e.pool(ctx)
	if err != nil {
		return "", err
	}
	return p.Take(ctx, uuid, branch, base)
}

// room refuses another work tree over the caps.
func (e *Env) room(n int, bytes int64) error {
	most := e.Config.Cycles
	const fix = "`relay gc` collects those that are free; `relay queue` shows the cycles that have the others"
	if n >= most.MaxWorktrees {
		return diag.New(judge.BlockedBudgetCap, "the maximum number of work trees is reached", fmt.Sprintf("%d of cycles.max_worktrees %d", n, most.MaxWorktrees), fix)
	}
	if mb := bytes / 1_000_000; mb >= int64(most.WorktreesMaxMB) {
		return diag.New(judge.BlockedBudgetCap, "the work trees of cycles have reached their disk limit", fmt.Sprintf("%d MB of cycles.worktrees_max_mb %d", mb, most.WorktreesMaxMB), fix)
	}
	return nil
}

// releaseWorktree leaves a cycle's work tree to the next one.
func (e *Env) releaseWorktree(ctx context.Context, path, uuid string) error {
	return e.locked(func() error {
		p, err := e.pool(ctx)
		if err != nil {
			return nil // the repository is gone, and with it the work tree
		}
		return p.Release(ctx, path, uuid)
	})
}

// Collect removes the work trees that no cycle has. It gives what it removed.
func (e *Env) Collect(ctx context.Context, dry bool) (gone []Worktree, err error) {
	err = e.locked(func() error {
		p, err := e.pool(ctx)
		if err != nil {
			return err
		}
		trees, err := p.Collect(ctx, dry)
		gone = worktrees(trees)
		return err
	})
	return gone, err
}
