package change

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/paxiom/relay/host/change/fault"
	"github.com/paxiom/relay/host/internal/journal"
	"github.com/paxiom/relay/judge/git"
)

// compare proves that a commit changes exactly the entries: no path more, none less,
// each with the judged mode and bytes. What git itself converted is noted.
func (l *lander) compare(ctx context.Context, p *plan, changes []treeChange) error {
	in := map[string]treeChange{}
	for _, c := range changes {
		in[c.path] = c
	}
	var converted, missing []string
	var wrong error
	touched := map[string]bool{}
	for _, m := range p.Moves {
		c := in[string(m.Path)]
		delete(in, string(m.Path))
		if touched[string(m.Path)] = true; c.newMode != modeSubmodule || c.oldOID != m.From || c.newOID != m.To {
			wrong = fmt.Errorf("the commit has the submodule %q at %s; judged was %s", m.Path, c.newOID, m.To)
		}
	}
	for _, e := range p.Entries {
		touched[string(e.Path)] = true
		c, ok := in[string(e.Path)]
		delete(in, string(e.Path))
		switch {
		case e.Ignored && !ok:
		case !ok:
			missing = append(missing, string(e.Path))
		case (c.newMode == 0) == e.New.Exists:
			wrong = fmt.Errorf("the commit has %q with mode %o; judged was %o", e.Path, c.newMode, gitMode(e.New))
		case e.New.Exists && c.newOID != e.New.oid:
			converted = append(converted, string(e.Path))
		case c.newMode != gitMode(e.New):
			l.note("git keeps the mode %o for %q; judged was %o", c.newMode, e.Path, gitMode(e.New))
		}
	}
	for p := range in {
		if err := l.stillAtBase(ctx); err != nil {
			return err // the index is that of another commit
		}
		return &fault.Error{Kind: fault.Staged, Path: p}
	}
	if away, err := LookedAway(ctx, l.env.Git, func(p string) bool { return touched[p] }); err != nil {
		return err
	} else if len(away) > 0 {
		return &fault.Error{Kind: fault.LookedAway, Path: away[0]}
	}
	if wrong != nil {
		return wrong
	}
	if len(missing) > 0 {
		l.note("git sees no difference in %d of the changed files, such as %q", len(missing), missing[0])
	}
	if len(converted) > 0 {
		if err := l.leaks(ctx, converted, changes); err != nil {
			return err
		}
		l.note("git's own filters or line-end conversion changed files on the way into the commit: %d, such as %q", len(converted), converted[0])
	}
	return nil
}

// leaks looks for values of credentials in what git made of files: an encoding of the work
// tree, or a filter, may have kept them from being found there.
func (l *lander) leaks(ctx context.Context, converted []string, changes []treeChange) error {
	if l.leak == nil {
		return nil
	}
	for _, c := range changes {
		if c.newMode == 0 || !slices.Contains(converted, c.path) {
			continue
		}
		blob, err := l.env.Git.Run(ctx, nil, "cat-file", "blob", c.newOID)
		if err != nil {
			return err
		}
		if rule, err := l.leak(ctx, c.path, bytes.NewReader(blob)); rule != "" || err != nil {
			return cmp.Or(err, error(&fault.Error{Kind: fault.Secret, Path: c.path, Why: rule}))
		}
	}
	return nil
}

// LookedAway gives those of the paths that git was told to look away from. Git would not see
// whether the operator has edited one, and it keeps its old entry in the index: his next commit would take a
// change back.
func LookedAway(ctx context.Context, g *git.Repo, of func(path string) bool) (paths []string, err error) {
	out, err := g.Run(ctx, nil, "ls-files", "-v", "-z")
	for line := range bytes.SplitSeq(out, []byte{0}) {
		if len(line) > 2 && line[0] != 'H' && of(string(line[2:])) {
			paths = append(paths, string(line[2:]))
		}
	}
	return paths, err
}

// mendIndex makes the real index agree with the commit, so that git status is clean
// and fast. That the work tree and the branch are right does not depend on it.
func (l *lander) mendIndex(ctx context.Context, p *plan) {
	if p.Commit == "" {
		return
	}
	var still []entry
	for _, e := range p.Entries {
		if now, err := l.real.stampAt(string(e.Path)); err == nil && now.Same(e.after) {
			still = append(still, e)
		}
	}
	paths, lines, err := l.indexed(ctx, p, still)
	lines += indexLines(p.Moves)
	for wait := 20 * time.Millisecond; err == nil && wait < lockPatience; wait *= 2 {
		if err = l.tellIndex(ctx, paths, lines); !locked(err) {
			break
		}
		if wait*2 < lockPatience {
			time.Sleep(wait) // another git, an editor's perhaps, holds the index
			err = nil
		}
	}
	if err != nil {
		l.staleIndex(err)
	}
}

// staleIndex says what the operator has to do about an index that has not heard of the commit.
func (l *lander) staleIndex(err error) {
	l.note("git's index could not be brought up to date, so your next commit would take the change back: `git reset -q` fixes it (%v)", err)
}

// tellIndex may come again after a crash, or for a lock: each half of it does no harm a second time.
func (l *lander) tellIndex(ctx context.Context, paths []string, lines string) error {
	_, err := l.env.write(ctx, nil, nulList(paths), takePaths...)
	journal.Reached("index.paths")
	if err == nil && lines != "" {
		_, err = l.env.write(ctx, nil, strings.NewReader(lines), "update-index", "--add", "--replace", "-z", "--index-info")
	}
	return err
}

// indexed splits what the index is told of into paths that git reads, and lines: for files of
// which a filter's output was committed, and for what is gone. Of that git would read what is
// there now, and a folder in the place of a link is an error once it knows the folder's files.
func (l *lander) indexed(ctx context.Context, p *plan, entries []entry) (plain []string, lines string, err error) {
	var b strings.Builder
	there := map[string]bool{}
	for _, e := range entries {
		there[string(e.Path)] = e.New.Exists
	}
	for _, path := range forIndex(entries) {
		if there[path] {
			plain = append(plain, path)
		} else {
			b.WriteString(removalLine(l.env.Git, path))
		}
	}
	of, err := l.env.Git.Filters(ctx, "", nil, plain)
	if err != nil || len(of) == 0 {
		return plain, b.String(), err
	}
	changes, err := diffTree(ctx, l.env.Git, p.Base, p.Commit)
	if err != nil {
		return nil, "", err
	}
	for _, c := range changes {
		if c.newMode != 0 && slices.Contains(of, c.path) {
			fmt.Fprintf(&b, "%o %s\t%s\x00", c.newMode, c.newOID, c.path)
		}
	}
	return slices.DeleteFunc(plain, func(path string) bool { return slices.Contains(of, path) }), b.String(), nil
}

// look reads what was written back from the disk and compares it with what was
// judged. What is not the same is noted.
func (l *lander) look(a *applier) {
	for i := range a.plan.Entries {
		e := &a.plan.Entries[i]
		now, err := l.real.describe(string(e.Path), nil)
		if err != nil || !e.isNew(now) {
			l.note("%q is no longer what relay wrote: it was changed right afterwards", e.Path)
		}
	}
}

func (l *lander) note(format string, args ...any) {
	l.notes = append(l.notes, fmt.Sprintf(format, args...))
}
