//go:build !linux

package lock

import "syscall"

// bootID is not known here; the process id decides alone.
func bootID() string { return "" }

// processStart says whether the process is there; its start time is not known here.
func processStart(pid int) (start string, alive bool) {
	err := syscall.Kill(pid, 0)
	return "", err == nil || err == syscall.EPERM
}
