package host

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"github.com/paxiom/relay/host/change"
	"github.com/paxiom/relay/host/internal/buildcache"
	"github.com/paxiom/relay/host/internal/checkout"
	"github.com/paxiom/relay/host/internal/lock"
	"github.com/paxiom/relay/host/internal/pluginenv"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/host/pipeline"
)

// GCResult is what gc removed.
type GCResult struct {
	Doc
	Removed []Worktree `json:"removed"`
	Kept    []Worktree `json:"kept"`
	Bytes   int64      `json:"bytes"` // of what was removed
	DryRun  bool       `json:"dry_run,omitempty"`
}

// Worktree is a work tree of relay's own.
type Worktree struct {
	Path  string `json:"path"`            // absolute
	Cycle string `json:"cycle,omitempty"` // the cycle that has it
	Task  string `json:"task,omitempty"`  // or the task of a pipeline
	Bytes int64  `json:"bytes,omitempty"`
}

// GC removes the work trees that no cycle and no task has, and the kept checkouts that no
// box shows.
func (r *Repo) GC(ctx context.Context, dry bool) (*GCResult, error) {
	res := &GCResult{Doc: DocOf("relay.gc", 1), DryRun: dry, Removed: []Worktree{}, Kept: []Worktree{}}
	err := r.gcCycles(ctx, res)
	if err == nil {
		err = r.gcTasks(ctx, res)
	}
	trees := slices.Clone(res.Removed)
	stale := func(root string) bool {
		_, serr := os.Stat(root)
		return serr != nil || root == r.Root() || slices.ContainsFunc(trees, func(w Worktree) bool { return w.Path == root })
	}
	if err == nil {
		err = checkout.Sweep(filepath.Join(r.StateDir(), change.Checkouts), stale, dry, func(path string) {
			res.Removed = append(res.Removed, Worktree{Path: path, Bytes: workspace.Size(path)})
		})
	}
	if err == nil {
		err = buildcache.Sweep(pluginenv.CachesIn(r.StateDir()), stale, dry, func(path string) {
			res.Removed = append(res.Removed, Worktree{Path: path, Bytes: workspace.Size(path)})
		})
	}
	for _, w := range res.Removed {
		res.Bytes += w.Bytes
	}
	return res, err
}

func (r *Repo) gcCycles(ctx context.Context, res *GCResult) error {
	env, _, err := r.CycleEnv(nil)
	if err != nil {
		return err
	}
	gone, err := env.Collect(ctx, res.DryRun)
	if err != nil {
		return err
	}
	was := map[string]bool{}
	for _, w := range gone {
		was[w.Path] = true
		res.Removed = append(res.Removed, Worktree{Path: w.Path, Bytes: w.Bytes})
	}
	left, err := env.Worktrees(ctx, true)
	for _, w := range left {
		if !was[w.Path] {
			res.Kept = append(res.Kept, Worktree{Path: w.Path, Cycle: w.Cycle, Bytes: w.Bytes})
		}
	}
	return err
}

// gcTasks is gcCycles for the tasks of a pipeline. While one runs all of its work trees
// are in use.
func (r *Repo) gcTasks(ctx context.Context, res *GCResult) error {
	env, o, err := r.PipelineEnv(nil)
	if err != nil {
		return nil // no configuration, no pipeline
	}
	running := false
	if state, info, err := lock.Inspect(o.WS.Lock()); err == nil && state == lock.Held && info != nil {
		running = info.Command == pipeline.Command
	}
	if !running && !res.DryRun {
		release, err := o.Lock("relay gc")
		if err != nil {
			return err
		}
		defer release()
	}
	trees, err := pipeline.Trees(ctx, env)
	if err != nil {
		return err
	}
	all, err := trees.List(true)
	if err != nil {
		return err
	}
	for _, t := range all {
		w := Worktree{Path: t.Path, Task: t.Owner, Bytes: t.Bytes}
		if running || t.Owner != "" {
			res.Kept = append(res.Kept, w)
		} else {
			res.Removed = append(res.Removed, w)
		}
	}
	if running || res.DryRun {
		return nil
	}
	_, err = trees.Collect(ctx, false)
	return err
}
