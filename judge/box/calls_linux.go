package box

import (
	"runtime"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A filter for system calls does what no limit and no right can: it lets a call do
// nothing, or has pid 1 asked before it.

// question is the kernel's struct seccomp_notif.
type question struct {
	ID    uint64
	Pid   uint32
	Flags uint32
	Nr    int32
	Arch  uint32
	IP    uint64
	Args  [6]uint64
}

// answer is struct seccomp_notif_resp.
type answer struct {
	ID    uint64
	Val   int64
	Error int32
	Flags uint32
}

// calls are the numbers of some system calls for one kind of programs.
type calls struct {
	arch      uint32
	keys      []uint32 // keep something in the kernel for the user: add_key, request_key, keyctl
	setLimit  uint32
	prLimit64 uint32
	socket    uint32
	around    []uint32 // make sockets in ways that no filter sees into: io_uring_setup, socketcall
	of        []uint32 // set how a process is run: sched_setparam, sched_setscheduler, sched_setaffinity, sched_setattr
	setPrio   uint32   // of one, a group or a user's
	setIOPrio uint32
}

// callsOf are those of this machine's programs, and of 32-bit ones.
var callsOf = map[string][2]calls{
	"amd64": {{unix.AUDIT_ARCH_X86_64, []uint32{248, 249, 250}, 160, 302, 41, []uint32{425}, []uint32{142, 144, 203, 314}, 141, 251},
		{unix.AUDIT_ARCH_I386, []uint32{286, 287, 288}, 75, 340, 359, []uint32{425, 102}, []uint32{154, 156, 241, 351}, 97, 289}},
	"arm64": {{unix.AUDIT_ARCH_AARCH64, []uint32{217, 218, 219}, 164, 261, 198, []uint32{425}, []uint32{118, 119, 122, 274}, 140, 30},
		{unix.AUDIT_ARCH_ARM, []uint32{309, 310, 311}, 75, 369, 281, []uint32{425, 102}, []uint32{154, 156, 241, 380}, 97, 314}},
}

// families are the kinds of sockets that a network of its own holds. Others, such as those
// to the host of a virtual machine, belong to no network: they would lead out of it.
var families = []uint32{unix.AF_UNIX, unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK}

var execCalls = []uint32{unix.SYS_EXECVE, unix.SYS_EXECVEAT}

const opFilter = "filter the system calls of"

// filtered says what the kernel does at system calls of a box.
type filtered struct {
	programs bool // ask before one is executed, and allow no 32-bit programs
	noKeys   bool // the kernel's keyrings are closed: what lies there is the user's, and outlives the box
	ownNet   bool // there are no sockets but of these families
	// selfOnly: what a process may take is set by itself alone, which is named 0. A limit of
	// processor time ends a process as a signal does, and no right of Landlock's is asked for.
	selfOnly bool
}

// install does so for this thread and all that it starts. It gives where questions come
// in, -1 when there are none.
func (f filtered) install() (listener int, err error) {
	filter, err := f.filter()
	if err != nil {
		return -1, err
	}
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	flags := []uintptr{0}
	if f.programs { // a question that was read is not taken back for a mere signal (Linux 5.19)
		flags = []uintptr{unix.SECCOMP_FILTER_FLAG_NEW_LISTENER | unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER}
	}
	for _, flag := range flags {
		fd, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flag, uintptr(unsafe.Pointer(&prog)))
		switch {
		case errno != 0:
			err = fail(opFilter, "", errno)
		case !f.programs:
			return -1, nil
		default:
			unix.CloseOnExec(int(fd))
			return int(fd), nil
		}
	}
	return -1, err
}

const (
	load  = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
	equal = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
	and   = unix.BPF_ALU | unix.BPF_AND | unix.BPF_K
	ret   = unix.BPF_RET | unix.BPF_K
	x32   = 0x40000000 // set in the numbers of a third kind of programs on amd64
	// Offsets in seccomp_data; an argument's other half follows.
	atNumber, atArch, atArgument = 0, 4, 16
)

// filter is that as a program for the kernel: a part for each kind of programs.
func (f filtered) filter() ([]unix.SockFilter, error) {
	kinds, ok := callsOf[runtime.GOARCH]
	if !ok {
		return nil, &Failure{Op: opFilter, Errno: unix.EOPNOTSUPP, Detail: " on " + runtime.GOARCH}
	}
	number := []unix.SockFilter{{Code: load, K: atNumber}}
	own, other := slices.Concat(number, f.part(kinds[0])), slices.Concat(number, f.part(kinds[1]))
	if f.programs {
		other = []unix.SockFilter{{Code: ret, K: unix.SECCOMP_RET_KILL_PROCESS}}
	}
	return slices.Concat([]unix.SockFilter{
		{Code: load, K: atArch},
		{Code: equal, K: kinds[0].arch, Jt: uint8(2 + len(other))},
		{Code: equal, K: kinds[1].arch, Jt: 1},
		{Code: ret, K: map[bool]uint32{true: unix.SECCOMP_RET_KILL_PROCESS, false: unix.SECCOMP_RET_ALLOW}[f.programs]},
	}, other, own), nil
}

// part begins with the number of the call and ends with what is to be done.
func (f filtered) part(c calls) (out []unix.SockFilter) {
	var asked []uint32
	if f.programs {
		asked = execCalls
		out = []unix.SockFilter{{Code: unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K, K: x32, Jf: 1}, {Code: ret, K: unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)}}
	}
	out = append(out, unix.SockFilter{Code: and, K: ^uint32(x32)})
	refuse := func(numbers []uint32, errno unix.Errno) {
		for _, nr := range numbers {
			out = append(out, unix.SockFilter{Code: equal, K: nr, Jf: 1}, unix.SockFilter{Code: ret, K: unix.SECCOMP_RET_ERRNO | uint32(errno)})
		}
	}
	if f.noKeys {
		refuse(c.keys, unix.EPERM)
	}
	if f.ownNet {
		out = append(out, onlyFamilies(c.socket)...)
		refuse(c.around, unix.ENOSYS)
	}
	limits := keepCoreLimit(c.prLimit64, 1, true)
	if f.selfOnly {
		for _, nr := range c.of {
			out = append(out, about(nr, unix.SockFilter{Code: load, K: atArgument}, unix.SockFilter{Code: equal, K: 0, Jf: 1}, allow, refused)...)
		}
		out = slices.Concat(out, onlySelf(c.setPrio, unix.PRIO_USER), onlySelf(c.setIOPrio, ioPrioUser))
		limits = about(c.prLimit64, slices.Concat(asksOrSelf, limits[1:])...)
	}
	out = slices.Concat(out, keepCoreLimit(c.setLimit, 0, false), limits)
	for i, nr := range asked {
		out = append(out, unix.SockFilter{Code: equal, K: nr, Jt: uint8(len(asked) - i)})
	}
	return append(out, unix.SockFilter{Code: ret, K: unix.SECCOMP_RET_ALLOW}, unix.SockFilter{Code: ret, K: unix.SECCOMP_RET_USER_NOTIF})
}

// onlyFamilies refuses to make a socket of any other family.
func onlyFamilies(nr uint32) []unix.SockFilter {
	out := []unix.SockFilter{{Code: equal, K: nr, Jf: uint8(len(families) + 3)}, {Code: load, K: atArgument}}
	for i, family := range families {
		out = append(out, unix.SockFilter{Code: equal, K: family, Jt: uint8(len(families) - i)})
	}
	return append(out, unix.SockFilter{Code: ret, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EAFNOSUPPORT)}, unix.SockFilter{Code: ret, K: unix.SECCOMP_RET_ALLOW})
}

const ioPrioUser = 3 // IOPRIO_WHO_USER

var (
	allow   = unix.SockFilter{Code: ret, K: unix.SECCOMP_RET_ALLOW}
	refused = unix.SockFilter{Code: ret, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)}
	// asksOrSelf begins what is done at prlimit64: it refuses to set limits of a process that
	// is named by its number.
	asksOrSelf = []unix.SockFilter{{Code: load, K: atArgument}, {Code: equal, K: 0, Jt: 5},
		{Code: load, K: atArgument + 16}, {Code: equal, K: 0, Jf: 2}, {Code: load, K: atArgument + 20}, {Code: equal, K: 0, Jt: 1}, refused}
)

// about does something at one call, and passes over it at others.
func about(nr uint32, body ...unix.SockFilter) []unix.SockFilter {
	return append([]unix.SockFilter{{Code: equal, K: nr, Jf: uint8(len(body))}}, body...)
}

// onlySelf allows a call for the caller and for its group, not for all of the user's.
func onlySelf(nr, user uint32) []unix.SockFilter {
	return about(nr, unix.SockFilter{Code: load, K: atArgument}, unix.SockFilter{Code: equal, K: user, Jt: 3},
		unix.SockFilter{Code: load, K: atArgument + 8}, unix.SockFilter{Code: equal, K: 0, Jf: 1}, allow, refused)
}

// keepCoreLimit lets a call that sets limits do nothing, and succeed, when it is about
// core dumps: see noCores. resource is the argument that says which limit; where asking is
// possible, the next one is nil for that.
func keepCoreLimit(nr uint32, resource uint32, asking bool) []unix.SockFilter {
	at := atArgument + 8*resource
	body := []unix.SockFilter{{Code: load, K: at}}
	done := []unix.SockFilter{{Code: ret, K: unix.SECCOMP_RET_ALLOW}, {Code: ret, K: unix.SECCOMP_RET_ERRNO}}
	if asking {
		body = append(body, unix.SockFilter{Code: equal, K: unix.RLIMIT_CORE, Jf: 4},
			unix.SockFilter{Code: load, K: at + 8}, unix.SockFilter{Code: equal, K: 0, Jf: 3},
			unix.SockFilter{Code: load, K: at + 12}, unix.SockFilter{Code: equal, K: 0, Jf: 1})
	} else {
		body = append(body, unix.SockFilter{Code: equal, K: unix.RLIMIT_CORE, Jt: 1})
	}
	return about(nr, append(body, done...)...)
}

// answerAll answers, until there is nobody left who could ask, what judge says: 0 is
// that the call continues.
func answerAll(listener int, judge func(*question) unix.Errno) {
	for {
		var q question
		_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(listener), unix.SECCOMP_IOCTL_NOTIF_RECV, uintptr(unsafe.Pointer(&q)))
		if errno == unix.EINTR || errno == unix.ENOENT { // it was ended meanwhile
			continue
		} else if errno != 0 {
			return
		}
		a := answer{ID: q.ID, Flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
		if errno := judge(&q); errno != 0 {
			a = answer{ID: q.ID, Error: -int32(errno)}
		}
		unix.Syscall(unix.SYS_IOCTL, uintptr(listener), unix.SECCOMP_IOCTL_NOTIF_SEND, uintptr(unsafe.Pointer(&a)))
	}
}
