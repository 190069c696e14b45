package copies

import (
	"bytes"
	"context"
	"encoding/gob"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/paxiom/relay/judge/box"
	"github.com/paxiom/relay/judge/box/internal/tree"
	"golang.org/x/sys/unix"
)

// The argv[0] of the supervisor and of the process that it starts, which turns into the
// child: between them, what the child may do is taken away.
const (
	supervisorName = "relay: box supervisor"
	stepName       = "relay: box step"
)

// The processes that relay is started as.
func init() {
	box.As(supervisorName, runSupervisor)
	box.As(stepName, runStep)
}

func runSupervisor() {
	var what spec
	var gone *atomic.Int32
	box.Supervise(func(control *os.File, _ func(*box.Exceeded)) (child int, look func() *box.Exceeded, err error) {
		child, gone, err = keep(control, &what)
		if what.Limits.Any() {
			look = what.look
		}
		return child, look, err
	}, endAll, reapKept, func() bool {
		if gone.Load() == hostGone { // nobody else will
			if what.Layer != "" {
				if t, err := readTables(what.Layer); err == nil {
					t.Snapshot.restore(context.Background(), nil)
				}
			}
			tree.Remove(what.Run)
			group(what.Group).remove()
		}
		return gone.Load() == hostThere
	})
}

// What the supervisor knows of the host.
const (
	hostThere = iota
	hostKills
	hostGone
)

// keep does everything up to the running child.
func keep(control *os.File, what *spec) (child int, gone *atomic.Int32, err error) {
	if err := unix.CloseRange(3, ^uint(0), unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return 0, nil, box.Fail("close inherited descriptors", "", err)
	}
	if err := gob.NewDecoder(control).Decode(what); err != nil {
		return 0, nil, box.Fail("read the spec", "", err)
	}
	signal.Notify(make(chan os.Signal, 1), unix.SIGTERM, unix.SIGINT, unix.SIGHUP, unix.SIGQUIT, unix.SIGPIPE, unix.SIGTSTP)
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return 0, nil, box.Fail("take in orphans", "", err)
	}
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return 0, nil, box.Fail("protect the supervisor", "", err)
	}
	child, err = startStep(what)
	if err != nil {
		endAll()
		return 0, nil, err
	}
	keptChild.Store(int32(child))
	gone = new(atomic.Int32)
	go func() {
		n, _ := control.Read(make([]byte, 1)) // until the host wants the end, or is gone
		gone.Store(hostGone)
		if n > 0 {
			gone.Store(hostKills)
		}
		for ; ; time.Sleep(5 * time.Millisecond) {
			endAll()
		}
	}()
	return child, gone, nil
}

// look finds the first limit that the processes exceed.
func (what *spec) look() *box.Exceeded {
	if e := what.tooMany(); e != nil {
		return e
	}
	pids, _ := box.Family(os.Getpid())
	return what.Limits.Look(pids)
}

// tooMany says that the kernel has refused one process more.
func (what *spec) tooMany() *box.Exceeded {
	if !group(what.Group).refused() {
		return nil
	}
	return &box.Exceeded{Limit: box.LimitProcesses, Got: int64(what.Limits.Processes+headroom) + 1, Max: int64(what.Limits.Processes)}
}

// startStep starts the child by way of a process that gives up its rights first.
func startStep(what *spec) (int, error) {
	statusR, statusW, err := os.Pipe()
	if err != nil {
		return 0, box.Fail("start", "", err)
	}
	defer statusR.Close()
	planR, planW, err := os.Pipe()
	if err != nil {
		statusW.Close()
		return 0, box.Fail("start", "", err)
	}
	defer planW.Close()
	files := append(box.Stdio(), statusW, planR)
	if what.HasExe {
		files = append(files, box.Exe())
	}
	proc, err := os.StartProcess("/proc/self/exe", []string{stepName}, &os.ProcAttr{Files: files, Env: []string{}, Dir: "/",
		Sys: &syscall.SysProcAttr{Setsid: true}})
	for _, f := range files {
		f.Close() // or the child could not end its output before it ends itself
	}
	if err != nil {
		return 0, box.Fail("start", "", err)
	}
	if err := gob.NewEncoder(planW).Encode(what); err != nil {
		return 0, box.Fail("start", "", err)
	}
	planW.Close()
	var f box.Failure
	if gob.NewDecoder(statusR).Decode(&f) == nil { // else it was executed
		return 0, &f
	}
	return proc.Pid, nil
}

// reapKept collects every process that ends; when the direct child has, it takes a last
// look, ends the others, and counts them.
func reapKept(child int, last func()) (ended syscall.WaitStatus, left int) {
	over := false
	for {
		var status syscall.WaitStatus
		flags := 0
		if over {
			flags = syscall.WNOHANG
		}
		pid, err := syscall.Wait4(-1, &status, flags, nil)
		switch {
		case err == syscall.ECHILD:
			return ended, left
		case err != nil:
		case pid == child:
			ended, over = status, true
			last()
			endAll()
		case pid == 0: // what is left is not their end yet, or their children's
			time.Sleep(time.Millisecond)
			endAll()
		case over && status.Signaled() && status.Signal() == syscall.SIGKILL:
			left++
		}
	}
}

// keptChild is the direct child, the leader of its process group.
var keptChild atomic.Int32

// endAll ends every process that descends from this one. A process group is ended in
// one step, so that even one which only forks can't outrun it; those that have left
// theirs and were forked meanwhile are found the next time.
func endAll() {
	if child := keptChild.Load(); child > 1 {
		unix.Kill(-int(child), unix.SIGKILL)
	}
	pids, groups := box.Family(os.Getpid())
	for _, group := range groups {
		if id, err := strconv.Atoi(group); err == nil && id > 1 && id != unix.Getpgrp() {
			unix.Kill(-id, unix.SIGKILL)
		}
	}
	for _, name := range pids {
		if pid, err := strconv.Atoi(name); err == nil {
			unix.Kill(pid, unix.SIGKILL)
		}
	}
}

// sweep ends the processes that a supervisor which was killed has left: those whose
// environment or working folder leads into the folder that was made for them.
func sweep(run string) (ended int) {
	if run == "" {
		return 0
	}
	for range 20 {
		found := 0
		names, _ := os.ReadDir("/proc")
		for _, e := range names {
			pid, err := strconv.Atoi(e.Name())
			if err != nil || pid == os.Getpid() || !belongs(e.Name(), run) {
				continue
			}
			if unix.Kill(pid, unix.SIGKILL) == nil {
				found++
			}
		}
		if found == 0 {
			break
		}
		ended = max(ended, found)
		time.Sleep(5 * time.Millisecond)
	}
	return ended
}

func belongs(pid, run string) bool {
	if line, _ := os.ReadFile("/proc/" + pid + "/stat"); bytes.Contains(line, []byte(") Z ")) {
		return false
	}
	for _, link := range []string{"cwd", "root"} {
		if to, err := os.Readlink("/proc/" + pid + "/" + link); err == nil && tree.Within(strings.TrimSuffix(to, " (deleted)"), run) {
			return true
		}
	}
	env, _ := os.ReadFile("/proc/" + pid + "/environ")
	return bytes.Contains(env, []byte("TMPDIR="+filepath.Join(run, "tmp")+"\x00"))
}

// runStep is the process that becomes the child.
func runStep() {
	runtime.LockOSThread()
	status := os.NewFile(3, "status")
	err := become()
	gob.NewEncoder(status).Encode(box.AsFailure("start the program", err))
	syscall.Exit(1)
}
