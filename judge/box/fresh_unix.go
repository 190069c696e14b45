//go:build linux || darwin

package box

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/box/internal/tree"
)

// Open opens the new content of a changed regular file, for reading.
func (b *Box) Open(name string) (*os.File, error) { return b.openIn(b.part(name)) }

// OpenAt is Open for a file by its absolute path outside the box: of the root, or of a
// git directory beside it.
func (b *Box) OpenAt(name string) (*os.File, error) {
	if i, rel := b.partOf(filepath.Clean(name)); i >= 0 {
		return b.openIn(i, rel)
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

// openIn opens a file of the i-th folder that the layer is of.
func (b *Box) openIn(i int, name string) (*os.File, error) {
	if b.layer == "" || i < 0 {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	top, err := tree.OpenFolder(unix.AT_FDCWD, b.upper(i))
	if err != nil {
		return nil, err
	}
	defer unix.Close(top)
	f, err := tree.OpenBeneath(top, name)
	if errors.Is(err, fs.ErrPermission) {
		unlockPath(top, name)
		f, err = tree.OpenBeneath(top, name)
	}
	return f, err
}

// unlockPath makes a path below top readable, as far as it consists of folders.
func unlockPath(top int, name string) {
	fd, _ := unix.Dup(top)
	for part := range strings.SplitSeq(name, "/") {
		var st unix.Stat_t
		if unix.Fstatat(fd, part, &st, unix.AT_SYMLINK_NOFOLLOW) != nil || tree.Is(&st, unix.S_IFLNK) {
			break
		}
		unix.Fchmodat(fd, part, uint32(st.Mode)&0o7777|0o500, 0)
		next, err := tree.OpenFolder(fd, part)
		unix.Close(fd)
		if fd = next; err != nil {
			return
		}
	}
	unix.Close(fd)
}

// Fresh prepares a second box, for verification: the real tree plus exactly the
// kept changes, copied into a new layer, and nothing else of this box. What the
// agent can write for real is left out of it. binds are shown in it as Spec.Binds are.
func (b *Box) Fresh(layer string, kept []judge.Change, binds ...Bind) (*Box, error) {
	spec := b.spec
	spec.Layer, spec.Persist, spec.Binds, spec.ReadOnlyRoot = layer, nil, binds, false
	if err := checkBinds(&spec); err != nil {
		return nil, err
	}
	fresh, err := open(spec, b.weak)
	if err != nil {
		return nil, err
	}
	if err := b.copyKept(fresh, kept); err != nil {
		fresh.Discard()
		return nil, &Error{Op: "prepare the verification box", Path: fresh.layer, Err: err}
	}
	return fresh, nil
}

// copyKept puts the kept changes into the layer of a fresh box. Deletions come
// first, since a folder may have made way for a file or the reverse; the modes of
// folders come last, since they may forbid writing.
func (b *Box) copyKept(fresh *Box, kept []judge.Change) error {
	parts := map[int][]judge.Change{}
	for _, c := range kept {
		i, _ := b.part(c.Path)
		if i < 0 {
			return &fs.PathError{Op: "copy", Path: c.Path, Err: fs.ErrInvalid}
		}
		parts[i] = append(parts[i], c)
	}
	for i, of := range parts {
		if err := b.copyPart(fresh, i, of); err != nil {
			return err
		}
	}
	return nil
}

// copyPart puts those into the layer that lie in the i-th of its folders.
func (b *Box) copyPart(fresh *Box, i int, kept []judge.Change) error {
	root, err := os.OpenRoot(fresh.upper(i))
	if err != nil {
		return err
	}
	defer root.Close()
	to := copier{from: b, root: root, part: i}
	for _, wantDeleted := range []bool{true, false} {
		for i := range kept {
			if c := &kept[i]; (c.Kind == judge.Deleted) == wantDeleted && !c.NewMode.IsDir() {
				if err := to.put(c); err != nil {
					return err
				}
			}
		}
	}
	for i := range kept {
		if c := &kept[i]; c.NewMode.IsDir() {
			_, at := b.part(c.Path)
			if err := errors.Join(to.mkdir(at), root.Chmod(at, c.NewMode)); err != nil {
				return err
			}
		}
	}
	return nil
}

type copier struct {
	from *Box
	root *os.Root
	part int
}

// put writes one change that is not about a folder.
func (w *copier) put(c *judge.Change) error {
	_, at := w.from.part(c.Path)
	if err := w.mkdir(path.Dir(at)); err != nil {
		return err
	}
	if err := w.root.RemoveAll(at); err != nil { // the mark of a deletion, or of what was below one
		return err
	}
	switch {
	case c.Kind == judge.Deleted && w.from.copies():
		return nil
	case c.Kind == judge.Deleted:
		dir, err := w.root.Open(path.Dir(at))
		if err != nil {
			return err
		}
		defer dir.Close()
		return markDeleted(int(dir.Fd()), path.Base(at))
	case c.NewMode&fs.ModeSymlink != 0:
		return w.root.Symlink(c.Link, at)
	case !c.NewMode.IsRegular():
		return errors.New(c.Path + " is neither a file nor a link")
	}
	in, err := w.from.Open(c.Path)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := w.root.OpenFile(at, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer out.Close()
	if tree.Clone(out, in) != nil { // shared blocks where the file system can
		if _, err := io.Copy(out, in); err != nil {
			return err
		}
	}
	return out.Chmod(c.NewMode)
}

// mkdir makes a folder of the upper and those above it, with the modes they have
// in the real tree or, when they are new, in the layer that the changes are from; its
// owner may write in it in any case, in a copy too, where it is there already.
func (w *copier) mkdir(dir string) error {
	if dir == "." {
		return nil
	}
	if info, err := w.root.Lstat(dir); err == nil && info.IsDir() {
		if info.Mode()&0o700 == 0o700 {
			return nil
		}
		return w.root.Chmod(dir, info.Mode()&^fs.ModeType|0o700)
	}
	if err := w.mkdir(path.Dir(dir)); err != nil {
		return err
	}
	if err := w.root.RemoveAll(dir); err != nil { // a deletion's mark: a file made way
		return err
	}
	if err := w.root.Mkdir(dir, 0o700); err != nil {
		return err
	}
	for _, like := range []string{w.from.below(w.part), w.from.upper(w.part)} {
		if info, err := os.Lstat(filepath.Join(like, dir)); err == nil && info.IsDir() {
			return w.root.Chmod(dir, info.Mode()&^fs.ModeType|0o700)
		}
	}
	return w.root.Chmod(dir, 0o755)
}
