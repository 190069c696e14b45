package lock

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"time"
)

// self describes this process.
func self(command string) Info {
	start, _ := startOf(os.Getpid())
	host, _ := os.Hostname()
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return Info{PID: os.Getpid(), PIDStart: start, BootID: strings.TrimSpace(string(boot)), Host: host, StartedAt: time.Now().UTC().Truncate(time.Second), Command: command}
}

// startOf gives the start time of a process in clock ticks since boot, and whether
// it is alive; one that has ended and was not yet waited for is not.
func startOf(pid int) (string, bool) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return "", exists(pid)
	}
	// The second field is the name in parentheses and can hold anything.
	f := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
	if len(f) < 20 {
		return "", true
	}
	return string(f[19]), f[0][0] != 'Z' && f[0][0] != 'X'
}
