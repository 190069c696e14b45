//go:build unix && !linux

package proctree

import (
	"os"
	"os/exec"
	"time"

	"golang.org/x/sys/unix"
)

// AdoptOrphans does nothing here: a program that left its process group is not found.
func AdoptOrphans() {}

// AwaitExit cannot wait without reaping here: the state is in cmd.ProcessState.
func AwaitExit(cmd *exec.Cmd) { _ = cmd.Wait() }

// Living finds nothing here.
func Living(string, int) map[int]string { return nil }

// KillAll finds nothing here.
func KillAll(string, int) {}

// EndStrays kills the rest of a program's process group.
func EndStrays(leader int, _ string, _ bool) int {
	_ = unix.Kill(-leader, unix.SIGKILL)
	return 0
}

// EndChildren kills the process group that this process leads, itself included.
func EndChildren(time.Duration) {
	if unix.Getpgrp() == os.Getpid() {
		_ = unix.Kill(0, unix.SIGKILL)
	}
}
