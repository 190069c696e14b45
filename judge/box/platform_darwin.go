package box

import (
	"errors"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// What macOS has in a form of its own.

// strangersIn and Unfit are about namespaces, which macOS does not have.
func strangersIn(string) string { return "" }

func Unfit(string) *Error { return nil }

// opaque: there are no overlays.
func opaque(int) bool { return false }

// hasCapability and isCapable: files have none.
func hasCapability(int, string) bool { return false }
func isCapable(int) bool             { return false }

// markDeleted: there are no overlays.
func markDeleted(int, string) error { return errors.ErrUnsupported }

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

// MachineKey names what decides about the means.
func MachineKey() string { return BootID() }

// OpenSelf opens the running program.
func OpenSelf() (*os.File, error) {
	path, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return os.Open(path)
}
