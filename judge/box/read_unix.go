//go:build linux || darwin

package box

import (
	"context"
	"math"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/box/internal/tree"
	"github.com/paxiom/relay/judge/git"
)

const (
	// A longer path can't be opened by name, a deeper one would use up descriptors.
	maxPath = 4000
	maxNote = 1 << 20 // of a note on a layer
	// MaxDepth is how deep folders may be nested.
	MaxDepth = 256
	maxNames = 4 * judge.MaxChanges
)

// Touched reads what was changed, from the layer alone, without following any link
// that was left there. No process may be running in the box. git is asked about
// ignored paths and the branch, on the real repository; nil leaves both unknown.
func (b *Box) Touched(ctx context.Context, git *git.Repo) (judge.Touched, error) {
	var t judge.Touched
	_, elsewhere, err := b.undone()
	if b.layer == "" || err != nil {
		return t, err
	}
	lock, err := b.lock()
	if err != nil {
		return t, err
	}
	defer unlock(lock)
	for i := range b.lowers() {
		if err := b.readLayer(ctx, i, git, &t); err != nil {
			return t, err
		}
	}
	t.Elsewhere = elsewhere
	slices.SortFunc(t.Changes, func(a, b judge.Change) int { return strings.Compare(a.Path, b.Path) })
	return t, nil
}

// readLayer adds the changes of the i-th folder of the layer.
func (b *Box) readLayer(ctx context.Context, i int, git *git.Repo, t *judge.Touched) error {
	lower := b.below(i)
	r := &reader{ctx: ctx, opened: b.opened, up: -1, low: -1}
	if k := b.spec.Kept; k != nil && i <= len(k.GitDirs) {
		r.opened = math.MaxInt64 // nobody else writes there
	}
	if b.copies() {
		r.copy = b.weak.Compare(i)
	}
	defer r.close()
	var err error
	gone := b.gone(i) // then all in the layer is new
	if r.low, err = tree.OpenFolder(unix.AT_FDCWD, lower); err != nil && !gone {
		return &Error{Op: "read", Path: lower, Err: err}
	}
	// The mode is looked at before anything is made readable.
	var up, low unix.Stat_t
	if err = unix.Lstat(b.upper(i), &up); err == nil && gone {
		low = up
	} else if err == nil {
		err = unix.Fstat(r.low, &low)
	}
	if err == nil && up.Mode&0o700 != 0o700 {
		err = unix.Chmod(b.upper(i), 0o700)
		defer unix.Chmod(b.upper(i), uint32(up.Mode)&0o7777)
	}
	if err == nil {
		r.up, err = tree.OpenFolder(unix.AT_FDCWD, b.upper(i))
	}
	if err == nil {
		err = r.folder(r.up, r.low, "", r.copy != nil || opaque(r.up), 0)
	}
	if err != nil {
		return &Error{Op: "read the layer of", Path: lower, Err: err}
	}
	slices.SortFunc(r.found, func(a, b judge.Change) int { return strings.Compare(a.Path, b.Path) })
	t.Overflow = t.Overflow || r.full
	moved := up.Mode&0o7777 != low.Mode&0o7777
	mode := judge.Change{Path: ".", Kind: judge.ModeOnly, OldMode: tree.FileMode(uint32(low.Mode)), NewMode: tree.FileMode(uint32(up.Mode)), Base: stamp(&low)}
	if i > len(b.spec.GitDirs) { // shown in one of the others
		at, rel := b.holder(i)
		for n := range r.found {
			r.found[n].Path = rel + "/" + r.found[n].Path
		}
		if mode.Path = rel; moved {
			r.found = append(r.found, mode)
		}
		if i, r.prefix = at, rel+"/"; at == 0 {
			return r.settle(ctx, git, t)
		}
		moved = false
	}
	if i > 0 {
		t.Git = append(t.Git, r.found...)
		if moved {
			t.Git = append(t.Git, mode)
		}
		return nil
	}
	t.RootMode = moved
	return r.settle(ctx, git, t)
}

// settle tells what lies in the root's .git from what does not, and finishes the latter.
func (r *reader) settle(ctx context.Context, git *git.Repo, t *judge.Touched) error {
	own := r.found[:0] // in its place: there may be tens of thousands
	for _, c := range r.found {
		if rest, ok := inGit(c.Path); ok {
			c.Path = rest
			t.Git = append(t.Git, c)
		} else {
			own = append(own, c)
		}
	}
	if err := markIgnored(ctx, git, own); err != nil {
		return err
	}
	if !t.Overflow {
		large, err := largeOf(ctx, git, own)
		if err != nil {
			return err
		}
		r.countLines(own, large)
	}
	if t.Changes == nil {
		t.Changes = own
	} else {
		t.Changes = append(t.Changes, own...)
	}
	return ctx.Err()
}

// reader walks an upper and the folder below it side by side, by descriptors.
type reader struct {
	ctx     context.Context
	up, low int
	opened  int64
	found   []judge.Change
	full    bool
	locked  []lockedPath
	prefix  string // what its paths have before those of the layer
	// copy compares a copy; nil for an overlay, which holds nothing but changes.
	copy Compare
}

// lockedPath is something that was made readable and gets its mode back.
type lockedPath struct {
	path string
	mode uint32
}

func (r *reader) close() {
	for _, l := range slices.Backward(r.locked) { // the deepest first
		unix.Fchmodat(r.up, l.path, l.mode, 0)
	}
	for _, fd := range []int{r.up, r.low} {
		if fd >= 0 {
			unix.Close(fd)
		}
	}
}

// manyChanges is how many there are when room is made for all that are listed at most, at
// once: to move them to a larger place again and again would take twice the memory.
const manyChanges = 4096

func (r *reader) add(c judge.Change) {
	if len(r.found) >= judge.MaxChanges {
		r.full = true
		return
	}
	c.Raced = c.Base.Exists && r.raced(&c)
	if len(r.found) == cap(r.found) && len(r.found) >= manyChanges {
		r.found = slices.Grow(r.found, judge.MaxChanges-len(r.found))
	}
	r.found = append(r.found, c)
}

// raced reports whether the real file was changed after the box was opened.
func (r *reader) raced(c *judge.Change) bool {
	if r.copy == nil {
		return c.Base.CTime > r.opened
	}
	return r.copy.Raced(c.Path, c.Base)
}

// folder compares one folder. low is -1 when there is none below. covers says that
// the upper hides what is below, which is then deleted where it is not rewritten.
func (r *reader) folder(up, low int, rel string, covers bool, depth int) error {
	names, err := r.list(up)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := r.ctx.Err(); err != nil || r.full {
			return err
		}
		at := place{up: up, low: low, name: name, path: rel + name, depth: depth}
		if err := r.entry(&at, covers); err != nil {
			return err
		}
	}
	if !covers || low < 0 {
		return nil
	}
	seen := names
	if names, err = r.list(low); err != nil {
		return err
	}
	for _, name := range names {
		at := place{low: low, name: name, path: rel + name, depth: depth}
		if r.copy != nil && !r.copy.Had(at.path) {
			continue // it was never in the copy
		}
		if _, here := slices.BinarySearch(seen, name); !here && at.lookBelow() {
			r.deleted(&at)
		}
	}
	return nil
}

// place is one name in a folder of the layer and in the folder below it.
type place struct {
	up, low    int
	name, path string
	depth      int
	upSt, st   unix.Stat_t // st is what is below
}

func (p *place) lookBelow() bool {
	return p.low >= 0 && unix.Fstatat(p.low, p.name, &p.st, unix.AT_SYMLINK_NOFOLLOW) == nil
}

// entry judges what lies at one name of the upper.
func (r *reader) entry(p *place, covers bool) error {
	if err := unix.Fstatat(p.up, p.name, &p.upSt, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return err
	}
	if r.copy != nil && r.copy.Untouched(p.path, &p.upSt) {
		return nil
	}
	c := judge.Change{Path: p.path, Kind: judge.Added, NewMode: tree.FileMode(uint32(p.upSt.Mode)), Nlink: uint32(min(uint64(p.upSt.Nlink), math.MaxUint32)), Size: p.upSt.Size}
	exists := p.lookBelow()
	if exists {
		c.Base, c.Kind = stamp(&p.st), judge.Modified
		if !tree.Is(&p.st, unix.S_IFDIR) {
			c.OldMode = tree.FileMode(uint32(p.st.Mode))
		} else if !tree.Is(&p.upSt, unix.S_IFDIR) {
			c.Kind = judge.Added // no file was there before
			r.deleted(p)
		}
	}
	if len(p.path) > maxPath {
		return r.special(c, "a path that is too long to be named")
	}
	switch p.upSt.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
		return r.enter(p, c, exists, covers)
	case unix.S_IFREG:
		return r.file(p, c)
	case unix.S_IFLNK:
		var err error
		if c.Link, err = tree.ReadLink(p.up, p.name); err != nil {
			return r.special(c, "a link that can't be read")
		}
		if tree.Is(&p.st, unix.S_IFLNK) && exists {
			if old, err := tree.ReadLink(p.low, p.name); err == nil && old == c.Link {
				return nil
			}
		}
		r.add(c)
		return nil
	case unix.S_IFCHR:
		if p.upSt.Rdev == 0 && r.copy == nil { // a whiteout: the kernel's mark for "deleted"
			if exists && !tree.Is(&p.st, unix.S_IFDIR) {
				r.deleted(p)
			}
			return nil // a folder was listed above
		}
		return r.special(c, "a device")
	case unix.S_IFIFO:
		return r.special(c, "a named pipe")
	case unix.S_IFSOCK:
		return r.special(c, "a socket")
	}
	return r.special(c, "a device")
}

func (r *reader) special(c judge.Change, note string) error {
	c.Kind, c.Note = judge.Special, note
	r.add(c)
	return nil
}

// enter goes into a folder of the upper.
func (r *reader) enter(p *place, c judge.Change, exists, covers bool) error {
	below := exists && tree.Is(&p.st, unix.S_IFDIR)
	if exists && !below {
		r.deleted(p) // a file had to go for it
	} else if c.OldMode = tree.FileMode(uint32(p.st.Mode)); below && c.OldMode != c.NewMode {
		c.Kind = judge.ModeOnly
		r.add(c)
	}
	if p.depth >= MaxDepth {
		return r.special(c, "a folder that is nested too deeply")
	}
	r.unlock(p, 0o700)
	up, err := tree.OpenFolder(p.up, p.name)
	if err != nil {
		return err
	}
	defer unix.Close(up)
	low := -1
	if below {
		if low, err = tree.OpenFolder(p.low, p.name); err != nil {
			return r.special(c, "a folder whose base can't be read")
		}
		defer unix.Close(low)
	}
	return r.folder(up, low, p.path+"/", covers || opaque(up), p.depth+1)
}

// file compares a regular file with what is below it.
func (r *reader) file(p *place, c judge.Change) error {
	r.unlock(p, 0o400)
	now, capable := r.look(p)
	if capable && !(c.Base.Exists && hasCapability(p.low, p.name)) {
		return r.special(c, "a file with capabilities")
	}
	if tree.Is(&p.st, unix.S_IFREG) && c.Base.Size == c.Size && tree.Same(p.up, p.low, p.name, c.Size, now) {
		if c.OldMode == c.NewMode && c.Nlink <= 1 {
			return nil
		}
		c.Kind = judge.ModeOnly
	}
	r.add(c)
	return nil
}

// unlock makes something of the upper readable for the time of the reading.
func (r *reader) unlock(p *place, need uint32) {
	if uint32(p.upSt.Mode)&need != need {
		r.locked = append(r.locked, lockedPath{p.path, uint32(p.upSt.Mode) & 0o7777})
		unix.Fchmodat(p.up, p.name, uint32(p.upSt.Mode)&0o7777|need, 0)
	}
}

// deleted adds what was below a place, every file of a folder by itself.
func (r *reader) deleted(p *place) {
	c := judge.Change{Path: p.path, Kind: judge.Deleted, OldMode: tree.FileMode(uint32(p.st.Mode)), Base: stamp(&p.st)}
	if !tree.Is(&p.st, unix.S_IFDIR) {
		r.add(c)
		return
	}
	var names []string
	dir, err := tree.OpenFolder(p.low, p.name)
	if err == nil {
		defer unix.Close(dir)
		names, err = r.list(dir)
	}
	if err != nil || p.depth > MaxDepth {
		r.special(c, "a folder was removed that can't be read")
		return
	}
	for _, name := range names {
		in := place{low: dir, name: name, path: p.path + "/" + name, depth: p.depth + 1}
		if r.copy != nil && !r.copy.Had(in.path) {
			continue
		}
		if in.lookBelow() && !r.full && r.ctx.Err() == nil {
			r.deleted(&in)
		}
	}
}
