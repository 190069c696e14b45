//go:build unix && !linux

package sdk

import (
	"os"

	"golang.org/x/sys/unix"
)

func dupTo(from, to int) error { return os.NewSyscallError("dup2", unix.Dup2(from, to)) }
