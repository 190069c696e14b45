package box_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"time"
	"unsafe"

	. "github.com/paxiom/relay/judge/box"

	"golang.org/x/sys/unix"
)

// actorName is the argv[0] by which the test binary becomes a process of a box that
// tries one thing and says which errno it got.
const actorName = "relay: box actor"

// act tries something and prints "ok" or the name of the errno.
func act(args []string) {
	err := try(args)
	var errno syscall.Errno
	switch {
	case err == nil:
		fmt.Println("ok")
	case errors.As(err, &errno):
		fmt.Println(unix.ErrnoName(errno))
	default:
		fmt.Println(err)
	}
	os.Exit(0)
}

func try(args []string) error {
	verb, arg := args[0], args[1]
	switch verb {
	case "write":
		f, err := os.OpenFile(arg, os.O_WRONLY|os.O_APPEND, 0)
		if err == nil {
			f.Close()
		}
		return err
	case "create":
		return os.WriteFile(arg, nil, 0o644)
	case "read":
		_, err := os.ReadFile(arg)
		return err
	case "list":
		_, err := os.ReadDir(arg)
		return err
	case "chmod":
		return unix.Chmod(arg, 0o777)
	case "chown":
		return unix.Chown(arg, os.Getuid(), os.Getgid())
	case "utimes":
		return unix.Utimes(arg, make([]unix.Timeval, 2))
	case "setxattr":
		return unix.Setxattr(arg, args[2], []byte("y"), 0)
	case "unlink":
		return unix.Unlink(arg)
	case "link":
		return unix.Link(arg, args[2])
	case "rename":
		return unix.Rename(arg, args[2])
	case "kill":
		var pid int
		fmt.Sscan(arg, &pid)
		return unix.Kill(pid, unix.SIGKILL)
	case "ptrace":
		var pid int
		fmt.Sscan(arg, &pid)
		return unix.PtraceAttach(pid)
	case "mknod":
		var major, minor uint32
		fmt.Sscan(args[2], &major, &minor)
		return unix.Mknod(arg, unix.S_IFCHR|0o666, int(unix.Mkdev(major, minor)))
	case "mount":
		return unix.Mount("tmpfs", arg, "tmpfs", 0, "")
	case "umount":
		return unix.Unmount(arg, unix.MNT_DETACH)
	case "remount":
		return unix.Mount("", arg, "", unix.MS_REMOUNT|unix.MS_BIND, "")
	case "clear-readonly":
		return unix.MountSetattr(unix.AT_FDCWD, arg, unix.AT_RECURSIVE, &unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY})
	case "unshare-cgroup":
		return unix.Unshare(unix.CLONE_NEWCGROUP)
	case "connect":
		c, err := net.Dial("unix", arg)
		if err == nil {
			c.Close()
		}
		return err
	case "listen-and-connect":
		l, err := net.Listen("unix", arg)
		if err != nil {
			return err
		}
		defer l.Close()
		return try([]string{"connect", arg})
	case "dial":
		c, err := net.Dial(arg, args[2])
		if err == nil {
			c.Close()
		}
		return err
	case "socket": // of a family
		var family int
		fmt.Sscan(arg, &family)
		fd, err := unix.Socket(family, unix.SOCK_DGRAM, 0)
		if err == unix.ESOCKTNOSUPPORT {
			fd, err = unix.Socket(family, unix.SOCK_RAW, 0)
		}
		if err == nil {
			unix.Close(fd)
		}
		return err
	case "ring":
		params := make([]byte, 120)
		if _, _, err := unix.Syscall(unix.SYS_IO_URING_SETUP, 4, uintptr(unsafe.Pointer(&params[0])), 0); err != 0 {
			return err
		}
		return nil
	case "nameless-memory": // so many bytes
		fd, err := unix.MemfdCreate("x", 0)
		if err == nil {
			err = unix.Fallocate(fd, 0, 0, number(arg))
		}
		time.Sleep(20 * time.Second)
		return err
	case "memory-under-way": // so many bytes in files that lie in a socket and are open nowhere
		pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
		for left := number(arg); err == nil && left > 0; left -= 16 << 20 {
			var fd int
			if fd, err = unix.MemfdCreate("x", 0); err == nil {
				err = unix.Fallocate(fd, 0, 0, 16<<20)
			}
			if err == nil {
				err = unix.Sendmsg(pair[0], []byte{1}, unix.UnixRights(fd), nil, 0)
			}
			unix.Close(fd)
		}
		if err == nil {
			time.Sleep(5 * time.Second)
		}
		return err
	case "left-memory": // which nothing is attached to
		id, err := unix.SysvShmGet(unix.IPC_PRIVATE, int(number(arg)), 0o600)
		if err != nil {
			return err
		}
		bytes, err := unix.SysvShmAttach(id, 0, 0)
		if err != nil {
			return err
		}
		for i := range bytes {
			bytes[i] = 1
		}
		err = unix.SysvShmDetach(bytes)
		time.Sleep(20 * time.Second)
		return err
	case "loopback":
		l, err := net.Listen("tcp", arg)
		if err != nil {
			return err
		}
		defer l.Close()
		return try([]string{"dial", "tcp", l.Addr().String()})
	case "say": // and print what is answered
		for i, to := range args[1:] {
			c, err := net.Dial("tcp", to)
			if err != nil {
				return err
			}
			fmt.Fprintln(c, "hello", i)
			io.Copy(os.Stdout, c)
		}
		return nil
	case "own-binary": // through /proc/self/exe, on from a process that is another program by then
		fd, err := unix.Open("/proc/self/exe", unix.O_PATH, 0)
		if err != nil {
			return err
		}
		if err := unix.Chmod(ProcFd(fd), 0o777); err != unix.EROFS {
			return fmt.Errorf("chmod of the program: %v", err)
		}
		return unix.Exec("/bin/sh", []string{"sh", "-c", fmt.Sprintf("(: >> /proc/self/fd/%d) 2>&1; true", fd)}, os.Environ())
	case "nested": // the rest of the arguments, as root of a user namespace below
		proc, err := os.StartProcess("/proc/self/exe", append([]string{actorName}, args[1:]...), &os.ProcAttr{
			Files: []*os.File{os.Stdin, os.Stdout, os.Stderr},
			Sys: &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWUSER | unix.CLONE_NEWNS,
				UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
				GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}}})
		if err != nil {
			return err
		}
		proc.Wait()
		os.Exit(0)
	case "dig": // deeper than any path can name
		err := unix.Chdir(arg)
		for i := 0; i < 5000 && err == nil; i++ {
			if err = unix.Mkdir("d", 0o755); err == nil {
				err = unix.Chdir("d")
			}
		}
		return err
	case "cores": // asks for core dumps of that size, and prints what it has then
		var size uint64
		fmt.Sscan(arg, &size)
		asked, limit := unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{Cur: size, Max: size}), unix.Rlimit{}
		err := unix.Getrlimit(unix.RLIMIT_CORE, &limit)
		fmt.Println(limit.Cur, limit.Max)
		return errors.Join(asked, err)
	case "keep-key":
		_, err := unix.AddKey("user", arg, []byte("x"), unix.KEY_SPEC_USER_KEYRING)
		return err
	case "find-key":
		_, err := unix.KeyctlSearch(unix.KEY_SPEC_USER_KEYRING, "user", arg, 0)
		return err
	case "ask-key":
		_, err := unix.RequestKey("user", arg, "", unix.KEY_SPEC_USER_KEYRING)
		return err
	case "reach": // sets what a process may take, in every way, and says which were not refused
		var pid uintptr
		fmt.Sscan(arg, &pid)
		var limit unix.Rlimit
		var number, cpus uint64
		cpus = ^cpus
		const process, group, user, sameIO = 0, 1, 2, 4 << 13
		for i, c := range [][4]uintptr{
			{uintptr(PrLimit64), pid, unix.RLIMIT_CPU, uintptr(unsafe.Pointer(&limit))},
			{unix.SYS_SETPRIORITY, process, pid, 0}, {unix.SYS_SETPRIORITY, group, pid, 0}, {unix.SYS_SETPRIORITY, user, 0, 0},
			{unix.SYS_SCHED_SETAFFINITY, pid, 8, uintptr(unsafe.Pointer(&cpus))},
			{unix.SYS_SCHED_SETSCHEDULER, pid, 0, uintptr(unsafe.Pointer(&number))},
			{unix.SYS_SCHED_SETPARAM, pid, uintptr(unsafe.Pointer(&number)), 0},
			{unix.SYS_SCHED_SETATTR, pid, uintptr(unsafe.Pointer(&[12]uint32{48})), 0},
			{unix.SYS_IOPRIO_SET, 1, pid, sameIO}, {unix.SYS_IOPRIO_SET, 2, pid, sameIO}, {unix.SYS_IOPRIO_SET, 3, 0, sameIO},
		} {
			if _, _, errno := unix.Syscall(c[0], c[1], c[2], c[3]); errno != unix.EPERM {
				fmt.Println(i, errno)
			}
		}
		return nil
	case "queue": // every signal to pid 1, as kill does it and in ways that look like the kernel's own
		for i := range 20 * 64 {
			sig := i%64 + 1
			unix.Kill(1, unix.Signal(sig))
			unix.Kill(1, unix.SIGURG) // which Go handles; what comes meanwhile is blocked there
			for _, code := range []int32{-1, -2, -3, -5} {
				info := [32]int32{int32(sig), 0, code}
				unix.Syscall(unix.SYS_RT_SIGQUEUEINFO, 1, uintptr(sig), uintptr(unsafe.Pointer(&info)))
			}
		}
		var ends [2]int
		unix.Pipe(ends[:])
		for _, sig := range []unix.Signal{unix.SIGSEGV, unix.SIGBUS, unix.SIGABRT, unix.SIGTRAP} {
			unix.FcntlInt(uintptr(ends[0]), unix.F_SETFL, unix.O_ASYNC)
			unix.FcntlInt(uintptr(ends[0]), unix.F_SETOWN, 1)
			unix.FcntlInt(uintptr(ends[0]), unix.F_SETSIG, int(sig))
			unix.Write(ends[1], []byte("x"))
		}
		time.Sleep(200 * time.Millisecond)
		return nil
	case "watch": // takes as many inotify instances as there are
		n := 0
		for ; n < 100000; n++ {
			if _, err := unix.InotifyInit(); err != nil {
				break
			}
		}
		fmt.Println(n)
		return nil
	case "host": // a second relay, which is going to be killed
		hostUntilKilled(args[1:])
	}
	return fmt.Errorf("unknown verb %q", verb)
}

func number(text string) (n int64) {
	fmt.Sscan(text, &n)
	return n
}

// hostUntilKilled opens a box whose processes never end by themselves.
func hostUntilKilled(args []string) {
	b, err := New(Spec{Means: args[3], Root: args[0], StateDir: args[1], Layer: args[1] + "/layer"})
	if err == nil {
		var run *Process
		run, err = b.Start(Proc{Argv: []string{"sh", "-c", args[2]}, Env: os.Environ(), Stdout: os.Stdout})
		if err == nil {
			run.Wait()
		}
	}
	fmt.Println(err)
	os.Exit(1)
}
