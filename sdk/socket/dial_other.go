//go:build !linux

package socket

import (
	"context"
	"net"
	"os"
	"syscall"
)

func openDir(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW|syscall.O_CLOEXEC, 0)
}

// dial looks at the socket and connects by its path: these systems can't connect to an
// open socket, and which process listens is not asked.
func dial(ctx context.Context, _ *os.File, _, path string, _ func(pid int) bool) (net.Conn, error) {
	st, err := os.Lstat(path)
	if err != nil {
		return nil, &Error{"unix", path, "can't be looked at: " + err.Error()}
	}
	sys, _ := st.Sys().(*syscall.Stat_t)
	switch {
	case st.Mode()&os.ModeSymlink != 0:
		return nil, &Error{"unix", path, "is a symbolic link"}
	case st.Mode()&os.ModeSocket == 0:
		return nil, &Error{"unix", path, "is not a socket"}
	case sys == nil || int(sys.Uid) != os.Geteuid():
		return nil, &Error{"unix", path, "belongs to another user"}
	}
	var d net.Dialer
	c, err := d.DialContext(ctx, "unix", path)
	if err != nil {
		return nil, &Error{"unix", path, "can't be connected: " + err.Error()}
	}
	return c, nil
}
