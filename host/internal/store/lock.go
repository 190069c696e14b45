package store

import (
	"errors"
	"io/fs"
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
