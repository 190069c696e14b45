package change

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/paxiom/relay/judge"
)

// What was built on a commit that relay keeps lands in a work tree in which somebody may
// be at work. What a change replaces there must be what the commit has; anything else is the
// operator's, and stays. What the change does not touch may be in any state.

// Shown gives those of paths that differ from HEAD of which a box shows what lies in the work
// tree: all of them where no commits are kept, and submodules in any case.
func (e Env) Shown(ctx context.Context, dirty []string) ([]string, error) {
	if e.Keep == nil || len(dirty) == 0 {
		return dirty, nil
	}
	links, err := gitlinks(ctx, e.Git, "HEAD")
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(dirty), func(path string) bool {
		for at := strings.TrimSuffix(path, "/"); at != "."; at = filepath.Dir(at) {
			if links[at] != "" {
				return false
			}
		}
		return true
	}), nil
}

// onto gives changes the stamps of the tree that they go into in the place of those that the
// judge read.
func (c *Change) onto(real *realTree, kept []judge.Change) ([]judge.Change, error) {
	if c.base == nil {
		return kept, nil
	}
	base, err := openReal(c.base.Kept.Root)
	if err != nil {
		return nil, err
	}
	defer base.Close()
	base.trade(kept)
	real.trade(kept)
	out := slices.Clone(kept)
	for i := range out {
		ch := &out[i]
		if c.shown(ch.Path) {
			continue
		}
		now, err := real.stampAt(ch.Path)
		if err != nil {
			return nil, unseen(ch.Path, err)
		}
		if !now.Exists && !ch.Base.Exists || now.Mode.IsDir() && (!ch.Base.Exists || ch.Base.Mode.IsDir()) {
			ch.Base = now
			continue
		}
		was, err := base.describe(ch.Path, nil)
		if err != nil {
			return nil, err
		}
		have, err := real.describe(ch.Path, nil)
		if c.env.Git.Loose() && was.Mode.IsRegular() && have.Mode.IsRegular() {
			have.Mode = was.Mode
		}
		if err != nil || !alike(was, have) {
			return nil, moved(ch.Path, "it holds changes of yours that are in no commit, or was changed while the builder ran")
		}
		ch.Base = now
	}
	return out, nil
}

// shown says that a box shows a path as it is in the work tree.
func (c *Change) shown(path string) bool {
	return slices.ContainsFunc(c.base.Kept.Shown, func(dir string) bool {
		rel, err := filepath.Rel(c.env.Git.Root, dir)
		return err == nil && strings.HasPrefix(path, rel+"/")
	})
}

// alike compares two sides by what git keeps of them.
func alike(a, b side) bool {
	return a.Exists == b.Exists && a.Mode.Type() == b.Mode.Type() && (a.Mode^b.Mode)&0o100 == 0 && a.Size == b.Size && a.SHA256 == b.SHA256 && a.Link == b.Link
}

// unstaged refuses to land where git's index has other versions of these files than the
// base: they are the operator's, and nothing else may hold them.
func (l *lander) unstaged(ctx context.Context, p *plan) error {
	if !l.kept {
		return nil
	}
	out, err := l.env.Git.Run(ctx, nil, "diff-index", "--cached", "--name-only", "-z", "--no-renames", "--ignore-submodules=all", l.base)
	if err != nil {
		return err
	}
	for staged := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		for _, e := range p.Entries {
			if overlap(string(e.Path), staged) {
				return moved(staged, fmt.Sprintf("another version of it is staged than %.12s has", l.base))
			}
		}
	}
	return nil
}
