package lock

import (
	"fmt"
	"os"
	"strings"
)

// bootID changes with every start of the kernel.
func bootID() string {
	b, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(b))
}

// processStart gives the start time of a process in clock ticks since boot, the 22nd
// field of /proc/PID/stat, and whether the process is there. A zombie is not.
func processStart(pid int) (start string, alive bool) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", false
	}
	// The second field is the name in parentheses and may hold anything.
	i := strings.LastIndexByte(string(b), ')')
	if i < 0 {
		return "", false
	}
	fields := strings.Fields(string(b)[i+1:])
	if len(fields) < 20 || fields[0] == "Z" || fields[0] == "X" {
		return "", false
	}
	return fields[19], true
}
