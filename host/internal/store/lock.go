package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// patience is how long a lock is waited for: its holders keep it for milliseconds, unless
// one of them was stopped in the middle.
const patience = 30 * time.Second

// Lock takes the lock that is a file, which is made where it is missing. No link is followed.
func Lock(path string) (unlock func(), err error) {
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_CREAT|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	for end := time.Now().Add(patience); ; time.Sleep(2 * time.Millisecond) {
		err := unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return func() { unix.Close(fd) }, nil
		}
		if waits := errors.Is(err, unix.EWOULDBLOCK) || errors.Is(err, unix.EINTR); waits && time.Now().Before(end) {
			continue
		} else if waits {
			err = errors.New("another relay holds it and does not let go; it may be stopped")
		}
		unix.Close(fd)
		return nil, &fs.PathError{Op: "lock", Path: path, Err: err}
	}
}

// Hold takes the lock of a file or folder that is there, for as long as the process lives or
// until it is closed. It follows no link, and fails at once where another process has it.
func Hold(path string) (*os.File, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	if err := unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB); err != nil {
		unix.Close(fd)
		return nil, &fs.PathError{Op: "lock", Path: path, Err: err}
	}
	return os.NewFile(uintptr(fd), path), nil
}

// Sweep has the folders in dir removed whose names begin with prefix, which are at least so
// old, and which no process holds: their makers were killed. The age keeps it from one
// that is just being made.
func Sweep(dir, prefix string, age time.Duration, remove func(path string)) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		info, err := e.Info()
		if err != nil || !e.IsDir() || !strings.HasPrefix(e.Name(), prefix) || time.Since(info.ModTime()) < age {
			continue
		}
		f, err := Hold(path)
		if errors.Is(err, fs.ErrPermission) && os.Chmod(path, 0o700) == nil {
			f, err = Hold(path)
		}
		if err == nil {
			remove(path)
			f.Close()
		}
	}
}
