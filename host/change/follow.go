package change

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/paxiom/relay/host/internal/journal"
	"github.com/paxiom/relay/judge/git"
)

// The operator commits and switches branches while a change is built on a kept commit. The
// change then follows its branch: where the commits that came meanwhile leave its paths
// alone it is put on top of them, verified on that tree, and lands there. Where the work
// tree is on another branch, only the branch moves and no file is written.

// maxFollow is how often a change is put on top of new commits before it gives up.
const maxFollow = 5

// Between two tries the operator's git has to have stood still for as long as the last one
// took, within these bounds: commits that come faster than a check runs would keep the change from
// landing for ever. After longestMoving, or half of what is left of the tick's time, it is tried
// all the same.
const (
	shortestStill = 250 * time.Millisecond
	longestStill  = time.Minute
	longestMoving = 10 * time.Minute
)

// place is where a change would land; beside: the work tree is on another branch.
type place struct {
	tip    string
	beside bool
}

// settle waits until the operator's git stands still, and says where the change would land;
// over, that it did not stand still in time.
func (c *Change) settle(ctx context.Context, l Landing, took time.Duration) (last place, over bool, err error) {
	still, longest := min(max(took, shortestStill), longestStill), longestMoving
	if end, ok := ctx.Deadline(); ok {
		longest = min(longest, time.Until(end)/2)
	}
	for began, since := time.Now(), time.Now(); ; {
		waits := c.env.AtWork(c.opts.Branch, 0)
		over = time.Since(began) > longest
		if waits != "" && !over {
			since = time.Now()
		} else {
			tip, beside, err := c.tip(ctx)
			if err != nil {
				return place{}, over, err
			}
			if at := (place{tip, beside}); at != last {
				last, since = at, time.Now()
			}
			if over || time.Since(since) >= still {
				return last, over, nil
			}
			waits = "you have committed nothing for " + still.Round(100*time.Millisecond).String()
		}
		if l.Say != nil && time.Since(began) > 2*still {
			l.Say("it lands once " + waits)
			l.Say = nil
		}
		select {
		case <-ctx.Done():
			return place{}, over, context.Cause(ctx)
		case <-time.After(shortestStill / 5):
		}
	}
}

// follows reports whether a change may land on another commit than the one it was built on.
func (c *Change) follows(l Landing) bool {
	return c.base != nil && l.Commit && l.Verify != nil && c.opts.Branch != ""
}

// Head is [git.Repo.Head], with commit "" on a branch that has none yet: the operator may be on one
// while relay lands on another.
func (e Env) Head(ctx context.Context) (commit, branch string, err error) {
	commit, branch, err = e.Git.Head(ctx)
	if failed, ok := errors.AsType[*git.Error](err); ok && failed.Kind == git.NoCommits {
		var out []byte
		out, err = e.Git.Run(ctx, nil, "symbolic-ref", "HEAD")
		branch = strings.TrimPrefix(strings.TrimSpace(string(out)), "refs/heads/")
	}
	return commit, branch, err
}

// tip is the commit that the change's branch is at; beside, that the work tree is not on it.
func (c *Change) tip(ctx context.Context) (tip string, beside bool, err error) {
	head, branch, err := c.env.Head(ctx)
	if err != nil || head != "" && branch == c.opts.Branch {
		return head, false, err
	}
	out, err := c.env.Git.Run(ctx, nil, "rev-parse", "--verify", "-q", "refs/heads/"+c.opts.Branch+"^{commit}")
	if err != nil {
		return "", true, headMoved(fmt.Sprintf("HEAD is on %s, and the branch %q is gone", branchName(branch), c.opts.Branch))
	}
	if tip, err = objectName(c.env.Git, out); err != nil {
		return "", true, err
	}
	if err = c.free(ctx); err != nil {
		// Between the two looks the operator may have come back, and it is his own work tree
		// that has the branch.
		if head, branch, herr := c.env.Git.Head(ctx); herr == nil && branch == c.opts.Branch {
			return head, false, nil
		}
	}
	return tip, true, err
}

// free refuses to move a branch that another work tree is on, or that git is about to move.
func (c *Change) free(ctx context.Context) error {
	out, err := c.env.Git.Run(ctx, nil, "worktree", "list", "--porcelain")
	if err != nil {
		return err
	}
	at := ""
	for line := range strings.Lines(string(out)) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch {
		case key == "worktree":
			at = value
		case key == "branch" && value == "refs/heads/"+c.opts.Branch:
			return headMoved(fmt.Sprintf("the branch %q is checked out in %s", c.opts.Branch, at))
		}
	}
	return c.env.notRebasing(c.opts.Branch)
}

// follow puts the change on top of what came meanwhile and has it verified there. It
// reports whether the work tree is on another branch.
func (c *Change) follow(ctx context.Context, l Landing) (beside bool, err error) {
	if !c.follows(l) {
		return false, nil
	}
	tip, beside, err := c.tip(ctx)
	if err != nil || tip == c.opts.Base {
		return beside, err
	}
	from := c.opts.Base
	if err := c.rebase(ctx, tip); err != nil {
		return beside, err
	}
	journal.Reached("change.rebased")
	refused, err := l.Verify(ctx)
	if err == nil && refused != "" {
		err = headMoved(fmt.Sprintf("what was built on %.12s fails on top of %.12s: %s", from, tip, refused))
	}
	return beside, err
}

// rebase makes another commit the base of the judged change. A path that both touch is a
// conflict.
func (c *Change) rebase(ctx context.Context, tip string) error {
	came, err := diffTree(ctx, c.env.Git, c.opts.Base, tip)
	if err != nil {
		return err
	}
	for _, path := range c.paths() {
		for _, other := range came {
			if overlap(path, other.path) {
				return headMoved(fmt.Sprintf("%q was changed by what came between %.12s and %.12s, and by the builder", other.path, c.opts.Base, tip))
			}
		}
	}
	c.idle()
	base, err := c.env.Keep.Take(ctx, tip, c.opts.Branch)
	if err != nil {
		return err
	}
	was := c.base
	c.base = base
	b, err := c.newBox(c.env.Persist, nil) // the builder's binds went with it
	if err != nil {
		c.base = was
		base.Release()
		return err
	}
	was.Release()
	c.box, c.opts.Base, c.opts.Binds = b, tip, nil
	if len(c.own) == 0 {
		return nil
	}
	k := newCommitter(c.env, c.layer)
	defer k.remove()
	return k.ownTrees(ctx, tip, c.own)
}

// paths are all that the change touches, in any of its commits.
func (c *Change) paths() []string {
	var paths []string
	for _, ch := range c.verdict.Kept {
		paths = append(paths, ch.Path)
	}
	for _, own := range c.own {
		for _, op := range own.ops {
			paths = append(paths, op.path)
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// overlap reports whether two paths can't be changed apart: they are the same, or one is a
// folder on the way to the other.
func overlap(a, b string) bool {
	return a == b || strings.HasPrefix(a, b+"/") || strings.HasPrefix(b, a+"/")
}

// publish moves the branch to the plan's commit. The work tree is on another one, so
// nothing else is written.
func (l *lander) publish(ctx context.Context, p *plan, note any) (_ Landed, err error) {
	done := Landed{Commit: p.Commit, Base: p.Base}
	for _, e := range p.Entries {
		done.Paths = append(done.Paths, string(e.Path))
	}
	for _, m := range p.Moves {
		done.Paths = append(done.Paths, string(m.Path))
	}
	if p.Commit == "" {
		return done, nil
	}
	p.Entries, p.Dirs, p.Moves, p.Beside = nil, nil, nil, true
	if p.Note, err = json.Marshal(note); err != nil {
		return Landed{}, err
	}
	if err = l.log.Append(recApply, p); err != nil {
		return Landed{}, err
	}
	ctx = context.WithoutCancel(ctx)
	err = l.moveBranch(ctx, p)
	if err == nil {
		// The operator came back in this very moment: the files have to be written after all.
		if _, branch, herr := l.env.Git.Head(ctx); herr == nil && branch == p.Branch {
			if _, uerr := l.env.write(ctx, nil, nil, "update-ref", "refs/heads/"+p.Branch, p.Base, p.Commit); uerr == nil {
				err = headMoved(fmt.Sprintf("HEAD came back to the branch %q", p.Branch))
			} else {
				l.note("HEAD came back to the branch %q meanwhile: `git status` shows files that differ from the commit, and `git restore` brings them back", p.Branch)
			}
		}
	}
	if err != nil {
		if aerr := l.log.Append(recReverted, nil); aerr != nil {
			return Landed{}, broken(aerr)
		}
		return Landed{}, err
	}
	journal.Reached("committed")
	if err := l.log.Append(recLanded, nil); err != nil {
		return Landed{}, broken(err)
	}
	done.Notes = append(l.notes, fmt.Sprintf("it is on the branch %q; your work tree is on another one, and was left alone", p.Branch))
	return done, nil
}
