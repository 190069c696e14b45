package sdk

import (
	"os"

	"golang.org/x/sys/unix"
)

// wide is what the kernel lets everybody have, by default.
const wide = 1 << 20

// widen lets a pipe hold more than the usual 64 KiB. Programs that end without waiting
// for their output (those made with Node do by process.exit) lose what did not fit. A
// pipe that stays as it is works too.
func widen(pipe *os.File) {
	conn, err := pipe.SyscallConn()
	if err != nil {
		return
	}
	_ = conn.Control(func(fd uintptr) { _, _ = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, wide) })
}
