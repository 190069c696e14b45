//go:build unix && !linux

package sdk

import (
	"os"
	"os/exec"
	"time"

	"golang.org/x/sys/unix"
)

// Elsewhere than on Linux a program that left its process group is not found.

func dupTo(from, to int) error { return os.NewSyscallError("dup2", unix.Dup2(from, to)) }

func adoptOrphans() {}

// awaitExit cannot wait without reaping here: the state is in cmd.ProcessState.
func awaitExit(cmd *exec.Cmd) { _ = cmd.Wait() }

func endStrays(leader int, _ string, _ bool) int {
	_ = unix.Kill(-leader, unix.SIGKILL)
	return 0
}

// endChildren kills the process group, this process included.
func endChildren(time.Duration) {
	if unix.Getpgrp() == os.Getpid() {
		_ = unix.Kill(0, unix.SIGKILL)
	}
}
