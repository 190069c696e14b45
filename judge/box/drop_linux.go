package box

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// setupCaps are what pid 1 needs while it sets up. They hold in the box's own user
// namespace only. DAC_OVERRIDE, FOWNER and CHOWN are for the overlays, which work
// with the rights of who mounted them; the caller's own are checked as well.
var setupCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_SETPCAP, unix.CAP_DAC_OVERRIDE, unix.CAP_FOWNER, unix.CAP_CHOWN, unix.CAP_SYS_RESOURCE}

// guard protects pid 1 itself, before a child exists. Its other threads keep their
// capabilities, so nobody may look into it or trace it: not being dumpable sees to
// that.
func guard() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fail("protect pid 1", "", err)
	}
	if err := noCores(); err != nil {
		return err
	}
	spareInstances()
	if err := leaveKeyring(); err != nil {
		return err
	}
	// In a cgroup namespace of its own, the builder could mount the user's control
	// groups and freeze or kill what is in them, relay included.
	forbidden := []string{"cgroup"}
	if os.Getuid() == 0 {
		// Nested user namespaces are safe for an ordinary user, and agents use them.
		// For uid 0 they would lead to file systems that trust it by its number.
		forbidden = append(forbidden, "user")
	}
	for _, kind := range forbidden { // these limits are the box's own, not the host's
		name := "/proc/sys/user/max_" + kind + "_namespaces"
		if err := os.WriteFile(name, []byte("0"), 0); err != nil {
			return fail("forbid nested namespaces", name, err)
		}
	}
	return nil
}

// perThread is how syscall.AllThreadsSyscall reaches this process's other threads.
const perThread = unix.Signal(33)

// deafen takes this process's signal handlers away, but for those that it still needs
// itself. The kernel keeps from a pid 1 what a process of its own namespace sends, as long
// as there is no handler for it; Go installs one for nearly each signal, and takes a
// SIGSEGV that somebody queued for a fault of its own. When the child runs, not one may be
// left: all signals are blocked in a handler of the first thread, and one that comes
// meanwhile is not dropped there; given to a thread that does not block it, it ends them
// all. Without SIGURG, Go switches goroutines at calls alone, and here is no loop without
// calls. The child inherits nothing ignored.
func deafen(but ...unix.Signal) {
	var none [4]uint64 // the kernel's struct sigaction: the default action
	for sig := unix.Signal(1); sig <= 64; sig++ {
		if sig == unix.SIGKILL || sig == unix.SIGSTOP || slices.Contains(but, sig) {
			continue
		}
		unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(sig), uintptr(unsafe.Pointer(&none)), 0, 8, 0, 0)
	}
}

// spareInstances leaves half of what a user may have of some things, all his processes
// counted, to those outside of the box.
func spareInstances() {
	for _, name := range []string{"inotify_instances", "inotify_watches"} {
		most, _ := os.ReadFile("/proc/sys/fs/inotify/max_user_" + strings.TrimPrefix(name, "inotify_"))
		if n, err := strconv.Atoi(strings.TrimSpace(string(most))); err == nil {
			os.WriteFile("/proc/sys/user/max_"+name, []byte(strconv.Itoa(n/2)), 0)
		}
	}
}

// noCores keeps processes of a box from dumping core: the host's core handler would run on
// what they want it to. 0 would only keep them from writing a file; at 1 the kernel does
// not start a handler either.
func noCores() error {
	return fail("forbid core dumps", "", lower(unix.RLIMIT_CORE, 1))
}

// drop gives up, for this thread and so for the child, every privilege and every
// way of getting one back.
func drop() error {
	scope()
	for c := uintptr(0); c <= 63; c++ {
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err == unix.EINVAL {
			break // past the last capability that this kernel has
		} else if err != nil {
			return fail("drop a capability", "", err)
		}
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fail("drop ambient capabilities", "", err)
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fail("forbid new privileges", "", err)
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	if err := unix.Capset(&header, &none[0]); err != nil {
		return fail("drop capabilities", "", err)
	}
	// The other threads as well, where Go can do it (not with cgo); guard() is
	// enough without it.
	syscall.AllThreadsSyscall(unix.SYS_CAPSET, uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(&none[0])), 0)
	return nil
}

// scope keeps the box from abstract unix sockets, which have no path that could be
// covered (X11, D-Bus), and from signalling the host. Linux 6.12 and newer have
// it; older ones leave abstract sockets open, which Gaps says.
func scope() bool {
	attr := unix.LandlockRulesetAttr{Scoped: unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL}
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0)
	if errno != 0 {
		return false
	}
	defer unix.Close(int(fd))
	_, _, errno = unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0)
	return errno == 0
}

// canScope reports whether this kernel has what scope uses: Landlock's sixth version.
func canScope() bool { return landlockVersion() >= 6 }

// landlockVersion is 0 where there is no Landlock.
func landlockVersion() int {
	const askVersion = 1
	version, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, askVersion)
	if errno != 0 {
		return 0
	}
	return int(version)
}

// OpLandlock is the step of a [Failure] that is Landlock's.
const OpLandlock = "use Landlock"

// LandlockAllowed says what keeps this kernel's Landlock from being used. Its third version,
// of Linux 6.2, is the oldest that keeps files from being cut off.
func LandlockAllowed() error {
	if version := landlockVersion(); version < 3 {
		return &Failure{Op: OpLandlock, Errno: unix.EOPNOTSUPP, Detail: " (version " + strconv.Itoa(version) + " can't keep files from being cut off)"}
	}
	return nil
}
