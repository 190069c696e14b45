package change

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/paxiom/relay/host/change/fault"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/git"
)

// Undone is a commit that takes a landed one back.
type Undone struct {
	Base   string // HEAD before it
	Commit string
	Paths  []string
	Notes  []string
}

// Undo makes a commit that takes the landed commit back, and with it those of the same
// run that lie between it and base; "" stands for its parent. What came after it stays. It
// refuses when that, or what is not committed, changes one of its paths. id names the journal.
// landed is told of the commit while the journal still has it: what comes before landed has
// returned, and what it could not write down, is found by [Recover].
func Undo(ctx context.Context, env Env, id, base, commit string, m Message, landed func(Undone) error) (err error) {
	base, head, branch, changes, err := undoable(ctx, env, base, commit)
	if err != nil {
		return err
	}
	layer := filepath.Join(env.StateDir, "boxes", id)
	k := newCommitter(env, layer)
	if err := os.MkdirAll(filepath.Dir(layer), 0o700); err != nil {
		return err
	}
	log, err := env.Journal.Begin(id)
	if err != nil {
		return err
	}
	if err := log.Append(recBegin, beginning{Layer: layer, Base: head, Branch: branch}); err != nil {
		return errors.Join(err, log.Settle())
	}
	defer func() {
		if fault.Is(err, judge.BlockedCrashRecovery) {
			err = errors.Join(err, log.Close())
			return
		}
		err = errors.Join(err, k.remove(), log.Settle())
	}()
	real, err := openReal(env.Git.Root)
	if err != nil {
		return err
	}
	defer real.Close()
	for _, c := range changes {
		if c.oldMode == modeLink || c.newMode == modeLink {
			real.trading[c.path] = true
		}
	}
	moves, rest := movesAmong(changes)
	back, err := k.reverse(ctx, real, base, rest)
	if err != nil {
		return err
	}
	l := &lander{env: env, log: log, real: real, base: head, branch: branch}
	open := func(p string) (io.ReadCloser, error) { return os.Open(filepath.Join(k.stage, p)) }
	done, err := l.run(ctx, back, moves, open, nil, func(*plan) (string, error) {
		tree, err := k.without(ctx, head, changes)
		if err != nil {
			return "", err
		}
		return commitTree(ctx, env, tree, head, m)
	})
	if err != nil {
		return err
	}
	if err := landed(Undone{Base: head, Commit: done.Commit, Paths: done.Paths, Notes: done.Notes}); err != nil {
		return &fault.Error{Kind: fault.UndoUnrecorded, Err: err}
	}
	return nil
}

// Undoable gives the paths that Undo would put back, and refuses what it would; it writes
// nothing.
func Undoable(ctx context.Context, env Env, base, commit string) (paths []string, err error) {
	_, _, _, changes, err := undoable(ctx, env, base, commit)
	for _, c := range changes {
		paths = append(paths, c.path)
	}
	return paths, err
}

// undoable refuses what Undo does. It gives the commit that the undo goes back to, the HEAD
// and the branch that it is made on, and what it changes.
func undoable(ctx context.Context, env Env, base, commit string) (back, head, branch string, changes []treeChange, err error) {
	if err := Settled(env.Journal); err != nil {
		return "", "", "", nil, err
	}
	if head, branch, err = env.Git.Head(ctx); err != nil {
		return "", "", "", nil, err
	}
	if _, err := env.Git.Run(ctx, nil, "merge-base", "--is-ancestor", commit, head); err != nil {
		return "", "", "", nil, &fault.Error{Kind: fault.Elsewhere, Commit: commit, Head: head}
	}
	if back, err = sameRun(ctx, env.Git, base, commit); err != nil {
		return "", "", "", nil, err
	}
	if changes, err = diffTree(ctx, env.Git, commit, back); err == nil {
		err = cmp.Or(onTop(ctx, env, base, commit, head, changes), env.inTheWay(ctx, changes))
	}
	return back, head, branch, changes, err
}

// inTheWay refuses to write over changes of the operator's. Those elsewhere stay.
func (e Env) inTheWay(ctx context.Context, changes []treeChange) error {
	status, err := e.filtering().Decide(e.Git).Status(ctx)
	if err != nil {
		return err
	}
	var dirty []string
	for _, s := range status {
		path, isDir := strings.CutSuffix(s.Path, "/")
		meets := func(c treeChange) bool {
			if isDir && strings.HasPrefix(c.path, s.Path) { // what git does not know of may have other names
				_, err := os.Lstat(filepath.Join(e.Git.Root, c.path))
				return err == nil
			}
			// The operator's checkout of a submodule stays where it is in any case.
			return c.newMode != modeSubmodule && overlap(path, c.path)
		}
		if !judge.Match(e.Owned, path) && slices.ContainsFunc(changes, meets) {
			dirty = append(dirty, s.Path)
		}
	}
	if len(dirty) > 0 {
		return &fault.Error{Kind: fault.Dirty, Paths: dirty}
	}
	// Status says nothing of what git ignores, or was told to look away from.
	touched := map[string]bool{}
	for _, c := range changes {
		touched[c.path] = true
		leaves := func(o treeChange) bool { return o.oldMode != 0 && overlap(o.path, c.path) }
		if _, err := os.Lstat(filepath.Join(e.Git.Root, c.path)); err == nil && c.oldMode == 0 && !slices.ContainsFunc(changes, leaves) {
			return &fault.Error{Kind: fault.Ignored, Path: c.path}
		}
	}
	away, err := LookedAway(ctx, e.Git, func(p string) bool { return touched[p] })
	if err == nil && len(away) > 0 {
		err = &fault.Error{Kind: fault.LookedAwayUndo, Path: away[0]}
	}
	return err
}

// onTop refuses to take back a change of paths that are not at HEAD what the commit made of
// them.
func onTop(ctx context.Context, env Env, base, commit, head string, changes []treeChange) error {
	later, err := diffTree(ctx, env.Git, commit, head)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(later, func(l treeChange) bool {
		return slices.ContainsFunc(changes, func(c treeChange) bool { return overlap(l.path, c.path) })
	})
	if i < 0 {
		return nil
	}
	return &fault.Error{Kind: fault.Overtaken, Path: later[i].path, Base: base, Commit: commit, Head: head}
}

// without makes the tree of head with these changes made to it.
func (k *committer) without(ctx context.Context, head string, changes []treeChange) (string, error) {
	own := []string{"GIT_INDEX_FILE=" + k.index}
	if _, err := k.env.write(ctx, own, nil, "read-tree", head); err != nil {
		return "", err
	}
	var gone, there strings.Builder // a folder makes room for a file
	for _, c := range changes {
		list := &there
		if c.newMode == 0 {
			list = &gone
		}
		fmt.Fprintf(list, "%o %s\t%s\x00", c.newMode, c.newOID, c.path)
	}
	if _, err := k.env.write(ctx, own, strings.NewReader(gone.String()+there.String()), "update-index", "-z", "--index-info"); err != nil {
		return "", err
	}
	return k.writeTree(ctx)
}

// sameRun gives the commit that an undo goes back to. It refuses when what lies between
// is not the run's own work in one line.
func sameRun(ctx context.Context, git *git.Repo, base, commit string) (string, error) {
	parent, err := git.Run(ctx, nil, "rev-parse", "--verify", commit+"^")
	if err != nil {
		return "", err
	}
	if p := strings.TrimSpace(string(parent)); base == "" || base == p {
		return p, nil
	}
	const most = maxOwnCommits + 1
	out, err := git.Run(ctx, nil, "log", "-z", fmt.Sprintf("-%d", most+1), "--no-show-signature",
		"--format=%H %P|%(trailers:key=Relay-Run,valueonly,separator=%x2C)", base+".."+commit)
	if err != nil {
		return "", err
	}
	next, run := commit, ""
	lines := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	for _, line := range lines {
		ids, trailer, _ := strings.Cut(line, "|")
		trailer = strings.TrimSpace(trailer)
		run = cmp.Or(run, trailer)
		id, from, _ := strings.Cut(ids, " ")
		if id != next || trailer == "" || trailer != run {
			next = ""
			break
		}
		next = from
	}
	if next != base || len(lines) > most {
		return "", &fault.Error{Kind: fault.NotItsOwn, Base: base, Commit: commit}
	}
	return base, nil
}

// reverse gives the changes of the work tree that lead back to base, with the base's
// files, as git checks them out, in the staging folder.
func (k *committer) reverse(ctx context.Context, real *realTree, base string, changes []treeChange) ([]judge.Change, error) {
	env := []string{"GIT_INDEX_FILE=" + k.index}
	if _, err := k.write(ctx, env, nil, "read-tree", base); err != nil {
		return nil, err
	}
	var wanted []string
	for _, c := range changes {
		if c.newMode != 0 {
			wanted = append(wanted, c.path)
		}
	}
	if err := os.MkdirAll(k.stage, 0o700); err != nil {
		return nil, err
	}
	if len(wanted) > 0 {
		if _, err := k.write(ctx, env, nulList(wanted), "checkout-index", "-f", "-z", "--stdin", "--prefix="+k.stage+"/"); err != nil {
			return nil, err
		}
	}
	filtered, err := k.env.Git.Filters(ctx, k.stage, k.staged(), wanted)
	if err == nil && len(filtered) > 0 {
		err = k.env.filtering().smudge(ctx, k.env.Git, base, filtered, k.stage)
	}
	if err != nil {
		return nil, err
	}
	out := make([]judge.Change, 0, len(changes))
	for _, c := range changes {
		ch, err := k.asStaged(real, c)
		if err != nil {
			return nil, err
		}
		out = append(out, ch)
	}
	return out, nil
}

// asStaged turns one line of the diff into a change of the work tree.
func (k *committer) asStaged(real *realTree, c treeChange) (judge.Change, error) {
	ch := judge.Change{Path: c.path, Kind: judge.Modified, Nlink: 1}
	var err error
	if ch.Base, err = real.stampAt(c.path); err != nil {
		return ch, err
	}
	ch.OldMode = ch.Base.Mode
	if !ch.Base.Exists {
		ch.Kind = judge.Added
	}
	if c.newMode == 0 {
		ch.Kind = judge.Deleted
		return ch, nil
	}
	name := filepath.Join(k.stage, c.path)
	fi, err := os.Lstat(name)
	if err != nil {
		return ch, err
	}
	ch.Size, ch.NewMode = fi.Size(), fi.Mode()
	if fi.Mode()&fs.ModeSymlink != 0 {
		ch.Link, err = os.Readlink(name)
		return ch, err
	}
	// A file that stays keeps its permissions, but for the one that git stores.
	if ch.Base.Exists && ch.Base.Mode.IsRegular() {
		ch.NewMode = ch.Base.Mode.Perm() &^ 0o111
		if c.newMode == 0o100755 {
			ch.NewMode |= (ch.NewMode & 0o444) >> 2
		}
	}
	return ch, nil
}

// Kept gives the commit that a ref under refs/relay holds, "" when there is none.
func Kept(ctx context.Context, git *git.Repo, runID string) string {
	out, err := git.Run(ctx, nil, "rev-parse", "--verify", "-q", refName(runID)+"^{commit}")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// Branch makes a branch of what was kept of a run.
func Branch(ctx context.Context, git *git.Repo, runID, branch string) error {
	if _, err := git.Run(ctx, nil, "check-ref-format", "--branch", branch); err != nil {
		return &fault.Error{Kind: fault.BranchName, Path: branch, Err: err}
	}
	null := strings.Repeat("0", hexLen(git.ObjectFormat))
	if _, err := git.Write(ctx, nil, nil, "update-ref", "refs/heads/"+branch, refName(runID), null); err != nil {
		return &fault.Error{Kind: fault.BranchNotMade, Path: branch, Err: err}
	}
	return nil
}
