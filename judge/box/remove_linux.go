package box

import (
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

type unixStat = syscall.Stat_t

// removeTree removes a folder that a builder wrote: modes of 000, trees deeper
// than any path can name. It follows no link and holds two descriptors at most:
// folders that are not empty are first moved to the top, so that depth is no cost.
func removeTree(dir string) error {
	if err := unix.Chmod(dir, 0o700); err == unix.ENOENT {
		return nil
	}
	top, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(top)
	moved := 0
	for queue := []string{"."}; len(queue) > 0; {
		name := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		unix.Fchmodat(top, name, 0o700, 0)
		below, err := emptyFolder(top, name, &moved)
		if err == nil && name != "." {
			err = unix.Unlinkat(top, name, unix.AT_REMOVEDIR)
		}
		if err != nil {
			return err
		}
		queue = append(queue, below...)
	}
	return os.Remove(dir)
}

// emptyFolder removes what is in the folder name of top, and moves to top, under
// new names, the folders in it that are not empty.
func emptyFolder(top int, name string, moved *int) ([]string, error) {
	fd, err := unix.Openat(top, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), name)
	defer f.Close()
	names, err := f.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	var below []string
	for _, n := range names {
		err := unix.Unlinkat(fd, n, 0)
		if err == unix.EISDIR || err == unix.EPERM {
			err = unix.Unlinkat(fd, n, unix.AT_REMOVEDIR)
		}
		if err == unix.ENOTEMPTY || err == unix.EEXIST {
			if name == "." { // in place already
				below = append(below, n)
				continue
			}
			unix.Fchmodat(fd, n, 0o700, 0) // its ".." is about to change
			*moved++
			to := ".relay-rm-" + strconv.Itoa(*moved)
			if err = unix.Renameat(fd, n, top, to); err == nil {
				below = append(below, to)
			}
		}
		if err != nil {
			return nil, err
		}
	}
	return below, nil
}
