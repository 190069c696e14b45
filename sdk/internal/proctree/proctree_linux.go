package proctree

import (
	"bytes"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// AdoptOrphans makes this process the parent of all of its descendants whose own
// parent is gone, also of those that started a session of their own.
var AdoptOrphans = sync.OnceFunc(func() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) })

// AwaitExit returns when the process has ended and leaves it as a zombie, so that its
// process group's number stays its own.
func AwaitExit(cmd *exec.Cmd) {
	for unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
}

// proc is one line of the process table.
type proc struct {
	pid, parent, group, session int
	zombie                      bool
}

// processes reads /proc. It is empty where there is none.
func processes() map[int]proc {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	all := make(map[int]proc, len(names))
	for _, n := range names {
		pid, err := strconv.Atoi(n)
		if err != nil {
			continue
		}
		stat, err := os.ReadFile("/proc/" + n + "/stat")
		if err != nil {
			continue
		}
		if p, ok := parseStat(pid, string(stat)); ok {
			all[pid] = p
		}
	}
	return all
}

// parseStat reads "pid (name) state ppid pgrp session …"; the name may hold anything.
func parseStat(pid int, stat string) (proc, bool) {
	f := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(f) < 4 {
		return proc{}, false
	}
	p := proc{pid: pid, zombie: f[0] == "Z" || f[0] == "X"}
	var errs [3]error
	p.parent, errs[0] = strconv.Atoi(f[1])
	p.group, errs[1] = strconv.Atoi(f[2])
	p.session, errs[2] = strconv.Atoi(f[3])
	return p, errs == [3]error{}
}

// marked reports whether a process was started with the given NAME=value.
func marked(pid int, marker string) bool {
	env, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	return err == nil && bytes.Contains(append([]byte{0}, env...), []byte("\x00"+marker+"\x00"))
}

// Living gives the processes that carry the marker NAME=value in their environment or
// descend from root, with their command lines. The dead and root itself are left out.
func Living(marker string, root int) map[int]string {
	found := map[int]string{}
	for _, p := range belonging(marker, root) {
		line, _ := os.ReadFile("/proc/" + strconv.Itoa(p.pid) + "/cmdline")
		found[p.pid] = strings.TrimSpace(strings.ReplaceAll(string(line), "\x00", " "))
	}
	return found
}

// KillAll kills what Living finds.
func KillAll(marker string, root int) {
	killUntilNone(time.Second, true, func() []proc { return belonging(marker, root) })
}

func belonging(marker string, root int) (found []proc) {
	all := processes()
	for pid, p := range all {
		if pid != root && pid != os.Getpid() && !p.zombie && (descends(all, p, root) || marked(pid, marker)) {
			found = append(found, p)
		}
	}
	return found
}

// killUntilNone kills what find gives, again and again, until it gives nothing that
// lives or the time is over. It reaps those dead that are ours when reap is set. It
// says how many it killed.
func killUntilNone(limit time.Duration, reap bool, find func() []proc) int {
	killed := map[int]bool{}
	for end := time.Now().Add(limit); ; time.Sleep(3 * time.Millisecond) {
		left := 0
		for _, p := range find() {
			switch {
			case !p.zombie:
				left++
				if unix.Kill(p.pid, unix.SIGKILL) == nil {
					killed[p.pid] = true
				}
			case reap && p.parent == os.Getpid():
				// It is looked for once more: a process is shown as dead while other threads of it
				// still die, and can't be reaped until then; and its own dead children come to us.
				left++
				_, _ = unix.Wait4(p.pid, nil, unix.WNOHANG, nil)
			}
		}
		if left == 0 || time.Now().After(end) {
			if reap {
				reapUntil(end, killed)
				reapUntil(end, killed) // those that were the children of one of the first
			}
			return len(killed)
		}
	}
}

// reapUntil waits for those of the killed that are our children: a process that is
// about to die is already without the environment by which it was found.
func reapUntil(end time.Time, killed map[int]bool) {
	for pid := range killed {
		for {
			got, err := unix.Wait4(pid, nil, unix.WNOHANG, nil)
			dying := err == unix.EINTR || err == nil && got == 0
			if !dying || time.Now().After(end) {
				break
			}
			time.Sleep(time.Millisecond)
		}
	}
}

// EndStrays kills what a run of a program has left: the rest of its group, what carries
// its marker, and, when no other run is going on, what we adopted from a foreign session.
func EndStrays(leader int, marker string, alone bool) int {
	self := os.Getpid()
	return killUntilNone(time.Second, true, func() (found []proc) {
		all := processes()
		for _, p := range all {
			switch {
			case p.pid == self || p.pid == leader:
			case p.group == leader,
				!p.zombie && marked(p.pid, marker),
				alone && p.parent == self && p.session != all[self].session:
				found = append(found, p)
			}
		}
		return found
	})
}

// EndChildren kills every descendant and, when this process leads its group, the
// group's other members.
func EndChildren(limit time.Duration) {
	self := os.Getpid()
	leads := unix.Getpgrp() == self
	killUntilNone(limit, false, func() (found []proc) {
		all := processes()
		for _, p := range all {
			if p.pid != self && (leads && p.group == self || descends(all, p, self)) {
				found = append(found, p)
			}
		}
		return found
	})
}

func descends(all map[int]proc, p proc, from int) bool {
	for range len(all) {
		if p.parent == from {
			return true
		}
		next, ok := all[p.parent]
		if !ok {
			return false
		}
		p = next
	}
	return false
}
