package box

import (
	"math/rand/v2"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// headroom is how much more than allowed the kernel lets a box have, so that the
// watch sees that it is too much.
const headroom = 64

// headroomFor is how much more it is where the kernel refuses without a word. A bomb that
// is refused falls in a moment to the part of it that only waits, about a third: with so
// much room that is still too much, whenever somebody looks.
func headroomFor(most int) int { return min(headroom+4*most, elbowroom) }

// elbowroom is what all else that a user runs may grow by while a box runs, where the
// kernel counts that together with the box.
const elbowroom = 2048

// reservedPids are numbers that the kernel gives out only once.
const reservedPids = 300

// limit sets the limits that the kernel holds by itself for each process, on this
// thread and process, from which the child inherits them. What they can't express is
// watched.
func limit(l Limits) error {
	// When memory runs out on the machine, a box goes first.
	os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0)
	if l.OpenFiles > 0 {
		if err := lower(unix.RLIMIT_NOFILE, uint64(l.OpenFiles)); err != nil {
			return fail("limit the open files", "", err)
		}
	}
	if l.CPUs > 0 {
		return fail("limit the processors", "", onCPUs(l.CPUs))
	}
	return nil
}

// limitProcesses limits how many there are in namespaces of their own.
func limitProcesses(most int) error {
	if most == 0 {
		return nil
	}
	// Counted per user namespace, so for this box alone (Linux 5.14). It does not bind
	// uid 0; for that there is the range of process ids, which belongs to the pid
	// namespace (Linux 6.14).
	if os.Getuid() == 0 && ownPidMax() {
		os.WriteFile(pidMax, []byte(strconv.Itoa(most+headroomFor(most)+reservedPids)), 0)
	}
	return fail("limit the processes", "", lower(unix.RLIMIT_NPROC, uint64(most+headroomFor(most))))
}

// lower sets both values of a resource limit, never above what there is.
func lower(resource int, to uint64) error {
	var have syscall.Rlimit
	if err := syscall.Getrlimit(resource, &have); err != nil {
		return err
	}
	to = min(to, have.Max)
	return syscall.Setrlimit(resource, &syscall.Rlimit{Cur: to, Max: to})
}

const pidMax = "/proc/sys/kernel/pid_max"

// ownPidMax reports whether pid_max belongs to the pid namespace: older kernels have
// one for the whole machine, which must not be touched.
func ownPidMax() bool {
	var name unix.Utsname
	if unix.Uname(&name) != nil {
		return false
	}
	major, minor := 0, 0
	for i, field := 0, &major; i < len(name.Release); i++ {
		switch c := name.Release[i]; {
		case c >= '0' && c <= '9':
			*field = *field*10 + int(c-'0')
		case c == '.' && field == &major:
			field = &minor
		default:
			return major > 6 || major == 6 && minor >= 14
		}
	}
	return false
}

// onCPUs keeps this thread, and what it starts, to n of the processors that it may
// use, not always the same ones.
func onCPUs(n int) error {
	var have, want unix.CPUSet
	if err := unix.SchedGetaffinity(0, &have); err != nil {
		return err
	}
	var usable []int
	for cpu := range 64 * len(have) {
		if have.IsSet(cpu) {
			usable = append(usable, cpu)
		}
	}
	if n >= len(usable) {
		return nil
	}
	first := rand.IntN(len(usable))
	for i := range n {
		want.Set(usable[(first+i)%len(usable)])
	}
	return unix.SchedSetaffinity(0, &want)
}
