package runner

import "syscall"

// Group starts a program in a process group of its own, which gets the signal when this process ends, however it ends.
func Group(end syscall.Signal) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: end}
}
