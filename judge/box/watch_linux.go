package box

import (
	"bytes"
	"os"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// The kernel can limit what the processes of a box take together only by control
// groups, which an ordinary user often has not been given. So pid 1 looks, several
// times a second, and ends them all when it is too much. It sees every process of
// the box and none else, and none of them can stop it.

// watchEvery is how often; less often where a look is expensive.
const watchEvery = 50 * time.Millisecond

// In between, a glance is enough to see that there are suddenly many more processes and
// threads on the machine, of any origin: then the next look is at once.
const (
	glanceEvery = 10 * time.Millisecond
	suddenly    = 200
)

// watch looks until something is found.
func watch(look func() *Exceeded, found func(*Exceeded)) {
	for {
		begin, had := time.Now(), threadsOfMachine()
		if e := look(); e != nil {
			found(e)
			return
		}
		next := time.Now().Add(max(watchEvery, 10*time.Since(begin)))
		for time.Now().Before(next) && threadsOfMachine() < had+suddenly {
			time.Sleep(glanceEvery)
		}
	}
}

// threadsOfMachine is how many there are, in all of its namespaces; 0 when it hides that.
func threadsOfMachine() (n int) {
	line, _ := os.ReadFile("/proc/loadavg")
	if fields := bytes.Fields(line); len(fields) > 3 {
		_, total, _ := bytes.Cut(fields[3], []byte("/"))
		n, _ = strconv.Atoi(string(total))
	}
	return n
}

// exactTries is how often memory is counted exactly before it is too much: a process that
// ends in the middle of a count leaves its share of what was shared to those that are
// counted after it.
const exactTries = 3

// usage is what the processes of the box take at one moment.
type usage struct {
	threads  int64
	resident int64 // pages; what is shared counts for each
	ticks    int64 // of processor time, with that of children that were waited for
	pids     []string
}

// look finds the first limit that these processes exceed. stores are the file systems in
// memory that they can write.
func (l Limits) look(stores []int, names []string) *Exceeded {
	if l.Processes > 0 && len(names) > l.Processes { // at once, in the middle of a fork bomb
		return &Exceeded{Limit: LimitProcesses, Got: int64(len(names)), Max: int64(l.Processes)}
	}
	var all usage
	for _, pid := range names {
		all.add(pid)
	}
	if l.Processes > 0 && all.threads > int64(l.Processes) {
		return &Exceeded{Limit: LimitProcesses, Got: all.threads, Max: int64(l.Processes)}
	}
	if l.CPUTime > 0 {
		var done unix.Rusage
		unix.Getrusage(unix.RUSAGE_CHILDREN, &done)
		used := time.Duration(done.Utime.Nano() + done.Stime.Nano() + all.ticks*int64(time.Second/userHz))
		if used > l.CPUTime {
			return &Exceeded{Limit: LimitCPUTime, Got: int64(used.Seconds()), Max: int64(l.CPUTime.Seconds())}
		}
	}
	machine, _ := os.ReadFile("/proc/meminfo")
	if free := kilobytes(machine, "MemAvailable:") + kilobytes(machine, "SwapFree:"); free < l.FreeMemory {
		return &Exceeded{Limit: LimitFreeMemory, Got: free, Max: l.FreeMemory}
	}
	if l.Memory > 0 {
		stored := inMemory(stores)
		if kilobytes(machine, "Shmem:") > l.Memory/4 { // else it can't be what makes it too much
			stored += unstored(stores, names)
		}
		got := stored + all.resident*int64(os.Getpagesize())
		for try := 0; got > l.Memory && try < exactTries; try++ {
			got = min(got, stored+all.private()) // now exactly, which costs more
		}
		if got > l.Memory {
			return &Exceeded{Limit: LimitMemory, Got: got, Max: l.Memory}
		}
	}
	return nil
}

// userHz is the unit of times in /proc, the same on every machine that Go runs on.
const userHz = 100

// processes are the process ids in the box, pid 1 left out.
func processes() (pids []string) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	for _, name := range names {
		if name[0] >= '1' && name[0] <= '9' && name != "1" {
			pids = append(pids, name)
		}
	}
	return pids
}

// add adds one process, when it still is there. Its name may hold anything, also
// spaces and parentheses; the fields start after the last parenthesis.
func (u *usage) add(pid string) {
	line, err := os.ReadFile("/proc/" + pid + "/stat")
	at := bytes.LastIndexByte(line, ')')
	if err != nil || at < 0 {
		return
	}
	fields := bytes.Fields(line[at+1:])
	if len(fields) < 22 {
		return
	}
	number := func(n int) int64 { // as proc(5) counts them
		v, _ := strconv.ParseInt(string(fields[n-3]), 10, 64)
		return v
	}
	u.threads += number(20)
	u.resident += number(24)
	u.ticks += number(14) + number(15) + number(16) + number(17)
	u.pids = append(u.pids, pid)
}

// private is the memory of the processes in bytes, each page counted once. Files in
// memory are left out, since their file systems are counted.
func (u *usage) private() (sum int64) {
	for _, pid := range u.pids {
		text, err := os.ReadFile("/proc/" + pid + "/smaps_rollup")
		if err != nil { // it ended, or hides: then what is known counts
			var one usage
			one.add(pid)
			sum += one.resident * int64(os.Getpagesize())
			continue
		}
		sum += kilobytes(text, "Pss_Anon:")
		if kilobytes(text, "Pss_Shmem:") > 0 {
			sum += sharedAnonymous(pid)
		}
	}
	return sum
}

// sharedAnonymous is the part of a process in memory that it shares without a file
// (MAP_SHARED and MAP_ANONYMOUS), which no file system holds, in bytes.
func sharedAnonymous(pid string) (sum int64) {
	text, _ := os.ReadFile("/proc/" + pid + "/smaps")
	shared := false
	for line := range bytes.Lines(text) {
		if line[0] < 'A' || line[0] > 'Z' { // the first line of a mapping
			shared = bytes.HasSuffix(line, []byte(" /dev/zero (deleted)\n"))
		} else if shared && bytes.HasPrefix(line, []byte("Pss:")) {
			sum += kilobytes(line, "Pss:")
		}
	}
	return sum
}

// inMemory is what the file systems in memory hold, in bytes.
func inMemory(stores []int) (sum int64) {
	for _, fd := range stores {
		var st unix.Statfs_t
		if unix.Fstatfs(fd, &st) == nil {
			sum += int64(st.Blocks-st.Bfree)*st.Bsize + int64(st.Files-st.Ffree)*perFile
		}
	}
	return sum
}

// perFile is about what the kernel takes for a file in memory, besides its content.
const perFile = 1 << 10

// unstored is memory that lies in none of the file systems: files without a name, and, in
// an ipc namespace of the box's own, shared memory.
func unstored(stores []int, names []string) (sum int64) {
	var own []uint64
	for _, fd := range stores {
		var st unix.Stat_t
		if unix.Fstat(fd, &st) == nil {
			own = append(own, uint64(st.Dev))
		}
	}
	eachNameless(names, func(path string, file unix.Stat_t) {
		var st unix.Statfs_t
		if unix.Statfs(path, &st) == nil && st.Type == unix.TMPFS_MAGIC && !slices.Contains(own, uint64(file.Dev)) {
			sum += file.Blocks * 512
		}
	})
	if stores == nil {
		return sum
	}
	segments, _ := os.ReadFile("/proc/sysvipc/shm")
	for line := range bytes.Lines(segments) {
		if fields := bytes.Fields(line); len(fields) > 14 {
			resident, _ := strconv.ParseInt(string(fields[14]), 10, 64) // 0 for the heading
			sum += resident
		}
	}
	return sum
}

// kilobytes finds a value in the text of one of the kernel's files, in bytes; 0 when it
// has none.
func kilobytes(text []byte, key string) int64 {
	for line := range bytes.Lines(text) {
		if rest, ok := bytes.CutPrefix(line, []byte(key)); ok {
			kb, _ := strconv.ParseInt(string(bytes.Fields(rest)[0]), 10, 64)
			return kb << 10
		}
	}
	return 0
}
