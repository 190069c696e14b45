package box

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// What only Linux has, or has in a form of its own.

// opaqueMark is how the kernel marks a folder that hides the one below it. A process
// in the box can neither set nor see attributes of that name.
const opaqueMark = "user.overlay.opaque"

func opaque(dir int) bool {
	var value [2]byte
	n, err := unix.Fgetxattr(dir, opaqueMark, value[:])
	return err == nil && n == 1 && value[0] == 'y'
}

// capability is the attribute that lets a program do what its user may not.
const capability = "security.capability"

func hasCapability(dir int, name string) bool {
	if dir < 0 {
		return false
	}
	_, err := unix.Lgetxattr(procFd(dir)+"/"+name, capability, nil)
	return err == nil
}

// isCapable is hasCapability of an open file, at a quarter of the price.
func isCapable(fd int) bool {
	_, err := unix.Fgetxattr(fd, capability, nil)
	return err == nil
}

// markDeleted puts the kernel's mark for "deleted" into a layer, a character device
// 0:0; anyone may make it.
func markDeleted(dir int, name string) error { return unix.Mknodat(dir, name, unix.S_IFCHR, 0) }

func syncFS(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return unix.Syncfs(int(f.Fd()))
}

// onOverlay says that a folder lies on an overlay, which can't hold another's layer.
func onOverlay(dir string) bool {
	var info unix.Statfs_t
	return unix.Statfs(dir, &info) != nil || info.Type == unix.OVERLAYFS_SUPER_MAGIC
}

// BootID names the time since the machine was started: what was not synced before that may
// be lost. It is "" where that has no name.
func BootID() string {
	id, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return string(id)
}

// MachineKey names what decides about the means: the boot, the user and the namespaces
// that this process is in.
func MachineKey() string {
	user, _ := os.Readlink("/proc/self/ns/user")
	mounts, _ := os.Readlink("/proc/self/ns/mnt")
	return fmt.Sprintf("%s%d %s %s", BootID(), os.Getuid(), user, mounts)
}

// OpenSelf opens the running program.
func OpenSelf() (*os.File, error) { return os.Open("/proc/self/exe") }
