package tick

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/paxiom/relay/host/change"
	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/format"
	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/box"
	"github.com/paxiom/relay/judge/git"
)

// AtWork is what the operator's git has to end before a tick can begin, as a clause after "once". ""
// is nothing, or that the tick itself says what is wrong with the repository.
func AtWork(ctx context.Context, env *Env, o Options, waited time.Duration) string {
	r := newRun(env, o)
	for _, row := range r.rows()[:rowsBeforeLock] {
		if _, err := row.look(ctx); err != nil {
			return ""
		}
	}
	return change.Env{Git: r.git}.AtWork(r.branch, waited)
}

func (r *run) checkWorktree(ctx context.Context) (string, error) {
	if err := r.at().Changes().Free(ctx, r.branch); err != nil {
		return "", err
	}
	status, err := r.git.Status(ctx)
	if err != nil {
		return "", diag.Git(err)
	}
	r.status = status
	owned := r.at().Owned()
	var dirty []string
	for _, e := range status {
		if r.mine(e, owned) || r.o.TaskFile != "" && e.Path == r.o.TaskFile {
			continue
		}
		dirty = append(dirty, e.Path)
	}
	if len(dirty) == 0 {
		return "clean", nil
	}
	// A step whose change is left for the operator to commit is the base of the next one. An
	// edited configuration is no work in progress: relay reads it from the work tree.
	tuned := !slices.ContainsFunc(dirty, func(path string) bool { return !slices.Contains(workspace.ConfigNames(), path) })
	if !r.cfg.Worktree.MayBeDirty(tuned || r.o.Loop != "" && r.cfg.Commit.OnSuccess) {
		return "", diag.Dirty(dirty)
	}
	if r.means == "" {
		r.checkBox(ctx) // what is wrong with it is said in its turn
	}
	env := r.at().Changes()
	shown, err := env.Shown(ctx, dirty)
	if err != nil {
		return "", diag.Git(err)
	}
	if len(shown) == 0 {
		text := format.Count(len(dirty), "path") + " of yours that the tick does not see"
		if r.held != nil && !tuned {
			r.note(fmt.Sprintf("%s: not committed, such as %q", text, report.Safe(dirty[0])))
		}
		return text, nil
	}
	f := diag.Dirty(shown)
	switch {
	case env.Keep != nil:
		f.Why += "; boxes show submodules as they are"
		f.Fix = "`git submodule update` brings them to the commits that HEAD has; what is edited in them, commit there"
	case r.means != "" && r.means != box.Overlay:
		f.Why += fmt.Sprintf("; the means %s shows boxes the work tree, so worktree.dirty can't allow it", r.means)
	default:
		f.Why += "; boxes show the work tree here, so worktree.dirty can't allow it: `relay help config worktree.dirty`"
	}
	return "", f
}

// mine says that an entry of git's status is none of a change's: it lies in the workspace,
// whether git tracks it or not, or it is relay's own elsewhere and untracked.
func (r *run) mine(e git.StatusEntry, owned []string) bool {
	path := strings.TrimSuffix(e.Path, "/")
	return r.ws.Holds(path) || e.Index == '?' && judge.Match(owned, path)
}
