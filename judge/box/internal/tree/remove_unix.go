//go:build linux || darwin

package tree

import (
	"io"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// Remove removes a folder that a builder wrote: modes of 000, trees deeper
// than any path can name. It follows no link and holds two descriptors at most:
// folders that are not empty are first moved to the top, so that depth is no cost.
func Remove(dir string) error {
	if err := unix.Chmod(dir, 0o700); err == unix.ENOENT {
		return nil
	}
	top, err := OpenFolder(unix.AT_FDCWD, dir)
	if err != nil {
		return err
	}
	defer unix.Close(top)
	if err := removeBelow(top); err != nil {
		return err
	}
	return os.Remove(dir)
}

// removeBelow removes what is in an open folder.
func removeBelow(top int) error {
	r := remover{top: top, queue: []string{"."}}
	for len(r.queue) > 0 {
		name := r.queue[len(r.queue)-1]
		r.queue = r.queue[:len(r.queue)-1]
		if err := r.empty(name); err != nil {
			return err
		}
		if name == "." {
			continue
		}
		if err := unix.Unlinkat(top, name, unix.AT_REMOVEDIR); err != nil {
			return err
		}
	}
	return nil
}

// RemoveAll removes one name in an open folder, with all that is in it.
func RemoveAll(dir int, name string) error {
	err := RemoveAt(dir, name)
	if err != unix.ENOTEMPTY && err != unix.EEXIST {
		return err
	}
	unix.Fchmodat(dir, name, 0o700, 0)
	top, err := OpenFolder(dir, name)
	if err != nil {
		return err
	}
	defer unix.Close(top)
	if err := removeBelow(top); err != nil {
		return err
	}
	return unix.Unlinkat(dir, name, unix.AT_REMOVEDIR)
}

// RemoveAt removes one name, a folder only when it is empty.
func RemoveAt(dir int, name string) error {
	err := unix.Unlinkat(dir, name, 0)
	if err == unix.EISDIR || err == unix.EPERM {
		err = unix.Unlinkat(dir, name, unix.AT_REMOVEDIR)
	}
	return err
}

// remover removes what is below an open folder; queue has the names, in it, of
// folders that still have something in them.
type remover struct {
	top   int
	queue []string
	moved int
}

// empty removes what is in a folder of top.
func (r *remover) empty(name string) error {
	unix.Fchmodat(r.top, name, 0o700, 0)
	fd, err := OpenFolder(r.top, name)
	if err != nil {
		return err
	}
	f := os.NewFile(uintptr(fd), name)
	defer f.Close()
	for {
		names, err := f.Readdirnames(1 << 14)
		if err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		for _, n := range names {
			if err := r.remove(fd, n, name == "."); err != nil {
				return err
			}
		}
	}
}

// remove removes one name in an open folder, or puts it into the queue.
func (r *remover) remove(dir int, name string, atTop bool) error {
	err := RemoveAt(dir, name)
	if err != unix.ENOTEMPTY && err != unix.EEXIST {
		return err
	}
	if !atTop {
		unix.Fchmodat(dir, name, 0o700, 0) // or its ".." could not be changed
		to, err := "", error(unix.EEXIST)
		for err == unix.ENOTEMPTY || err == unix.EEXIST { // a removal that was cut off has left names of this kind
			r.moved++
			to = ".relay-rm-" + strconv.Itoa(r.moved)
			err = unix.Renameat(dir, name, r.top, to)
		}
		if err != nil {
			return err
		}
		name = to
	}
	r.queue = append(r.queue, name)
	return nil
}
