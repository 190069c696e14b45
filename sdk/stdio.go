//go:build unix

package sdk

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// stdio is what a plugin process keeps of its three standard files. The files 0 and 1
// themselves are replaced, so that neither the plugin's code, nor a C library, nor a
// child can touch the handshake or the lifeline.
type stdio struct {
	lifeline  io.Reader // the host's end closing means that the host is gone; nil: none
	handshake *os.File  // the real standard output
	stderr    *os.File  // the real standard error, whatever os.Stderr becomes
}

func takeStdio() (stdio, error) {
	var std stdio
	in, err := dup(0, "lifeline")
	if err != nil {
		return std, err
	}
	if isPipe(in) {
		std.lifeline = in
	}
	if std.handshake, err = dup(1, "handshake"); err != nil {
		return std, err
	}
	if std.stderr, err = dup(2, "stderr"); err != nil {
		return std, err
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDONLY, 0)
	if err != nil {
		return std, err
	}
	defer null.Close()
	if err := dupTo(int(null.Fd()), 0); err != nil {
		return std, err
	}
	return std, dupTo(2, 1)
}

// isPipe: a terminal or /dev/null says nothing about the host's life.
func isPipe(f *os.File) bool {
	var st unix.Stat_t
	if unix.Fstat(int(f.Fd()), &st) != nil {
		return false
	}
	return st.Mode&unix.S_IFMT == unix.S_IFIFO || st.Mode&unix.S_IFMT == unix.S_IFSOCK
}

func dup(fd int, name string) (*os.File, error) {
	n, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, os.NewSyscallError("fcntl", err)
	}
	return os.NewFile(uintptr(n), name), nil
}
