package beneath

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/paxiom/relay/judge"
)

// The reasons for which a file that is there is not read. Each comes in an [fs.PathError]
// that names the file.
var (
	ErrNotRegular = judge.ErrNotRegular
	ErrLink       = errors.New("is, or lies behind, a symbolic link, which relay does not follow")
	ErrOutside    = errors.New("lies outside of the repository")
	ErrTooLarge   = judge.ErrTooLarge
)

// Open opens the regular file rel, slash-separated and relative to root, for reading. root
// itself may be reached by links: it is the operator's. Absence is [fs.ErrNotExist].
func Open(root, rel string) (*os.File, error) { return open(root, rel, false) }

// ReadFile reads a file of at most max bytes; see [Open].
func ReadFile(root, rel string, max int64) ([]byte, error) {
	f, err := Open(root, rel)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return Read(f, max)
}

// Read reads what is left of an open file, at most max bytes of it.
func Read(f *os.File, max int64) ([]byte, error) {
	if fi, err := f.Stat(); err == nil && fi.Size() > max {
		return nil, tooLarge(f.Name(), max)
	}
	b, err := io.ReadAll(io.LimitReader(f, max+1))
	if err == nil && int64(len(b)) > max {
		return nil, tooLarge(f.Name(), max)
	}
	return b, err
}

// ReadPlain reads a regular file of the operator's own, of at most max bytes, also behind a
// link, without waiting for anything.
func ReadPlain(path string, max int64) ([]byte, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		if _, lerr := os.Lstat(path); errors.Is(err, unix.ENOENT) && lerr == nil {
			err = errors.New("it is a link to nothing")
		}
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	f := os.NewFile(uintptr(fd), path)
	defer f.Close()
	if fi, err := f.Stat(); err != nil || !fi.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "read", Path: path, Err: errors.Join(ErrNotRegular, err)}
	}
	return Read(f, max)
}

func tooLarge(name string, max int64) error {
	return &fs.PathError{Op: "read", Path: name, Err: fmt.Errorf("%w: over %d bytes", ErrTooLarge, max)}
}

// maxEntries is how many names of one folder are read.
const maxEntries = 100_000

// ReadDir gives the names in the folder rel, unsorted; "." is the root.
func ReadDir(root, rel string) ([]string, error) {
	d, err := open(root, rel, true)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	names, err := d.Readdirnames(maxEntries + 1)
	switch {
	case errors.Is(err, io.EOF):
		return nil, nil
	case len(names) > maxEntries:
		return nil, &fs.PathError{Op: "list", Path: rel, Err: fmt.Errorf("%w: over %d entries", ErrTooLarge, maxEntries)}
	}
	return names, err
}

// FS is a repository's root as a file system: what [Open] and [ReadDir] open, and files of
// at most maxInFS bytes.
type FS string

const maxInFS = 16 << 20

// Open opens a regular file or a folder.
func (f FS) Open(name string) (fs.File, error) {
	file, err := open(string(f), name, false)
	if errors.Is(err, ErrNotRegular) {
		file, err = open(string(f), name, true)
	}
	if err != nil {
		return nil, err // and no *os.File that is nil in an interface
	}
	return file, nil
}

// ReadFile reads a whole file.
func (f FS) ReadFile(name string) ([]byte, error) { return ReadFile(string(f), name, maxInFS) }

func open(root, rel string, folder bool) (*os.File, error) {
	fail := func(err error) (*os.File, error) {
		switch {
		case errors.Is(err, unix.ELOOP):
			err = ErrLink
		case errors.Is(err, unix.EXDEV):
			err = ErrOutside
		case errors.Is(err, unix.ENXIO):
			err = ErrNotRegular
		}
		return nil, &fs.PathError{Op: "open", Path: rel, Err: err}
	}
	if !filepath.IsLocal(filepath.FromSlash(rel)) {
		return fail(ErrOutside)
	}
	dir, err := unix.Open(root, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fail(err)
	}
	defer unix.Close(dir)
	flags := unix.O_RDONLY | unix.O_NONBLOCK | unix.O_CLOEXEC | unix.O_NOFOLLOW
	if folder {
		flags |= unix.O_DIRECTORY
	}
	fd, err := openBelow(dir, filepath.Clean(filepath.FromSlash(rel)), flags)
	if err != nil {
		return fail(err)
	}
	f := os.NewFile(uintptr(fd), rel)
	fi, err := f.Stat()
	if err == nil && !folder && !fi.Mode().IsRegular() {
		err = ErrNotRegular
	}
	if err != nil {
		f.Close()
		return fail(err)
	}
	return f, nil
}

// step opens component by component, where the kernel can't do it in one call.
func step(dir int, rel string, flags int) (int, error) {
	parts := strings.Split(rel, string(filepath.Separator))
	at := dir
	for i, part := range parts {
		f := unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC
		if i == len(parts)-1 {
			f = flags
		}
		fd, err := unix.Openat(at, part, f, 0)
		if at != dir {
			unix.Close(at)
		}
		if errors.Is(err, unix.ENOTDIR) && link(dir, parts[:i+1]) {
			err = unix.ELOOP
		}
		if err != nil {
			return -1, err
		}
		at = fd
	}
	return at, nil
}

// link says that one of the components is a symbolic link, for the error's words only.
func link(dir int, parts []string) bool {
	for i := range parts {
		var st unix.Stat_t
		if unix.Fstatat(dir, filepath.Join(parts[:i+1]...), &st, unix.AT_SYMLINK_NOFOLLOW) == nil && st.Mode&unix.S_IFMT == unix.S_IFLNK {
			return true
		}
	}
	return false
}
