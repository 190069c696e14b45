//go:build !linux

package lock

import (
	"os"
	"time"
)

// self describes this process. Without /proc there is no start time and no boot id:
// a number that was given to another process then counts as the holder.
func self(command string) Info {
	host, _ := os.Hostname()
	return Info{PID: os.Getpid(), Host: host, StartedAt: time.Now().UTC().Truncate(time.Second), Command: command}
}

func startOf(pid int) (string, bool) { return "", exists(pid) }
