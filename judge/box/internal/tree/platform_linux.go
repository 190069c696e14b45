package tree

import (
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// SeekData finds the next part of a file that is no hole, SeekHole the next hole.
const (
	SeekData = unix.SEEK_DATA
	SeekHole = unix.SEEK_HOLE
)

// Clone lets a new file share the blocks of another, where the file system can.
func Clone(out, in *os.File) error {
	return unix.IoctlFileClone(int(out.Fd()), int(in.Fd()))
}

// OpenAt opens what is there, as OpenBeneath promises.
func OpenAt(dir int, path string) (int, error) {
	fd, err := unix.Openat2(dir, path, &unix.OpenHow{Flags: unix.O_RDONLY | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_NOCTTY | unix.O_CLOEXEC,
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS})
	if err != nil {
		return -1, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return fd, nil
}

// MakePipe makes a named pipe.
func MakePipe(dir int, name string) error { return unix.Mkfifoat(dir, name, 0o600) }
