package change

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"

	"github.com/paxiom/relay/judge"
)

// realTree is the work tree, reached only below its root and never through a link.
type realTree struct {
	*os.Root
	// trading are paths at which a link and a folder trade places: nothing of the
	// folder is there while the link is.
	trading map[string]bool
}

func openReal(root string) (*realTree, error) {
	r, err := os.OpenRoot(root)
	if err != nil {
		return nil, err
	}
	return &realTree{Root: r, trading: map[string]bool{}}, nil
}

// trade notes the links among the changes, old ones and new.
func (t *realTree) trade(changes []judge.Change) {
	for _, ch := range changes {
		if (ch.OldMode|ch.NewMode)&fs.ModeSymlink != 0 {
			t.trading[ch.Path] = true
		}
	}
}

// errThroughLink: a folder on the way to a path is a symbolic link.
var errThroughLink = errors.New("a folder on the way is a symbolic link")

// stat gives what is at path, nil when nothing is. A parent that is a link is an
// error, but for one that is trading places; one that is a file means that nothing is
// there.
func (t *realTree) stat(name string) (fs.FileInfo, error) {
	for _, dir := range parents(name) {
		fi, err := t.Lstat(dir)
		switch {
		case absent(err):
			return nil, nil
		case err != nil:
			return nil, err
		case fi.Mode()&fs.ModeSymlink != 0 && !t.trading[dir]:
			return nil, fmt.Errorf("%q: %w", dir, errThroughLink)
		case !fi.IsDir():
			return nil, nil
		}
	}
	fi, err := t.Lstat(name)
	if absent(err) {
		return nil, nil
	}
	return fi, err
}

func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// parents are the folders that lead to a path, outermost first.
func parents(name string) []string {
	var dirs []string
	for i := range len(name) {
		if name[i] == '/' {
			dirs = append(dirs, name[:i])
		}
	}
	return dirs
}

// stampAt identifies what is at path now.
func (t *realTree) stampAt(name string) (judge.Stamp, error) {
	fi, err := t.stat(name)
	if err != nil || fi == nil {
		return judge.Stamp{}, err
	}
	return StampOf(fi), nil
}

// describe gives the side that is on disk at path, content hash included. dst, when
// not nil, also gets the bytes.
func (t *realTree) describe(name string, dst io.Writer) (side, error) {
	fi, err := t.stat(name)
	if err != nil || fi == nil {
		return side{}, err
	}
	s := side{Exists: true, Mode: fi.Mode() & (fs.ModeType | fs.ModePerm)}
	switch {
	case fi.Mode()&fs.ModeSymlink != 0:
		s.Mode = fs.ModeSymlink // a link's own bits mean nothing
		s.Link, err = t.Readlink(name)
		return s, err
	case !fi.Mode().IsRegular():
		return s, nil
	}
	f, err := t.Open(name)
	if err != nil {
		return side{}, err
	}
	defer f.Close()
	h := sha256.New()
	var w io.Writer = h
	if dst != nil {
		w = io.MultiWriter(h, dst)
	}
	if s.Size, err = io.Copy(w, f); err != nil {
		return side{}, err
	}
	s.SHA256 = hex.EncodeToString(h.Sum(nil))
	return s, nil
}

// makeParents makes the folders that lead to a path.
func (t *realTree) makeParents(name string) error {
	for _, dir := range parents(name) {
		if err := t.Mkdir(dir, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		if fi, err := t.Lstat(dir); err != nil {
			return err
		} else if fi.Mode()&fs.ModeSymlink != 0 && !t.trading[dir] {
			return fmt.Errorf("%q: %w", dir, errThroughLink)
		} else if !fi.IsDir() {
			return &fs.PathError{Op: "mkdir", Path: dir, Err: syscall.ENOTDIR}
		}
	}
	return nil
}

// prune removes the folders that lead to a path as long as they are empty.
func (t *realTree) prune(name string) {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		fi, err := t.Lstat(dir)
		if err != nil || !fi.IsDir() || t.Remove(dir) != nil {
			return
		}
	}
}

// syncDirs fsyncs the folders of the paths, as far as they exist.
func (t *realTree) syncDirs(names []string) error {
	done := map[string]bool{}
	for _, name := range names {
		for dir := path.Dir(name); !done[dir]; dir = path.Dir(dir) {
			done[dir] = true
			if fi, err := t.Lstat(dir); err == nil && !fi.IsDir() {
				continue // it took the folder's place
			}
			d, err := t.Open(dir)
			if absent(err) {
				continue // pruned: what holds it is next
			}
			if err != nil {
				return err
			}
			err = d.Sync()
			d.Close()
			if err != nil && !errors.Is(err, syscall.EINVAL) {
				return err
			}
			break
		}
	}
	return nil
}

// inNested names the repository inside the work tree that a path belongs to, ""
// when it belongs to none.
func (t *realTree) inNested(name string, known map[string]bool) string {
	for _, dir := range parents(name) {
		nested, ok := known[dir]
		if !ok {
			git, err := t.stat(dir + "/.git")
			nested = err == nil && git != nil
			known[dir] = nested
		}
		if nested {
			return dir
		}
	}
	return ""
}

// The ends of temporary names, of the same length.
const (
	tmpSuffix  = ".relay-tmp"
	backSuffix = ".relay-old"
)

// tmpName is the temporary name that a file is written under before it takes its
// place: beside it, short enough, and with a part that no builder can have guessed,
// so that it never meets a file of the change itself.
func tmpName(name string) string {
	suffix := "." + rand.Text()[:8] + tmpSuffix
	dir, base := path.Split(name)
	if len(base)+len(suffix) > 255 {
		base = strings.ToValidUTF8(base[:255-len(suffix)], "")
	}
	return dir + base + suffix
}
