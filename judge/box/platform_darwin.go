package box

import (
	"errors"
	"io/fs"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// What macOS has in a form of its own.

const (
	seekData = 4
	seekHole = unix.SEEK_HOLE
)

// strangersIn and unfit are about namespaces, which macOS does not have.
func strangersIn(string) string { return "" }

func unfit(string) *Error { return nil }

// cloneFile is not used: macOS clones only to a file that does not exist yet.
func cloneFile(_, _ *os.File) error { return errors.ErrUnsupported }

// openAt opens what is there, as openBeneath promises.
func openAt(dir int, path string) (int, error) {
	if !fs.ValidPath(path) {
		return -1, &fs.PathError{Op: "open", Path: path, Err: fs.ErrInvalid}
	}
	fd, err := unix.Openat(dir, path, unix.O_RDONLY|unix.O_NOFOLLOW_ANY|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return fd, nil
}

// opaque: there are no overlays.
func opaque(int) bool { return false }

// hasCapability and isCapable: files have none.
func hasCapability(int, string) bool { return false }
func isCapable(int) bool             { return false }

// markDeleted: there are no overlays.
func markDeleted(int, string) error { return errors.ErrUnsupported }

// makePipe stands a symbolic link that no policy allows in for a named pipe, which
// can't be made relative to a folder here.
func makePipe(dir int, name string) error { return unix.Symlinkat("/dev/null", dir, name) }

func syncFS(string) error { return unix.Sync() }

// onOverlay: there are none.
func onOverlay(string) bool { return false }

// BootID names the time since the machine was started: what was not synced before that may
// be lost. It is "" where that has no name.
func BootID() string {
	at, err := unix.SysctlTimeval("kern.boottime")
	if err != nil {
		return ""
	}
	return strconv.FormatInt(at.Sec, 10)
}

// machineKey names what decides about the means.
func machineKey() string { return BootID() }

// openSelf opens the running program.
func openSelf() (*os.File, error) {
	path, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return os.Open(path)
}
