package judge

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// ErrNotRegular: something other than a plain file has the name.
var ErrNotRegular = errors.New("is not a regular file")

// ErrTooLarge: the file is over the limit of its reader.
var ErrTooLarge = errors.New("is too large")

// ReadFile reads a regular file of at most max bytes. A link, folder, FIFO or
// device is ErrNotRegular and is not waited for; absence is fs.ErrNotExist.
func ReadFile(path string, max int64) ([]byte, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.ELOOP) || errors.Is(err, unix.ENXIO) {
		return nil, &fs.PathError{Op: "read", Path: path, Err: ErrNotRegular}
	}
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	f := os.NewFile(uintptr(fd), path)
	defer f.Close()
	fi, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !fi.Mode().IsRegular():
		return nil, &fs.PathError{Op: "read", Path: path, Err: ErrNotRegular}
	case fi.Size() > max:
		return nil, tooLarge(path, max)
	}
	b, err := io.ReadAll(io.LimitReader(f, max+1))
	if err == nil && int64(len(b)) > max {
		return nil, tooLarge(path, max)
	}
	return b, err
}

func tooLarge(path string, max int64) error {
	return &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("%w: over %d bytes", ErrTooLarge, max)}
}
