package box

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// denied explains an errno of namespaces and mounts by what usually causes it.
func denied(op string, err error) *Error {
	e := &Error{Op: op, Err: err}
	var errno syscall.Errno
	errors.As(err, &errno)
	if op == OpLandlock {
		e.Unsupported, e.Why = true, "this kernel's Landlock is off, forbidden here, or too old: Linux 6.2 or newer is needed"
		e.Fix = "`cat /sys/kernel/security/lsm` lists what is on, `uname -r` shows the kernel's version"
		return e
	}
	switch errno {
	case unix.EPERM, unix.EACCES:
		e.Unsupported = true
		if sysctl("kernel/apparmor_restrict_unprivileged_userns") == "1" {
			e.Why = "AppArmor keeps programs of ordinary users from using user namespaces (the default of Ubuntu 24.04)"
			e.Fix = "`sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0` allows it to every program until the next boot"
			if line := profileCommand(); line != "" {
				e.Fix = "`" + line + "` allows it to relay alone, for good"
			}
		} else if sysctl("kernel/unprivileged_userns_clone") == "0" {
			e.Why = "this kernel is set not to give user namespaces to ordinary users"
			e.Fix = "`sudo sysctl kernel.unprivileged_userns_clone=1` allows it until the next boot"
		} else {
			e.Why = "the container or the system's security policy forbids it"
			e.Fix = "`docker run --security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined …` allows it in a container"
		}
	case unix.ENOSPC, unix.EUSERS:
		e.Unsupported = true
		e.Why = "no more user namespaces are allowed here"
		e.Fix = "`sudo sysctl user.max_user_namespaces=10000` allows them until the next boot"
	case unix.ENOSYS, unix.EINVAL, unix.ENODEV, unix.EOPNOTSUPP:
		e.Unsupported = true
		e.Why = "the kernel or the file system does not offer it; Linux 5.12 or newer with overlayfs is needed"
		e.Fix = "`uname -r` shows the kernel's version"
	case unix.ELOOP:
		e.Unsupported = true
		e.Why = "too many overlay file systems lie on one another already"
	}
	return e
}

func sysctl(name string) string {
	out, _ := os.ReadFile("/proc/sys/" + name)
	if len(out) == 0 {
		return ""
	}
	return string(out[:len(out)-1])
}
