package lock

import (
	"errors"

	"golang.org/x/sys/unix"
)

// exists reports whether there is a process of that number, also another user's.
func exists(pid int) bool {
	err := unix.Kill(pid, 0)
	return err == nil || errors.Is(err, unix.EPERM)
}
