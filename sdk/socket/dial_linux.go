package socket

import (
	"context"
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

func openDir(path string) (*os.File, error) {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(fd), path), nil
}

// dial connects by way of the open socket: the name may mean something else by now.
func dial(ctx context.Context, dir *os.File, name, path string, own func(pid int) bool) (net.Conn, error) {
	bad := func(format string, args ...any) (net.Conn, error) {
		return nil, &Error{"unix", path, fmt.Sprintf(format, args...)}
	}
	fd, err := unix.Openat(int(dir.Fd()), name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return bad("can't be opened: %v", err)
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	switch err := unix.Fstat(fd, &st); {
	case err != nil:
		return bad("can't be looked at: %v", err)
	case st.Mode&unix.S_IFMT == unix.S_IFLNK:
		return bad("is a symbolic link")
	case st.Mode&unix.S_IFMT != unix.S_IFSOCK:
		return bad("is not a socket")
	case int(st.Uid) != os.Geteuid():
		return bad("belongs to user %d", st.Uid)
	case st.Nlink != 1:
		return bad("has another name elsewhere")
	}
	var d net.Dialer
	c, err := d.DialContext(ctx, "unix", fmt.Sprintf("/proc/self/fd/%d", fd))
	if err != nil {
		why := err
		for u, ok := why.(interface{ Unwrap() error }); ok && u.Unwrap() != nil; u, ok = why.(interface{ Unwrap() error }) {
			why = u.Unwrap()
		}
		return bad("(mode %04o) can't be connected: %v", st.Mode&0o7777, why)
	}
	pid, err := listener(c.(*net.UnixConn))
	switch {
	case err != nil:
		c.Close()
		return bad("does not say who listens: %v", err)
	case own != nil && !own(pid):
		c.Close()
		if pid == 0 {
			return bad("is listened on by a process that can't be seen from here")
		}
		return bad("is listened on by process %d, which is not the plugin's", pid)
	}
	return c, nil
}

// listener is the process that began to listen, as the kernel knows it.
func listener(c *net.UnixConn) (pid int, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, err
	}
	var cred *unix.Ucred
	if bad := raw.Control(func(fd uintptr) { cred, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) }); bad != nil {
		return 0, bad
	}
	if err != nil {
		return 0, err
	}
	return int(cred.Pid), nil
}
