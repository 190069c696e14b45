package box

import (
	"encoding/gob"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// What the first process of a box does, with namespaces and without.

// Supervise is a first process: it starts the child, reports to the host, ends all when a
// limit is exceeded, and waits for the end. enter gives the child and what finds an exceeded
// limit, nil for none; reap waits for the child, calls what it is given, ends what else there
// is and counts that; told is asked, in the end, whether the host is to know.
func Supervise(enter func(control *os.File, over func(*Exceeded)) (child int, look func() *Exceeded, err error), endAll func(),
	reap func(child int, last func()) (syscall.WaitStatus, int), told func() bool) {
	reports := gob.NewEncoder(os.NewFile(fdReport, "report"))
	started := make(chan struct{}) // what comes first is read first
	over := func(e *Exceeded) {
		<-started
		reports.Encode(report{Exceeded: e})
		endAll()
	}
	child, look, err := enter(os.NewFile(fdControl, "control"), over)
	if err != nil {
		reports.Encode(report{Fail: AsFailure("set up", err)})
		quit(1)
	}
	reports.Encode(report{Started: true})
	close(started)
	if look != nil {
		go watch(look, over)
	}
	end := report{Exited: true}
	glance := func() { // at what came after the last look
		if look != nil && end.Exceeded == nil {
			end.Exceeded = look()
		}
	}
	status, left := reap(child, glance)
	glance()
	end.Code, end.Left = status.ExitStatus(), left
	if status.Signaled() {
		end.Signal = status.Signal()
	}
	if told() {
		reports.Encode(end)
	}
	quit(0)
}

// Program gives the path by which a program is executed: the file that was handed over as
// a descriptor, or, where that is -1, the name along the PATH of an environment.
func Program(fd int, name string, env []string) (string, error) {
	if fd >= 0 {
		if isScript(fd) { // its interpreter opens it again after the exec
			unix.FcntlInt(uintptr(fd), unix.F_SETFD, 0)
		}
		return "/proc/self/fd/" + strconv.Itoa(fd), nil
	}
	for _, e := range env {
		if dirs, ok := strings.CutPrefix(e, "PATH="); ok {
			os.Setenv("PATH", dirs)
		}
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fail("find the program", name, errors.Unwrap(err))
	}
	return path, nil
}

// Stdio are the child's files, as the first process has them.
func Stdio() []*os.File {
	return []*os.File{os.NewFile(fdStdin, "stdin"), os.NewFile(fdStdout, "stdout"), os.NewFile(fdStderr, "stderr")}
}

// Exe is the program that was handed over, when there is one.
func Exe() *os.File { return os.NewFile(fdExe, "exe") }

// Fail is an error of a step of setting up; nil stays nil.
func Fail(op, path string, err error) error { return fail(op, path, err) }

// AsFailure turns an error of a step into what is reported.
func AsFailure(op string, err error) *Failure {
	f, ok := errors.AsType[*Failure](err)
	if !ok {
		f = &Failure{Op: op, Detail: err.Error()}
	}
	return f
}

// Look finds the first limit that processes without namespaces exceed.
func (l Limits) Look(pids []string) *Exceeded { return l.look(nil, pids) }

// Any reports whether anything is limited that must be looked at.
func (l Limits) Any() bool {
	return l.Processes > 0 || l.Memory > 0 || l.FreeMemory > 0 || l.CPUTime > 0
}

// Settle sets what the kernel holds by itself, for this process and what it starts, and
// leaves the session's keyring.
func (l Limits) Settle() error {
	if err := noCores(); err != nil {
		return err
	}
	if err := leaveKeyring(); err != nil {
		return err
	}
	return limit(l)
}

// HoldProcesses limits how many processes and threads this process's user may have.
func HoldProcesses(most int) error {
	return fail("limit the processes", "", lower(unix.RLIMIT_NPROC, uint64(most)))
}

// leaveKeyring: the host's session keyring may hold tickets and keys.
func leaveKeyring() error {
	if _, _, err := unix.Syscall(unix.SYS_KEYCTL, unix.KEYCTL_JOIN_SESSION_KEYRING, 0, 0); err != 0 && err != unix.ENOSYS && err != unix.EPERM {
		return fail("leave the session keyring", "", err)
	}
	return nil
}

// FilterSelf closes the kernel's keyrings to this thread and what it starts, and lets them
// set the limits of no process but themselves.
func FilterSelf() error {
	_, err := filtered{noKeys: true, selfOnly: true}.install()
	if callsOf[runtime.GOARCH][0].arch == 0 {
		return nil
	}
	return err
}
