package copies

import (
	"os"
	"path/filepath"

	"github.com/paxiom/relay/judge/box"
	"golang.org/x/sys/unix"
)

// headroom is how much more than allowed the kernel lets a box have, so that the watch sees
// that it is too much; elbowroom is what all else that a user runs may grow by meanwhile.
const (
	headroom  = 64
	elbowroom = 2048
)

// limitAmongOthers does so without namespaces. The kernel counts whatever the user has
// then, so this is no more than a wall between a fork bomb and the machine: what is
// allowed is the watch's affair. uid 0 is bound by its group alone.
func limitAmongOthers(most int, own group) error {
	if most == 0 {
		return nil
	}
	if err := own.join(); err != nil {
		return err
	}
	return box.HoldProcesses(threadsOfUser() + most + elbowroom)
}

// threadsOfUser counts what this user has running.
func threadsOfUser() (n int) {
	tasks, _ := filepath.Glob("/proc/[1-9]*/task")
	for _, dir := range tasks {
		var st unix.Stat_t
		if unix.Stat(dir, &st) == nil && int(st.Uid) == os.Getuid() {
			n += int(st.Nlink) - 2 // a folder for each
		}
	}
	return n
}
