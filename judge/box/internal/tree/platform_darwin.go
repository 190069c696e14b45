package tree

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// SeekData finds the next part of a file that is no hole, SeekHole the next hole.
const (
	SeekData = 4
	SeekHole = unix.SEEK_HOLE
)

// Clone is not used: macOS clones only to a file that does not exist yet.
func Clone(_, _ *os.File) error { return errors.ErrUnsupported }

// OpenAt opens what is there, as OpenBeneath promises.
func OpenAt(dir int, path string) (int, error) {
	if !fs.ValidPath(path) {
		return -1, &fs.PathError{Op: "open", Path: path, Err: fs.ErrInvalid}
	}
	fd, err := unix.Openat(dir, path, unix.O_RDONLY|unix.O_NOFOLLOW_ANY|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return fd, nil
}

// MakePipe stands a symbolic link that no policy allows in for a named pipe, which
// can't be made relative to a folder here.
func MakePipe(dir int, name string) error { return unix.Symlinkat("/dev/null", dir, name) }
