package crash

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The test binary, started with envExec, puts a filter around itself, hands the
// filter's listener over its fourth descriptor, and becomes the program that is tested.
const envExec = "RELAY_CRASH_EXEC"

func TestMain(m *testing.M) {
	if program := os.Getenv(envExec); program != "" {
		err := becomeWatched(program)
		fmt.Fprintln(os.Stderr, "crash:", err)
		os.Exit(97)
	}
	// Under nohup a hangup would be ignored by the programs started here, too.
	signal.Notify(make(chan os.Signal, 1), unix.SIGHUP)
	code := m.Run()
	removeBuilt()
	os.Exit(code)
}

// watched are the system calls that change what is on the disk. Of openat only those
// that can make a file.
var watched = []uint32{unix.SYS_OPENAT, unix.SYS_FSYNC, unix.SYS_FDATASYNC, unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2,
	unix.SYS_UNLINKAT, unix.SYS_MKDIRAT, unix.SYS_FTRUNCATE, unix.SYS_PWRITE64, unix.SYS_WRITE}

// filter lets everything pass but what is watched, which is asked about.
func filter() []unix.SockFilter {
	const load, jump, set, ret = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K, unix.BPF_RET | unix.BPF_K
	f := []unix.SockFilter{{Code: load, K: 0}} // the call's number
	for _, nr := range watched[1:] {
		f = append(f, unix.SockFilter{Code: jump, K: nr, Jt: 0, Jf: 1}, unix.SockFilter{Code: ret, K: unix.SECCOMP_RET_USER_NOTIF})
	}
	return append(f, unix.SockFilter{Code: jump, K: unix.SYS_OPENAT, Jt: 0, Jf: 3}, unix.SockFilter{Code: load, K: 32}, // its flags
		unix.SockFilter{Code: set, K: unix.O_CREAT, Jt: 0, Jf: 1}, unix.SockFilter{Code: ret, K: unix.SECCOMP_RET_USER_NOTIF},
		unix.SockFilter{Code: ret, K: unix.SECCOMP_RET_ALLOW})
}

func becomeWatched(program string) error {
	runtime.LockOSThread() // filters and rights are a thread's own; exec keeps this one
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no_new_privs: %w", err)
	}
	f := filter()
	prog := unix.SockFprog{Len: uint16(len(f)), Filter: &f[0]}
	fd, _, errno := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER, uintptr(unsafe.Pointer(&prog)))
	if errno != 0 {
		return fmt.Errorf("seccomp: %w", errno)
	}
	if err := unix.Sendmsg(3, []byte{1}, unix.UnixRights(int(fd)), nil, 0); err != nil {
		return fmt.Errorf("hand over the listener: %w", err)
	}
	unix.Close(int(fd))
	unix.Close(3)
	os.Unsetenv(envExec)
	signal.Reset()
	return unix.Exec(program, append([]string{program}, os.Args[1:]...), os.Environ())
}

// syscallSeen is one watched call of the program, before the kernel acts on it.
type syscallSeen struct {
	Nr   uint32
	Args [6]uint64
	tid  uint32
}

// name is what the call does.
func (s syscallSeen) name() string {
	switch s.Nr {
	case unix.SYS_OPENAT:
		return "create"
	case unix.SYS_FSYNC, unix.SYS_FDATASYNC:
		return "fsync"
	case unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2:
		return "rename"
	case unix.SYS_UNLINKAT:
		return "unlink"
	case unix.SYS_MKDIRAT:
		return "mkdir"
	case unix.SYS_FTRUNCATE:
		return "truncate"
	}
	return "write"
}

// toDisk is false for writes to sockets, pipes and the like.
func (s syscallSeen) toDisk(pid int) bool {
	if s.Nr != unix.SYS_WRITE && s.Nr != unix.SYS_PWRITE64 {
		return true
	}
	var st unix.Stat_t
	err := unix.Stat(fmt.Sprintf("/proc/%d/fd/%d", pid, int32(s.Args[0])), &st)
	return err == nil && st.Mode&unix.S_IFMT == unix.S_IFREG
}

// decide says what becomes of the n-th call to the disk: an error for it, or kill.
type decide func(n int, s syscallSeen) (errno unix.Errno, kill bool)

// watch runs a command under the filter to its end. Only calls of the program itself are
// decided about, not those of git and of plugins.
func watch(t testing.TB, cmd *exec.Cmd, d decide) {
	t.Helper()
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	must(t, err)
	theirs := os.NewFile(uintptr(pair[1]), "listener")
	cmd.Env = append(cmd.Env, envExec+"="+cmd.Path)
	cmd.Path, cmd.ExtraFiles = os.Args[0], []*os.File{theirs}
	must(t, cmd.Start())
	theirs.Close()
	listener, err := receive(pair[0])
	unix.Close(pair[0])
	if err != nil {
		_ = cmd.Wait()
		t.Skipf("this machine lets nobody listen to a filter, so no moment can be chosen: %v; %s", err, cmd.Stderr)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		serve(listener, cmd.Process.Pid, d)
	}()
	_ = cmd.Wait() // how it ended is looked at elsewhere
	select {
	case <-ended: // all that it had started is gone
		unix.Close(listener)
	case <-time.After(20 * time.Second):
		t.Errorf("%v: 20 s after its end there are still processes that it had started", cmd.Args)
	}
}

func receive(socket int) (int, error) {
	oob := make([]byte, unix.CmsgSpace(4))
	n, oobn, _, _, err := unix.Recvmsg(socket, make([]byte, 1), oob, unix.MSG_CMSG_CLOEXEC)
	if err != nil || n == 0 {
		return -1, errors.Join(err, errors.New("no listener came"))
	}
	msgs, err := unix.ParseSocketControlMessage(oob[:oobn])
	if err != nil || len(msgs) == 0 {
		return -1, errors.Join(err, errors.New("no descriptor came"))
	}
	fds, err := unix.ParseUnixRights(&msgs[0])
	if err != nil {
		return -1, err
	}
	return fds[0], nil
}

// notice and answer are the kernel's seccomp_notif and seccomp_notif_resp.
type notice struct {
	id         uint64
	tid, flags uint32
	nr         int32
	arch       uint32
	ip         uint64
	args       [6]uint64
}

type answer struct {
	id    uint64
	val   int64
	error int32
	flags uint32
}

// serve answers until no process with the filter is left.
func serve(listener, pid int, d decide) {
	n := 0
	for {
		p := []unix.PollFd{{Fd: int32(listener), Events: unix.POLLIN}}
		if _, err := unix.Poll(p, -1); err != nil && err != unix.EINTR {
			return
		}
		if p[0].Revents&unix.POLLIN == 0 {
			if p[0].Revents != 0 {
				return
			}
			continue
		}
		var in notice
		if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(listener), unix.SECCOMP_IOCTL_NOTIF_RECV, uintptr(unsafe.Pointer(&in))); errno != 0 {
			continue // it was killed meanwhile
		}
		out := answer{id: in.id, flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
		if s := (syscallSeen{uint32(in.nr), in.args, in.tid}); isThread(pid, in.tid) && s.toDisk(pid) {
			n++
			errno, kill := d(n, s)
			if kill {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
			if errno != 0 {
				out.error, out.flags = -int32(errno), 0
			}
		}
		_, _, _ = unix.Syscall(unix.SYS_IOCTL, uintptr(listener), unix.SECCOMP_IOCTL_NOTIF_SEND, uintptr(unsafe.Pointer(&out)))
	}
}

func isThread(pid int, tid uint32) bool {
	_, err := os.Stat("/proc/" + strconv.Itoa(pid) + "/task/" + strconv.Itoa(int(tid)))
	return err == nil
}

// waitFor gives up after a while.
func waitFor(most time.Duration, done func() bool) bool {
	for end := time.Now().Add(most); ; time.Sleep(10 * time.Millisecond) {
		if done() {
			return true
		}
		if time.Now().After(end) {
			return false
		}
	}
}
