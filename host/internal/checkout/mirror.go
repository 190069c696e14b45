package checkout

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/paxiom/relay/host/internal/beneath"
)

// mirror makes a folder like another one, and copies only what differs in size or time.
// Named pipes, sockets and devices are left out, and what goes away meanwhile.
func mirror(from, to string) error {
	entries, err := os.ReadDir(from)
	if err != nil {
		return gone(err, to)
	}
	if fi, err := os.Lstat(to); err == nil && !fi.IsDir() {
		if err := os.Remove(to); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	there := map[string]bool{}
	for _, e := range entries {
		src, dst := filepath.Join(from, e.Name()), filepath.Join(to, e.Name())
		switch t := e.Type(); {
		case t.IsDir():
			err = mirror(src, dst)
		case t.IsRegular(), t&fs.ModeSymlink != 0:
			err = copyPlain(src, dst)
		default:
			continue
		}
		if err != nil {
			return err
		}
		there[e.Name()] = true
	}
	if fi, err := os.Lstat(from); err == nil {
		os.Chmod(to, fi.Mode().Perm()|0o700)
	}
	return dropOthers(to, there)
}

// dropOthers removes what is in a folder besides.
func dropOthers(dir string, there map[string]bool) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if !there[e.Name()] {
			err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
		}
	}
	return err
}

// copyPlain copies a file or link, unless what is there has its size and time. Blocks are
// shared where the file system can; a hard link never is made, since a process that writes to one in
// place would write both.
func copyPlain(from, to string) error {
	fi, err := os.Lstat(from)
	if err != nil {
		return gone(err, to)
	}
	if fi.Mode()&fs.ModeSymlink != 0 {
		target, err := os.Readlink(from)
		if err != nil {
			return gone(err, to)
		}
		if have, err := os.Readlink(to); err == nil && have == target {
			return nil
		}
		if err := os.RemoveAll(to); err != nil {
			return err
		}
		return os.Symlink(target, to)
	}
	if !fi.Mode().IsRegular() {
		return nil
	}
	if have, err := os.Lstat(to); err == nil && sameTime(have, fi) {
		if have.Mode().Perm() != fi.Mode().Perm() {
			return os.Chmod(to, fi.Mode().Perm())
		}
		return nil
	}
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	in, err := beneath.Open(filepath.Dir(from), filepath.Base(from))
	if err != nil {
		return gone(err, to)
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	return fill(out, in, fi)
}

// fill writes a copy, and gives it the mode and the time of the original.
func fill(out, in *os.File, fi fs.FileInfo) error {
	_, err := io.Copy(out, in)
	if err == nil {
		err = out.Chmod(fi.Mode().Perm())
	}
	if err = errors.Join(err, out.Close()); err != nil {
		return err
	}
	return os.Chtimes(out.Name(), time.Time{}, fi.ModTime())
}

// sameTime reports whether two files have the same size and time.
func sameTime(a, b fs.FileInfo) bool {
	return a.Mode().IsRegular() && b.Mode().IsRegular() && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// gone excuses what went away while it was copied, or can't be read by the user at all: of
// an earlier copy nothing stays.
func gone(err error, to string) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return os.RemoveAll(to)
	}
	return err
}
