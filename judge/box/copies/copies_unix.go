//go:build linux || darwin

package copies

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/box"
	"github.com/paxiom/relay/judge/box/internal/tree"
)

// The layer of a box of copies holds, besides what layer says:
//
//	at/PATH       the copy of the folder PATH; what lies beside it is linked, so that
//	              relative paths lead where they should
//	snapshot/PATH    another one that nothing works in, where writing is not prevented
//	tables        what the folders and their copies looked like
//	run/NAME      home and temporary folder of a process that runs
const (
	maxPath   = 4000    // of a file that names a folder
	maxTables = 1 << 30 // bytes

	layerAt       = "at"
	layerSnapshot = "snapshot"
	layerTables   = "tables"
	layerRun      = "run"
)

// means are those that copy the repository.
type means struct{}

func init() { box.Register(means{}) }

// Open gives what a box has of its own; one for checks shares the snapshot of the builder's.
func (means) Open(of box.Layout, from box.Copies) box.Copies {
	b := &copied{Layout: of}
	if builder, ok := from.(*copied); ok && builder.snapshot != nil {
		b.snapshot, b.checks = builder.snapshot, true
	}
	return b
}

// copied is what a box of copies has of its own.
type copied struct {
	box.Layout
	made     []traces  // the copies, when they were made
	snapshot *snapshot // of the real folders
	// checks: it is a box for verification, whose writes are thrown away.
	checks bool
	broken error // what could not be put back
}

// tables is the file of that name.
type tables struct {
	Made     []traces
	Snapshot *snapshot
}

// copies reports whether there are any: a box that can't write the repository has none.
func (b *copied) copies() bool { return !b.ReadOnlyRoot }

// top is where Root is seen in the box.
func (b *copied) top() string {
	if b.copies() {
		return b.Copy(0)
	}
	return b.Root
}

// Undone is what was changed in the real repository and put back.
func (b *copied) Undone() (found, elsewhere []string, err error) {
	if b.snapshot == nil {
		return nil, nil, b.broken
	}
	return b.snapshot.Found, b.snapshot.Elsewhere, b.broken
}

// Copy is where the copy of the i-th folder lies.
func (b *copied) Copy(i int) string { return b.copyOf(b.Lowers[i]) }

// Compare tells what is new in it.
func (b *copied) Compare(i int) box.Compare { return compare{b.made[i], b.snapshot.Base[i]} }

// compare has what the copy looked like when it was made, and what the real folder did.
type compare struct{ made, base traces }

// Had reports whether a path was copied.
func (c compare) Had(path string) bool {
	_, ok := c.made[path]
	return ok
}

// Untouched reports whether what lies in a copy is what was put there when it was made.
func (c compare) Untouched(path string, now *unix.Stat_t) bool {
	made, ok := c.made[path]
	if !ok || !made.still(traceOf(now)) {
		return false
	}
	return !made.isDir() || made.Shut
}

// Raced reports whether the real file is another one than was copied.
func (c compare) Raced(path string, now judge.Stamp) bool {
	was := c.base[path]
	return !was.isDir() && (was.Ino != now.Ino || was.CTime != now.CTime || was.Size != now.Size)
}

// copyOf is where the copy of a folder lies.
func (b *copied) copyOf(folder string) string { return filepath.Join(b.Layout.Dir, layerAt, folder) }

// Make copies the real folders.
func (b *copied) Make() error {
	ctx, of := context.Background(), b.Lowers // the snapshot has them at the same places
	own := b.snapshot == nil
	if own {
		b.snapshot = &snapshot{Of: of, Busy: slices.Concat(b.Busy, b.States, []string{b.StateDir}), Watch: b.Watch,
			Aside: filepath.Join(b.StateDir, "put-back", filepath.Base(b.Layer))}
	}
	v := b.snapshot
	for i, from := range of {
		c, err := copyTree(ctx, from, b.copyOf(from), func(rel string) bool { return b.unseen(i, rel) })
		if err != nil {
			return copyError(from, err)
		}
		b.made = append(b.made, c.made)
		if own {
			v.Base, v.Real = append(v.Base, maps.Clone(c.real)), append(v.Real, c.real)
		}
	}
	if own && b.Means == box.Copy {
		v.Dir = filepath.Join(b.Layout.Dir, layerSnapshot)
		for i, from := range of {
			c, err := copyTree(ctx, from, v.place(i), func(rel string) bool { return v.skips(i, rel) })
			if err != nil {
				return copyError(from, err)
			}
			v.Kept = append(v.Kept, c.made)
		}
	}
	if own && b.Main != "" {
		if err := v.add(ctx, b.Main); err != nil {
			return copyError(b.Main, err)
		}
	}
	b.linkBeside()
	b.rewriteLinks()
	settleClock()
	return b.saveTables()
}

func copyError(from string, err error) error {
	e := &box.Error{Op: "copy", Path: from, Err: err}
	if errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) {
		e.Why, e.Fix = "the disk of relay's state is full, and this machine's box needs a copy of the repository", "`df -h` shows the disks; XDG_STATE_HOME names another folder"
	}
	return e
}

// unseen reports whether a path of the i-th folder is left out of the copy.
func (b *copied) unseen(i int, rel string) bool {
	of := b.Lowers
	full := filepath.Join(of[i], rel)
	return slices.Contains(b.States, full) || tree.Within(full, b.StateDir) || tree.Within(full, b.Layout.Dir) ||
		slices.ContainsFunc(of, func(dir string) bool { return dir != of[i] && dir == full })
}

// linkBeside makes links to what lies beside the copied folders and those above them.
func (b *copied) linkBeside() {
	const most = 1000 // a folder with more is no project's
	for _, of := range b.Lowers {
		for dir := filepath.Dir(of); ; dir = filepath.Dir(dir) {
			entries, err := os.ReadDir(dir)
			if err == nil && len(entries) <= most {
				for _, e := range entries {
					full := filepath.Join(dir, e.Name())
					if !tree.Within(b.Layout.Dir, full) { // or a search from there would never end
						os.Symlink(full, b.copyOf(full)) // fails where a copy is
					}
				}
			}
			if dir == "/" {
				break
			}
		}
	}
}

// rewriteLinks lets the files by which git's folders refer to one another lead from
// copy to copy.
func (b *copied) rewriteLinks() {
	for i, top := range b.Lowers {
		b.rewrite(i, ".git", "gitdir: ")
		for at := range b.made[i] {
			switch ok, _ := filepath.Match("worktrees/*/gitdir", at); {
			case ok, at == "commondir":
				b.rewrite(i, at, "")
			case at == "objects/info/alternates", at == ".git/objects/info/alternates":
				b.absolute(i, at, filepath.Join(top, filepath.Dir(filepath.Dir(at))))
			}
		}
	}
}

// rewrite turns the absolute path of a copied folder, after a prefix, into its copy's.
func (b *copied) rewrite(i int, at, prefix string) {
	if b.made[i][at].kind() != unix.S_IFREG {
		return
	}
	text, _ := judge.ReadFile(filepath.Join(b.Copy(i), at), maxPath)
	path, ok := strings.CutPrefix(strings.TrimSuffix(string(text), "\n"), prefix)
	if !ok || !filepath.IsAbs(path) {
		return
	}
	path = tree.RealPath(path)
	for _, of := range b.Lowers {
		if tree.Within(path, of) {
			b.overwrite(i, at, prefix+b.copyOf(path)+"\n")
			return
		}
	}
}

// absolute makes relative lines absolute: they are relative to a real folder, of which
// there is no copy.
func (b *copied) absolute(i int, at, to string) {
	text, err := judge.ReadFile(filepath.Join(b.Copy(i), at), 1<<20)
	if err != nil {
		return
	}
	lines := strings.Split(string(text), "\n")
	for n, line := range lines {
		if line != "" && line[0] != '#' && !filepath.IsAbs(line) {
			lines[n] = filepath.Join(to, line)
		}
	}
	b.overwrite(i, at, strings.Join(lines, "\n"))
}

func (b *copied) overwrite(i int, at, text string) {
	dir, name, err := openParent(b.Copy(i), at)
	if err != nil {
		return
	}
	defer unix.Close(dir)
	was := b.made[i][at]
	os.WriteFile(filepath.Join(b.Copy(i), at), []byte(text), 0)
	setTimes(dir, name, was.MTime)
	b.made[i][at], _ = lookAt(dir, name)
}

// saveTables writes the tables, for a later process of relay.
func (b *copied) saveTables() error {
	var out bytes.Buffer
	if err := gob.NewEncoder(&out).Encode(tables{b.made, b.snapshot}); err != nil {
		return err
	}
	name := filepath.Join(b.Layout.Dir, layerTables)
	if err := os.WriteFile(name+".new", out.Bytes(), 0o600); err != nil {
		return err
	}
	return os.Rename(name+".new", name)
}

// Load reads what an earlier box wrote.
func (b *copied) Load() error {
	t, err := readTables(b.Layout.Dir)
	if err != nil {
		return &box.Error{Op: "open the layer", Path: b.Layout.Dir, Err: err}
	}
	if b.made = t.Made; b.snapshot == nil {
		b.snapshot = t.Snapshot
	}
	return nil
}

func readTables(layer string) (t tables, err error) {
	text, err := judge.ReadFile(filepath.Join(layer, layerTables), maxTables)
	if err == nil {
		err = gob.NewDecoder(bytes.NewReader(text)).Decode(&t)
	}
	if err == nil && (t.Snapshot == nil || len(t.Made) > len(t.Snapshot.Of)) {
		err = fs.ErrInvalid
	}
	return t, err
}

// begin prepares the real side for a process: what changed there while none was
// running is right.
func (b *copied) begin() error {
	if b.snapshot == nil {
		return nil
	}
	if err := b.snapshot.refresh(context.Background()); err != nil {
		return &box.Error{Op: "look at the repository", Path: b.Root, Err: err}
	}
	b.snapshot.Above = b.parentModes()
	return b.saveTables()
}

// end puts back what a process changed in the real folders. What it changed there
// counts as changed in the copy.
func (b *copied) end() error {
	if b.snapshot == nil {
		return nil
	}
	var into *overlayChanges
	if !b.checks {
		into = &overlayChanges{made: b.made}
		for i := range b.Lowers {
			into.tops = append(into.tops, b.Copy(i))
		}
	}
	found, err := b.snapshot.restore(context.Background(), into)
	if b.snapshot.Found = append(b.snapshot.Found, found...); err != nil {
		b.broken = &box.Error{Op: "put the repository back", Path: b.Root, Err: err,
			Why: "something was changed in it while the builder ran, and could not be put back: " + err.Error(),
			Fix: "`git status` shows what differs; the snapshot is in " + filepath.Join(b.Layout.Dir, layerSnapshot)}
		return b.broken
	}
	return b.saveTables()
}
