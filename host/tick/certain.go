package tick

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/paxiom/relay/host/change"
	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/format"
	"github.com/paxiom/relay/host/internal/pluginenv"
	"github.com/paxiom/relay/judge"
)

// What is certain to end a tick is said before a call is paid for.

// checkScope refuses a scope that names a folder by its name alone: the pattern allows only a
// file of that name, so each build would be paid for and stopped.
func (r *run) checkScope() error {
	for key, globs := range map[string][]string{"scope.default_allowed_globs": r.cfg.Scope.DefaultAllowedGlobs, "scope.ceiling.allowed_globs": r.cfg.Scope.Ceiling.AllowedGlobs} {
		if g := r.folderIn(globs); g != "" {
			return diag.New(judge.BlockedMissingConfig, fmt.Sprintf("%s names the folder %q, and allows nothing in it", key, g),
				"a pattern without a wildcard is the path of one file", fmt.Sprintf("write %q in place of %q; `relay config show scope --origin` says where it stands", g+"/**", g))
		}
	}
	return nil
}

// folderIn gives the first of the globs that is the name of a folder and of no submodule.
func (r *run) folderIn(globs []string) string {
	for _, g := range globs {
		at := filepath.Join(r.env.Root, g)
		if info, err := os.Lstat(at); err != nil || !info.IsDir() || slices.Contains(globs, g+"/**") {
			continue
		}
		if _, err := os.Lstat(filepath.Join(at, ".git")); err != nil {
			return g
		}
	}
	return ""
}

// canRun looks for the programs of checks before a call is paid for that they are to judge:
// without them they say nothing about a change.
func (r *run) canRun(ctx context.Context, checks []string) error {
	comes := func(path string) bool {
		if r.task == nil && r.o.operators() || r.task != nil && slices.Contains(r.task.Scope.AllowedGlobs, path) {
			return true // the task may make it
		}
		names, err := r.git.List(ctx, r.rep.BaseCommit, true, []string{path})
		return err != nil || len(names) > 0
	}
	if id, what, why, fix := pluginenv.MissingProgram(&r.cfg.Verification, checks, r.env.Environ, r.env.Root, comes); what != "" {
		return diag.New(judge.BlockedMissingConfig, fmt.Sprintf("the check %s can't run: %s", id, what), why, fix+"; `relay config show verification` lists the checks")
	}
	return nil
}

// lookedAway says before the build which files of the task's scope can't change here.
func (r *run) lookedAway(ctx context.Context) error {
	away, err := change.LookedAway(ctx, r.git, func(path string) bool { return judge.Match(r.task.Scope.AllowedGlobs, path) })
	if err == nil && len(away) > 0 && r.task.Kind == judge.Execute {
		r.note(fmt.Sprintf("%s in the task's scope can't change here, such as %q: git was told to look away (skip-worktree, assume-unchanged or a sparse checkout)",
			format.Count(len(away), "file"), away[0]))
	}
	return err
}
