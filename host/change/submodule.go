package change

import (
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/git"
)

// A submodule moves to another commit where the scope names it exactly. Of what the builder's
// git says, one thing is believed: the name in the submodule's detached HEAD, and that only
// where the operator's own submodule has the commit and the layer holds exactly its files.
// Checks then see those files; what lands is one line of the tree, and the operator's checkout
// of the submodule is left to him, as after a git pull.

// move is a submodule that a change takes to another commit.
type move struct {
	Path  rawPath        `json:"path"`
	From  string         `json:"from"`
	To    string         `json:"to"`
	files []judge.Change // what the move makes of the files in it
}

// asChange is the move as the judge reads it: git calls it a line of the tree.
func (m *move) asChange() judge.Change {
	return judge.Change{Path: string(m.Path), Kind: judge.Modified, OldMode: fs.ModeDir | 0o755, NewMode: fs.ModeDir | 0o755, Nlink: 1,
		Lines: judge.LineCount{Added: 1, Deleted: 1, Charge: 2}}
}

// gitlinks are the submodules of a commit, by path.
func gitlinks(ctx context.Context, git *git.Repo, commit string) (map[string]string, error) {
	out, err := git.Run(ctx, nil, "ls-tree", "-r", "-z", commit)
	if err != nil {
		return nil, err
	}
	links := map[string]string{}
	for line := range strings.SplitSeq(string(out), "\x00") {
		about, path, _ := strings.Cut(line, "\t")
		if f := strings.Fields(about); len(f) == 3 && f[0] == "160000" {
			links[path] = f[2]
		}
	}
	return links, nil
}

// findMoves takes the moves of submodules out of what the layer holds, and puts one change
// for each in their place. What is no lawful move stays as it is, for the judge.
func (c *Change) findMoves(ctx context.Context, t *judge.Touched, p *judge.Policy) error {
	c.moves = nil
	if !slices.ContainsFunc(t.Git, func(ch judge.Change) bool {
		return strings.Contains("/"+ch.Path, "/modules/") && path.Base(ch.Path) == "HEAD"
	}) {
		return nil
	}
	links, err := gitlinks(ctx, c.env.Git, c.opts.Base)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(links)) {
		if !p.NamesExactly(name) {
			continue
		}
		sub, err := git.Open(ctx, filepath.Join(c.env.Git.Root, name))
		if err != nil || sub.Root == c.env.Git.Root {
			continue // it is not checked out
		}
		sub.Decide = c.env.Git.Decide
		dir, ok := relTo(sub.GitDir, c.env.Git.CommonDir)
		if !ok {
			continue // of the old kind
		}
		m := &move{Path: rawPath(name), From: links[name]}
		if m.To = c.headIn(t, sub, dir); m.To == "" || m.To == m.From {
			continue
		}
		if ok, err := c.wholeMove(ctx, t, sub, m); err != nil {
			return err
		} else if ok {
			c.moves = append(c.moves, m)
			t.Git = slices.DeleteFunc(t.Git, func(ch judge.Change) bool {
				rest, in := strings.CutPrefix(ch.Path, dir+"/")
				return in && (rest == "HEAD" || rest == "ORIG_HEAD" || strings.HasPrefix(rest, "logs/"))
			})
			t.Changes = append(slices.DeleteFunc(t.Changes, m.has), m.asChange())
		}
	}
	slices.SortFunc(t.Changes, func(a, b judge.Change) int { return cmp.Compare(a.Path, b.Path) })
	return nil
}

// relTo gives the path of what lies in a folder, relative to it.
func relTo(path, dir string) (string, bool) {
	rel, err := filepath.Rel(dir, path)
	return rel, err == nil && filepath.IsLocal(rel) && rel != "."
}

// headIn reads the commit that the builder's git says a submodule is at; "" for none, or a
// branch.
func (c *Change) headIn(t *judge.Touched, sub *git.Repo, dir string) string {
	plain := func(ch judge.Change) bool { return ch.Path == dir+"/HEAD" && ch.NewMode.IsRegular() && ch.Size < 100 }
	if !slices.ContainsFunc(t.Git, plain) {
		return ""
	}
	f, err := c.box.OpenAt(filepath.Join(sub.GitDir, "HEAD"))
	if err != nil {
		return ""
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, 100))
	if err != nil {
		return ""
	}
	name, err := objectName(sub, text)
	if err != nil {
		return ""
	}
	return name
}

// wholeMove reports whether the operator's submodule is clean at the commit that the base has,
// has the other one too, and the layer holds the files of that and nothing else.
func (c *Change) wholeMove(ctx context.Context, t *judge.Touched, sub *git.Repo, m *move) (bool, error) {
	if _, err := sub.Run(ctx, nil, "cat-file", "-e", m.To+"^{commit}"); err != nil {
		return false, ctx.Err()
	}
	head, _, err := sub.Head(ctx)
	if err != nil || head != m.From {
		return false, ctx.Err()
	}
	if status, err := sub.Status(ctx); err != nil || len(status) > 0 {
		return false, err
	}
	changes, err := diffTree(ctx, sub, m.From, m.To)
	if err != nil {
		return false, err
	}
	want := map[string]treeChange{}
	for _, d := range changes {
		want[d.path] = d
	}
	for _, ch := range t.Changes {
		rest, in := strings.CutPrefix(ch.Path, string(m.Path)+"/")
		d, known := want[rest]
		if !in || !known {
			continue // the judge sees it
		}
		if same, err := c.holds(ch, d, sub); err != nil || !same {
			return false, err
		}
		delete(want, rest)
		m.files = append(m.files, ch)
	}
	return len(want) == 0, nil
}

// holds reports whether a change of the layer makes of a file what a commit has.
func (c *Change) holds(ch judge.Change, d treeChange, sub *git.Repo) (bool, error) {
	hash := blobHash(sub.ObjectFormat)
	switch {
	case ch.Raced, ch.Kind == judge.Special:
		return false, nil
	case d.newMode == 0:
		return ch.Kind == judge.Deleted, nil
	case d.newMode == modeLink:
		h := hash(int64(len(ch.Link)))
		io.WriteString(h, ch.Link)
		return ch.NewMode&fs.ModeSymlink != 0 && hex.EncodeToString(h.Sum(nil)) == d.newOID, nil
	case d.newMode == modeSubmodule, !ch.NewMode.IsRegular(), ch.Nlink > 1, (ch.NewMode&0o100 != 0) != (d.newMode == 0o100755):
		return false, nil
	}
	f, err := c.box.Open(ch.Path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	h := hash(ch.Size)
	_, err = io.Copy(h, f)
	return err == nil && hex.EncodeToString(h.Sum(nil)) == d.newOID, err
}

// has reports whether a change is one of the move's files.
func (m *move) has(ch judge.Change) bool {
	return slices.ContainsFunc(m.files, func(f judge.Change) bool { return f.Path == ch.Path })
}

// moves are those of one change.
type moves []*move

// at is the move of the submodule at a path; nil for none.
func (ms moves) at(name string) *move {
	for _, m := range ms {
		if string(m.Path) == name {
			return m
		}
	}
	return nil
}

// to reports whether a submodule moves to this commit.
func (ms moves) to(name, commit string) bool {
	m := ms.at(name)
	return m != nil && m.To == commit
}

// unfold puts the files of the moves in the place of the changes that the judge read.
func (c *Change) unfold(kept []judge.Change) []judge.Change {
	for _, m := range c.moves {
		kept = slices.DeleteFunc(kept, func(ch judge.Change) bool { return ch.Path == string(m.Path) })
		kept = append(kept, m.files...)
	}
	return kept
}

// ownKept are those of the kept changes that are of this repository, without the moves.
func (c *Change) ownKept() []judge.Change {
	return slices.DeleteFunc(slices.Clone(c.verdict.Kept), func(ch judge.Change) bool {
		return slices.ContainsFunc(c.moves, func(m *move) bool { return m.has(ch) })
	})
}

// folded is a verdict as it is told: each move is one change.
func (c *Change) folded(v judge.Verdict) judge.Verdict {
	if len(c.moves) > 0 {
		v.Kept = c.ownKept()
		for _, m := range c.moves {
			v.Kept = append(v.Kept, m.asChange())
		}
	}
	return v
}

// indexLines are the moves as git update-index --index-info reads them.
func indexLines(moves moves) string {
	var lines strings.Builder
	for _, m := range moves {
		fmt.Fprintf(&lines, "160000 %s\t%s\x00", m.To, m.Path)
	}
	return lines.String()
}

// stillThere refuses a move where git's index has another commit of the submodule than the
// base: that is the operator's.
func (l *lander) stillThere(ctx context.Context, moves moves) error {
	if len(moves) == 0 {
		return nil
	}
	var paths []string
	for _, m := range moves {
		paths = append(paths, string(m.Path))
	}
	have, err := l.env.Git.Indexed(ctx, paths)
	if err != nil {
		return err
	}
	for _, m := range moves {
		if have[string(m.Path)].OID != m.From {
			return moved(string(m.Path), fmt.Sprintf("another commit of it is staged than %.12s has", l.base))
		}
		l.note("the submodule %q is at %.12s now; `git submodule update` brings your checkout of it there", m.Path, m.To)
	}
	return nil
}

// movesAmong parts the moves of submodules from the other lines of a diff.
func movesAmong(changes []treeChange) (ms moves, rest []treeChange) {
	for _, d := range changes {
		if d.oldMode == modeSubmodule && d.newMode == modeSubmodule {
			ms = append(ms, &move{Path: rawPath(d.path), From: d.oldOID, To: d.newOID})
		} else {
			rest = append(rest, d)
		}
	}
	return ms, rest
}
