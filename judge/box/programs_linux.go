package box

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The kernel asks pid 1 before each exec of a box whose programs are held: a filter for
// system calls hands execve and execveat over. A process whose own program is the
// direct child's may execute what is granted; one that runs anything else may execute
// what it likes, since it was granted itself or was started by one that was.
//
// The kernel reads the path once more after the answer. A plugin with two threads could
// change it in between, and run another program that lies in the box: with no more
// files and no more network than it has anyway.

// execAsked is the kernel's struct seccomp_notif.
type execAsked struct {
	ID    uint64
	Pid   uint32
	Flags uint32
	Nr    int32
	Arch  uint32
	IP    uint64
	Args  [6]uint64
}

// execAnswer is struct seccomp_notif_resp.
type execAnswer struct {
	ID    uint64
	Val   int64
	Error int32
	Flags uint32
}

// programs answers for one box.
type programs struct {
	listener int
	own      unix.Stat_t   // the direct child's program
	granted  []unix.Stat_t // what it may execute
	started  bool
}

// holdPrograms puts the filter on this thread, and so on the child.
func holdPrograms(g Grants, exe *os.File) (*programs, error) {
	p := &programs{}
	if exe == nil {
		return nil, &failure{Op: opPrograms, Detail: "no program was handed over"}
	}
	if err := unix.Fstat(int(exe.Fd()), &p.own); err != nil {
		return nil, fail(opPrograms, exe.Name(), err)
	}
	for _, path := range g.Programs {
		var st unix.Stat_t
		if unix.Stat(path, &st) == nil {
			p.granted = append(p.granted, st)
		}
	}
	filter, err := execFilter()
	if err != nil {
		return nil, err
	}
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	fd, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER, uintptr(unsafe.Pointer(&prog)))
	if errno != 0 {
		return nil, fail(opPrograms, "", errno)
	}
	unix.CloseOnExec(int(fd))
	p.listener = int(fd)
	// The thread that starts the child waits in the kernel until the child's exec was
	// answered, without giving its place to another: so there must be a second place,
	// and nothing that stops all of them.
	runtime.GOMAXPROCS(max(2, runtime.GOMAXPROCS(0)))
	debug.SetGCPercent(-1)
	return p, nil
}

const opPrograms = "watch the programs of"

// execFilter hands the two calls over and refuses the other ways to make them: those
// of 32-bit programs.
func execFilter() ([]unix.SockFilter, error) {
	arch := map[string]uint32{"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64}[runtime.GOARCH]
	if arch == 0 {
		return nil, &failure{Op: opPrograms, Detail: "not on " + runtime.GOARCH}
	}
	const (
		load  = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
		equal = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
		least = unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K
		ret   = unix.BPF_RET | unix.BPF_K
		x32   = 0x40000000 // on amd64; elsewhere no call has such a number
	)
	return []unix.SockFilter{
		{Code: load, K: 4}, // seccomp_data.arch
		{Code: equal, K: arch, Jf: 7},
		{Code: load, K: 0}, // seccomp_data.nr
		{Code: least, K: x32, Jt: 4},
		{Code: equal, K: unix.SYS_EXECVE, Jt: 2},
		{Code: equal, K: unix.SYS_EXECVEAT, Jt: 1},
		{Code: ret, K: unix.SECCOMP_RET_ALLOW},
		{Code: ret, K: unix.SECCOMP_RET_USER_NOTIF},
		{Code: ret, K: unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)},
		{Code: ret, K: unix.SECCOMP_RET_KILL_PROCESS},
	}, nil
}

// serve answers until a program is wanted that is not granted, which is told to found.
func (p *programs) serve(found func(*Exceeded)) {
	for {
		var q execAsked
		_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(p.listener), unix.SECCOMP_IOCTL_NOTIF_RECV, uintptr(unsafe.Pointer(&q)))
		if errno == unix.EINTR || errno == unix.ENOENT { // it was ended meanwhile
			continue
		} else if errno != 0 {
			return
		}
		wanted, errno := "", unix.Errno(0)
		if p.started {
			wanted, errno = p.judge(&q)
		}
		p.started = true
		a := execAnswer{ID: q.ID, Flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
		if errno != 0 {
			a = execAnswer{ID: q.ID, Error: -int32(errno)}
		}
		if errno == unix.EACCES {
			found(Ungranted("program", wanted))
		}
		unix.Syscall(unix.SYS_IOCTL, uintptr(p.listener), unix.SECCOMP_IOCTL_NOTIF_SEND, uintptr(unsafe.Pointer(&a)))
	}
}

// judge gives the error that an exec ends with: none for what may be executed, EACCES
// for what may not.
func (p *programs) judge(q *execAsked) (wanted string, errno unix.Errno) {
	proc := "/proc/" + strconv.Itoa(int(q.Pid))
	var runs unix.Stat_t
	if unix.Stat(proc+"/exe", &runs) == nil && !sameStat(&runs, &p.own) {
		return "", 0
	}
	wanted, ok := q.path(proc)
	if !ok {
		return "a program that can't be named", unix.EACCES
	}
	var st unix.Stat_t
	if err := unix.Stat(wanted, &st); err != nil {
		return "", unix.ENOENT // and not "go on": it could be there a moment later
	}
	if sameStat(&st, &p.own) {
		return "", 0
	}
	for i := range p.granted {
		if sameStat(&st, &p.granted[i]) {
			return "", 0
		}
	}
	if real, err := filepath.EvalSymlinks(wanted); err == nil {
		wanted = real
	}
	return wanted, unix.EACCES
}

func sameStat(a, b *unix.Stat_t) bool { return a.Dev == b.Dev && a.Ino == b.Ino }

// path is what the process wants to execute, as pid 1 can look at it.
func (q *execAsked) path(proc string) (string, bool) {
	at, dir := q.Args[0], proc+"/cwd"
	if q.Nr == unix.SYS_EXECVEAT {
		at = q.Args[1]
		if fd := int32(q.Args[0]); fd != unix.AT_FDCWD {
			dir = proc + "/fd/" + strconv.Itoa(int(fd))
		}
	}
	text, ok := readText(proc, at)
	switch {
	case !ok:
		return "", false
	case text == "" && q.Nr == unix.SYS_EXECVEAT:
		return dir, true
	case !filepath.IsAbs(text):
		return dir + "/" + text, true
	}
	for _, self := range []string{"/proc/self/", "/proc/thread-self/"} {
		if rest, ok := strings.CutPrefix(filepath.Clean(text), self); ok {
			return proc + "/" + rest, true
		}
	}
	return text, true
}

// readText reads a text from the memory of a process.
func readText(proc string, at uint64) (string, bool) {
	f, err := os.Open(proc + "/mem")
	if err != nil {
		return "", false
	}
	defer f.Close()
	var text []byte
	for len(text) < unix.PathMax {
		part := make([]byte, 256-at%256) // never over the end of a page
		n, err := f.ReadAt(part, int64(at))
		if n == 0 && err != nil {
			return "", false
		}
		if end := bytes.IndexByte(part[:n], 0); end >= 0 {
			return string(append(text, part[:end]...)), true
		}
		text, at = append(text, part[:n]...), at+uint64(n)
	}
	return "", false
}
