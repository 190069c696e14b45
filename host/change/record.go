package change

import (
	"context"
	"errors"
	"os"
	"path/filepath"
)

// ErrElsewhere says that the work tree is on another branch, or about to be.
var ErrElsewhere = errors.New("the work tree is on another branch")

// Record commits files that no builder may write, as they are in the work tree: relay's
// own records, and what the operator has written into them. What git ignores and does not
// know is left out. The commit is "" when there is nothing to commit. scratch names files
// beside the layers that are made for it. On another branch than the given one nothing is
// committed, and the error is ErrElsewhere. whole, when it is set, is asked once the files were
// read: its error ends it without a commit.
func Record(ctx context.Context, env Env, scratch, branch string, paths []string, m Message, whole func() error) (string, error) {
	head, at, err := env.Head(ctx)
	if err != nil {
		return "", err
	}
	if at != branch || head == "" {
		return "", ErrElsewhere
	}
	// A branch that moves while another git holds the index leaves one that deletes the files again.
	if err := env.Free(ctx, branch); err != nil {
		return "", err
	}
	k := newCommitter(env, filepath.Join(env.StateDir, "boxes", scratch))
	if err := os.MkdirAll(filepath.Dir(k.index), 0o700); err != nil {
		return "", err
	}
	defer k.remove()
	if paths, err = recordable(ctx, env, paths); err != nil || len(paths) == 0 {
		return "", err
	}
	own := []string{"GIT_INDEX_FILE=" + k.index}
	if _, err := k.write(ctx, own, nil, "read-tree", head); err != nil {
		return "", err
	}
	if _, err := k.write(ctx, own, nulList(paths), "update-index", "--add", "--remove", "-z", "--stdin"); err != nil {
		return "", err
	}
	tree, err := k.writeTree(ctx)
	if err != nil {
		return "", err
	}
	if was, err := treeOf(ctx, env.Git, head); err != nil || was == tree {
		return "", err
	}
	if whole != nil {
		if err := whole(); err != nil {
			return "", err
		}
	}
	commit, err := commitTree(ctx, env, tree, head, m)
	if err != nil {
		return "", err
	}
	// git switch writes the files before HEAD: they may be another branch's. A rebase has noted
	// where the branch is before HEAD leaves it.
	if now, on, err := env.Head(ctx); err != nil || on != branch || now != head || env.rebasing(branch) {
		return "", errors.Join(err, ErrElsewhere)
	}
	l := &lander{env: env}
	if err := l.moveBranch(ctx, &plan{Base: head, Branch: branch, Commit: commit}); err != nil {
		return "", err
	}
	if _, on, herr := env.Head(ctx); herr != nil || on != branch {
		return commit, herr
	}
	_, err = env.write(ctx, nil, nulList(paths), "update-index", "--add", "--remove", "-z", "--stdin")
	return commit, err
}

// recordable leaves out what git is told to ignore, and what it does not know and is not
// there.
func recordable(ctx context.Context, env Env, paths []string) (out []string, err error) {
	ignored, err := env.Git.CheckIgnore(ctx, paths)
	if err != nil {
		return nil, err
	}
	for _, p := range paths {
		known, err := env.Git.Run(ctx, nil, "--literal-pathspecs", "ls-files", "-z", "--", p)
		if err != nil {
			return nil, err
		}
		if len(known) == 0 {
			fi, err := os.Lstat(filepath.Join(env.Git.Root, filepath.FromSlash(p)))
			if err != nil || !fi.Mode().IsRegular() || ignored[p] {
				continue
			}
		}
		out = append(out, p)
	}
	return out, nil
}
