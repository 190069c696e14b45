//go:build !linux

package runner

import "syscall"

// Group starts a program in a process group of its own. Where this process is killed, the program continues: its lease on the
// branch and the run's key are what keeps it from landing twice.
func Group(syscall.Signal) *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
