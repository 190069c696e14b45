package sdk

import (
	"os"

	"golang.org/x/sys/unix"
)

func dupTo(from, to int) error { return os.NewSyscallError("dup3", unix.Dup3(from, to, 0)) }
