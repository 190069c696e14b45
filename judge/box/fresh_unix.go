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
)

// Open opens the new content of a changed regular file, for reading.
func (b *Box) Open(name string) (*os.File, error) { return b.openIn(0, name) }

// OpenAt is Open for a file by its absolute path outside the box: of the root, or of a
// git directory beside it.
func (b *Box) OpenAt(name string) (*os.File, error) {
	for i, lower := range b.lowers() {
		if rel, err := filepath.Rel(lower, name); err == nil && filepath.IsLocal(rel) {
			return b.openIn(i, filepath.ToSlash(rel))
		}
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

// openIn opens a file of the i-th folder that the layer is of.
func (b *Box) openIn(i int, name string) (*os.File, error) {
	if b.layer == "" {
		return nil, fs.ErrNotExist
	}
	top, err := openFolder(unix.AT_FDCWD, b.upper(i))
	if err != nil {
		return nil, err
	}
	defer unix.Close(top)
	f, err := openBeneath(top, name)
	if errors.Is(err, fs.ErrPermission) {
		unlockPath(top, name)
		f, err = openBeneath(top, name)
	}
	return f, err
}

// unlockPath makes a path below top readable, as far as it consists of folders.
func unlockPath(top int, name string) {
	fd, _ := unix.Dup(top)
	for part := range strings.SplitSeq(name, "/") {
		var st unix.Stat_t
		if unix.Fstatat(fd, part, &st, unix.AT_SYMLINK_NOFOLLOW) != nil || is(&st, unix.S_IFLNK) {
			break
		}
		unix.Fchmodat(fd, part, uint32(st.Mode)&0o7777|0o500, 0)
		next, err := openFolder(fd, part)
		unix.Close(fd)
		if fd = next; err != nil {
			return
		}
	}
	unix.Close(fd)
}

// Fresh prepares a second box, for verification: the real tree plus exactly the
// kept changes, copied into a new layer, and nothing else of this box. What the
// agent can write for real is left out of it.
func (b *Box) Fresh(layer string, kept []judge.Change) (*Box, error) {
	spec := b.spec
	spec.Layer, spec.Persist, spec.Binds, spec.ReadOnlyRoot = layer, nil, nil, false
	fresh, err := open(spec, b.vault)
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
	root, err := os.OpenRoot(fresh.upper(0))
	if err != nil {
		return err
	}
	defer root.Close()
	to := copier{from: b, root: root}
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
			if err := errors.Join(to.mkdir(c.Path), root.Chmod(c.Path, c.NewMode)); err != nil {
				return err
			}
		}
	}
	return nil
}

type copier struct {
	from *Box
	root *os.Root
}

// put writes one change that is not about a folder.
func (w *copier) put(c *judge.Change) error {
	if err := w.mkdir(path.Dir(c.Path)); err != nil {
		return err
	}
	if err := w.root.RemoveAll(c.Path); err != nil { // the mark of a deletion, or of what was below one
		return err
	}
	switch {
	case c.Kind == judge.Deleted && w.from.copies():
		return nil
	case c.Kind == judge.Deleted:
		dir, err := w.root.Open(path.Dir(c.Path))
		if err != nil {
			return err
		}
		defer dir.Close()
		return markDeleted(int(dir.Fd()), path.Base(c.Path))
	case c.NewMode&fs.ModeSymlink != 0:
		return w.root.Symlink(c.Link, c.Path)
	case !c.NewMode.IsRegular():
		return errors.New(c.Path + " is neither a file nor a link")
	}
	in, err := w.from.Open(c.Path)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := w.root.OpenFile(c.Path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer out.Close()
	if cloneFile(out, in) != nil { // shared blocks where the file system can
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
	for _, like := range []string{w.from.spec.Root, w.from.upper(0)} {
		if info, err := os.Lstat(filepath.Join(like, dir)); err == nil && info.IsDir() {
			return w.root.Chmod(dir, info.Mode()&^fs.ModeType|0o700)
		}
	}
	return w.root.Chmod(dir, 0o755)
}
