package box

import (
	"encoding/gob"
	"errors"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// initName is the argv[0] by which relay knows that it is to be pid 1 of a box.
const initName = "relay: box"

// The descriptors of pid 1. Its own 0 and 1 are /dev/null, its 2 is the child's.
const (
	fdControl = 3 + iota // the plan, then silence; its end means that the host is gone
	fdReport             // reports, one after another
	fdStdin
	fdStdout
	fdStderr
	fdLock // the layer's lock, held for as long as there is a process
	fdHand // where sockets are handed to the host
	fdExe  // only when the plan has one
)

// report is what pid 1 tells the host process.
type report struct {
	Started, Exited bool
	Code            int
	Signal          syscall.Signal
	Left            int
	Exceeded        *Exceeded // before the end that it brings about, or with it
	Fail            *Failure
}

// Failure is a step of setting up that did not work.
type Failure struct {
	Op, Path, Detail string
	Errno            syscall.Errno
}

func (f *Failure) Error() string { return f.Op + " " + f.Path + ": " + f.Errno.Error() + f.Detail }

// fail wraps what went wrong; nil stays nil.
func fail(op, path string, err error) error {
	if err == nil {
		return nil
	}
	if deeper, ok := errors.AsType[*Failure](err); ok {
		return deeper
	}
	f := &Failure{Op: op, Path: path}
	if !errors.As(err, &f.Errno) {
		f.Detail = err.Error()
	}
	return f
}

// asFirst is Init for the first process of namespaces.
func asFirst() {
	if len(os.Args) == 1 && os.Args[0] == initName && os.Getpid() == 1 {
		runInit()
	}
}

func runInit() {
	// Capabilities, the keyring and Landlock belong to a thread; the child is
	// forked from this one.
	runtime.LockOSThread()
	if unix.Gettid() == os.Getpid() {
		// Not from the first thread: all signals are blocked in the one that forks, and what is
		// sent to a pid 1 is dropped unless its first thread blocks it (see deafen).
		go runInit()
		select {}
	}
	Supervise(enter, func() { unix.Kill(-1, unix.SIGKILL) }, reap, func() bool { return true })
}

// enter does everything up to the running child. look reports whether the processes take
// more than they may; it is nil when there is no limit. over is told of a program that
// was not granted.
func enter(control *os.File, over func(*Exceeded)) (pid int, look func() *Exceeded, err error) {
	// Before anything else runs: descriptors that relay's own parent leaked must
	// not reach the child, since one open folder of the host is a way out.
	if err := unix.CloseRange(3, ^uint(0), unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return 0, nil, fail("close inherited descriptors", "", err)
	}
	var p plan
	if err := gob.NewDecoder(control).Decode(&p); err != nil {
		return 0, nil, fail("read the plan", "", err)
	}
	go func() {
		io.Copy(io.Discard, control) // ends with the host process
		if unix.Kill(-1, unix.SIGKILL) == nil {
			time.Sleep(5 * time.Second) // reap() ends this process when it has seen them all
		}
		quit(1)
	}()
	deafen(unix.SIGURG, perThread)
	if err := guard(); err != nil {
		return 0, nil, err
	}
	if err := enterNetwork(&p); err != nil {
		return 0, nil, err
	}
	exe, err := prepareExe(p.HasExe)
	if err != nil {
		return 0, nil, err
	}
	stores, err := mountAll(&p)
	if err != nil {
		return 0, nil, err
	}
	if p.TmpDir != "" {
		if err := os.Mkdir(p.TmpDir, 0o700); err != nil {
			return 0, nil, fail("make the temporary folder", p.TmpDir, err)
		}
	}
	if err := limit(p.Limits); err != nil {
		return 0, nil, err
	}
	if err := limitProcesses(p.Limits.Processes); err != nil {
		return 0, nil, err
	}
	if err := drop(); err != nil {
		return 0, nil, err
	}
	if l := p.Limits; l.Any() {
		look = func() *Exceeded { return l.look(stores, processes()) }
	}
	if err := filterCalls(&p, exe, over); err != nil {
		return 0, nil, err
	}
	deafen()
	pid, err = spawn(&p, exe)
	runtime.KeepAlive(exe) // only its number is used; collected, it would be closed before the exec
	debug.SetGCPercent(100)
	return pid, look, err
}

// spawn starts the direct child, on this thread.
func spawn(p *plan, exe *os.File) (int, error) {
	fd := -1
	if exe != nil {
		fd = int(exe.Fd())
	}
	os.Chdir(p.Dir)
	path, err := Program(fd, p.Argv[0], p.Env)
	if err != nil {
		return 0, err
	}
	os.Chdir("/")
	stdio := Stdio()
	proc, err := os.StartProcess(path, p.Argv, &os.ProcAttr{Dir: p.Dir, Env: p.Env, Files: stdio, Sys: &syscall.SysProcAttr{Setsid: true}})
	for _, f := range stdio {
		f.Close() // or the child could not end its output before it ends itself
	}
	if err != nil {
		return 0, fail("start the program", p.Argv[0], err)
	}
	return proc.Pid, nil
}

func isScript(fd int) bool {
	var head [2]byte
	n, _ := unix.Pread(fd, head[:], 0)
	return string(head[:n]) == "#!"
}

// reap collects every process of the box that ends. When the direct child has
// ended, it ends the others, counts and collects them too: after a look at what there
// is, since a child that ends itself would otherwise hide it. The kernel would end them
// by itself, but after it has given back the layer's lock.
func reap(child int, last func()) (ended syscall.WaitStatus, left int) {
	over := false
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case err == syscall.ECHILD:
			return ended, left
		case err != nil:
		case pid == child:
			ended, over = status, true
			last()
			unix.Kill(-1, unix.SIGKILL)
		case over && status.Signaled() && status.Signal() == syscall.SIGKILL:
			left++
		}
	}
}

// prepareExe gives a descriptor of the program that was handed over, by way of a
// read-only mount: through the host's mount, /proc/self/exe would be a writable
// path from the box to the file. It must be called before anything is mounted.
func prepareExe(has bool) (*os.File, error) {
	if !has {
		return nil, nil
	}
	var want, got unix.Stat_t
	if err := unix.Fstat(fdExe, &want); err != nil {
		return nil, fail("look at the program", "", err)
	}
	if want.Nlink == 0 {
		return os.NewFile(fdExe, "exe"), nil // nameless, in memory only: nothing lasting to write to
	}
	path, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(fdExe))
	if err != nil {
		return nil, fail("find the program", "", err)
	}
	tree, err := unix.OpenTree(unix.AT_FDCWD, path, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_SYMLINK_NOFOLLOW)
	if err != nil {
		return nil, fail("find the program", path, err)
	}
	if err := unix.Fstat(tree, &got); err != nil || got.Dev != want.Dev || got.Ino != want.Ino {
		return nil, &Failure{Op: "find the program", Path: path, Detail: ": it was replaced since it was checked"}
	}
	if err := setMount(tree, unix.MOUNT_ATTR_RDONLY|unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV, 0, 0); err != nil {
		return nil, fail("protect the program", path, err)
	}
	fd, err := unix.Open("/proc/self/fd/"+strconv.Itoa(tree), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fail("open the program", path, err)
	}
	return os.NewFile(uintptr(fd), path), nil
}
