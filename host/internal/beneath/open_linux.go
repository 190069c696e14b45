package beneath

import (
	"errors"

	"golang.org/x/sys/unix"
)

// openBelow lets the kernel (5.6) hold the whole rule in one call; an older one, and a
// container that forbids the call, takes the steps.
func openBelow(dir int, rel string, flags int) (int, error) {
	fd, err := unix.Openat2(dir, rel, &unix.OpenHow{Flags: uint64(flags),
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS})
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM) {
		return step(dir, rel, flags)
	}
	return fd, err
}
