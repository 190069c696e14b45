package change

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/paxiom/relay/host/change/fault"
	"github.com/paxiom/relay/host/internal/journal"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/git"
)

// lander takes a list of changes into the work tree and onto the branch.
type lander struct {
	env          Env
	log          *journal.Log
	real         *realTree
	base, branch string
	notes        []string
	// kept: the box showed the base as relay keeps it, and index is that one's. index "" is
	// the repository's.
	kept  bool
	index string
	// leak, which may be nil, is the rule that the content of a file breaks; see Change.leak.
	leak func(ctx context.Context, path string, r io.Reader) (string, error)
	// clean filters files of the change; see Change.clean.
	clean func(ctx context.Context, paths []string) ([][]byte, error)
}

// run is ready and then write.
func (l *lander) run(ctx context.Context, kept []judge.Change, moves moves, open opener, note any, commit func(*plan) (string, error)) (Landed, error) {
	p, err := l.ready(kept, moves, open, commit)
	if err != nil {
		return Landed{}, err
	}
	return l.write(ctx, p, note)
}

// ready plans and makes the commit object: nothing of the repository but its objects is
// written. commit is nil when none is wanted.
func (l *lander) ready(kept []judge.Change, moves moves, open opener, commit func(*plan) (string, error)) (*plan, error) {
	p, err := l.plan(kept, open)
	if err == nil && commit != nil {
		p.Moves = moves
		p.Commit, err = commit(p)
	}
	return p, err
}

// write journals, applies, moves the branch, mends the index and looks at the result.
func (l *lander) write(ctx context.Context, p *plan, note any) (Landed, error) {
	var err error
	if p.Note, err = json.Marshal(note); err != nil {
		return Landed{}, err
	}
	journal.Reached("apply.planned")
	if err := l.log.SyncImages(); err != nil {
		return Landed{}, err
	}
	// Before HEAD is looked at: the holder of a lock may be about to commit.
	if p.Commit != "" {
		if f, held := fault.As(l.env.unlocked(ctx, l.branch)); held {
			return Landed{}, headMoved(fmt.Sprintf("%q is there; a change that lands beside it would look to git like one taken back", f.Path))
		}
		if err := l.env.notRebasing(l.branch); err != nil {
			return Landed{}, err
		}
	}
	if err := l.stillAtBase(ctx); err != nil {
		return Landed{}, err
	}
	if err := cmp.Or(l.unstaged(ctx, p), l.stillThere(ctx, p.Moves)); err != nil {
		return Landed{}, err
	}
	if err := ctx.Err(); err != nil {
		return Landed{}, err
	}
	ctx = context.WithoutCancel(ctx)
	a := &applier{real: l.real, log: l.log, plan: p}
	a.check = a.byStamp
	if _, err := a.pending(); err != nil { // the plan may have waited for the checks
		return Landed{}, err
	}
	if err := l.log.Append(recApply, p); err != nil {
		return Landed{}, err
	}
	if err := l.finish(ctx, a); err != nil {
		return Landed{}, err
	}
	if p.Commit != "" && l.env.Git.Signs() {
		l.note("the commit is not signed, though commit.gpgSign is on: relay starts no program that could sign it")
	}
	done := Landed{Commit: p.Commit, Base: p.Base, Notes: l.notes}
	for _, e := range p.Entries {
		done.Paths = append(done.Paths, string(e.Path))
	}
	for _, m := range p.Moves {
		done.Paths = append(done.Paths, string(m.Path))
	}
	return done, nil
}

// finish does what a journaled plan says: the first time, or again after a crash.
func (l *lander) finish(ctx context.Context, a *applier) error {
	if err := a.apply(); err != nil {
		return l.revert(a, err)
	}
	if err := l.log.Append(recApplied, nil); err != nil {
		return l.revert(a, err)
	}
	if a.plan.Commit != "" {
		// Files that went along to another branch would be staged there.
		if _, at, err := l.env.Head(ctx); err == nil && at != a.plan.Branch {
			return l.revert(a, headMoved("HEAD left "+branchName(a.plan.Branch)+" while the files were written"))
		}
		if err := l.moveBranch(ctx, a.plan); err != nil {
			return l.revert(a, err)
		}
		journal.Reached("committed")
	}
	l.look(a)
	if a.plan.Commit != "" {
		head, at, err := l.env.Head(ctx)
		if err == nil && at == a.plan.Branch && head == a.plan.Base { // git reset and git stash put back the HEAD that they found when they began
			return l.revert(a, headMoved(fmt.Sprintf("HEAD was put back to %.12s while %.12s landed, as git reset and git stash do", head, a.plan.Commit)))
		}
		if err != nil || head != a.plan.Commit {
			l.note("HEAD moved on from relay's commit %.12s right afterwards", a.plan.Commit)
		}
		if err != nil {
			l.staleIndex(err)
		} else if at == a.plan.Branch {
			l.mendIndex(ctx, a.plan)
		}
	}
	if err := l.log.Append(recLanded, nil); err != nil {
		return broken(err) // it is there, and only the next start can write that down
	}
	return nil
}

// revert takes an apply back that can't be finished, and says why.
func (l *lander) revert(a *applier, cause error) error {
	foreign, err := a.revert()
	if err == nil && len(foreign) > 0 {
		err = fmt.Errorf("%q was changed while relay was writing it", foreign[0])
	}
	if err != nil {
		return broken(errors.Join(cause, err))
	}
	if err := l.log.Append(recReverted, nil); err != nil {
		return broken(errors.Join(cause, err))
	}
	if f, ok := fault.As(cause); ok {
		return f
	}
	return &fault.Error{Kind: fault.Reverted, Err: cause}
}

// plan compares the changes with the work tree once more and takes their images.
func (l *lander) plan(kept []judge.Change, open opener) (*plan, error) {
	pl := &planner{real: l.real, log: l.log, open: open, blob: blobHash(l.env.Git.ObjectFormat)}
	p := &plan{Base: l.base, Branch: l.branch}
	nested := map[string]bool{}
	l.real.trade(kept)
	rules := false // a .gitignore is among the changes
	for _, ch := range kept {
		if ch.Raced { // the stamp is of the user's version, which the builder never saw
			return nil, moved(ch.Path, "it was changed while the builder ran")
		}
		if dir := l.real.inNested(ch.Path, nested); dir != "" {
			return nil, &fault.Error{Kind: fault.Nested, Path: ch.Path, In: dir}
		}
		rules = rules || path.Base(ch.Path) == ".gitignore"
	}
	var err error
	if p.Entries, err = pl.entries(kept); err != nil {
		return nil, err
	}
	if rules { // what was ignored may not be any more
		for i := range p.Entries {
			p.Entries[i].Ignored = false
		}
	}
	p.Dirs, err = pl.dirs(p.Entries)
	return p, err
}

// build makes the commit object of the entries and proves that it holds them and
// nothing else.
func (l *lander) build(ctx context.Context, k *committer, p *plan, m Message) (string, error) {
	entries := p.Entries
	k.from = l.index
	if err := k.copyIndex(); err != nil {
		return "", err
	}
	paths := forIndex(entries)
	if err := os.MkdirAll(k.stage, 0o700); err != nil {
		return "", err
	}
	var files []string // that a filter could stand for
	at := map[string]*entry{}
	for i, e := range entries {
		if e.New.Exists && !e.Ignored {
			if err := k.put(e, l.log.ImageReader(e.New.Image, e.New.Size)); err != nil {
				return "", err
			}
			if !e.New.link() {
				files, at[string(e.Path)] = append(files, string(e.Path)), &entries[i]
			}
		}
	}
	if len(paths)+len(p.Moves) == 0 {
		return "", nil
	}
	journal.Reached("commit.staged")
	filtered, err := l.env.Git.Filters(ctx, k.stage, k.staged(), files)
	if err != nil {
		return "", err
	}
	if len(filtered) > 0 {
		paths = slices.DeleteFunc(paths, func(p string) bool { return slices.Contains(filtered, p) })
	}
	if err := k.add(ctx, paths); err != nil {
		return "", err
	}
	if len(filtered) > 0 {
		if err := l.addFiltered(ctx, k, at, filtered); err != nil {
			return "", err
		}
	}
	if len(p.Moves) > 0 {
		if _, err := k.write(ctx, k.staged(), strings.NewReader(indexLines(p.Moves)), "update-index", "-z", "--index-info"); err != nil {
			return "", err
		}
	}
	tree, err := k.writeTree(ctx)
	if err != nil {
		return "", err
	}
	changes, err := diffTree(ctx, l.env.Git, l.base, tree)
	if err != nil {
		return "", err
	}
	if err := l.compare(ctx, p, changes); err != nil {
		return "", err
	}
	if len(changes) == 0 {
		return "", nil // git sees no difference, for example a mode that it does not keep
	}
	return commitTree(ctx, l.env, tree, l.base, m)
}

// stillAtBase reports whether HEAD is what it was when the box was made.
func (l *lander) stillAtBase(ctx context.Context) error {
	head, branch, err := l.env.Head(ctx)
	switch {
	case err != nil:
		return err
	case branch != l.branch:
		return headMoved(fmt.Sprintf("HEAD is on %s and was on %s", branchName(branch), branchName(l.branch)))
	case head != l.base:
		return headMoved(fmt.Sprintf("HEAD is %.12s and was %.12s", head, l.base))
	}
	return nil
}

func branchName(b string) string {
	if b == "" {
		return "no branch"
	}
	return fmt.Sprintf("branch %q", b)
}

// moveBranch puts the commit on the branch, if that still is at the base. After a crash
// the git of the run that was cut off may still be at it: then the branch is locked, or
// has the commit already.
func (l *lander) moveBranch(ctx context.Context, p *plan) error {
	args := []string{"update-ref", "-m", "relay: landed a judged change"}
	if p.Branch == "" {
		args = append(args, "--no-deref", "HEAD")
	} else {
		args = append(args, "refs/heads/"+p.Branch)
	}
	for wait := 20 * time.Millisecond; ; wait *= 2 {
		_, err := l.env.write(ctx, nil, nil, append(args, p.Commit, p.Base)...)
		if err == nil {
			return nil
		}
		if head, branch, at := l.env.Git.Head(ctx); at == nil && head == p.Commit && branch == p.Branch {
			return nil
		}
		if !locked(err) || wait > lockPatience {
			if still := l.stillAtBase(ctx); still != nil {
				return still
			}
			return &fault.Error{Kind: fault.Ref, Path: p.Branch, Err: err}
		}
		time.Sleep(wait)
	}
}

// lockPatience is how long another git may hold the index or a ref.
const lockPatience = 3 * time.Second

// locked says that git found a lock of another git.
func locked(err error) bool {
	var fail *git.Error
	return errors.As(err, &fail) && strings.Contains(fail.Stderr, ".lock")
}

// lander is what lands the change in the real tree.
func (c *Change) lander(real *realTree) *lander {
	l := &lander{env: c.env, log: c.log, real: real, base: c.opts.Base, branch: c.opts.Branch, clean: c.clean, leak: c.leakStored}
	if c.base != nil {
		l.kept, l.index = true, c.base.Index
	}
	return l
}
