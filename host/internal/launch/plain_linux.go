package launch

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	maxFiles   = 8192            // descriptors of a plugin, and of each process that it starts
	busyTries  = 20              // a writer's copy of the file, in a child that has not yet executed
	execTries  = 20              // of a millisecond each, for a child that is just executing
	strayLimit = 2 * time.Second // for a stray to be gone once it is killed
)

// plain is a plugin that was executed without a box, as the leader of a process
// group of its own.
type plain struct {
	cmd  *exec.Cmd
	mark []byte // every process of this plugin has it in its environment
	left int

	mu     sync.Mutex
	reaped bool // the pid may mean someone else from now on
}

// leaders are the pids that this package started and has not yet waited for. They
// are never taken for strays.
var leaders sync.Map

func startPlain(s StartSpec) (Process, error) {
	for try := 0; ; try++ {
		cmd := exec.Command(fmt.Sprintf("/proc/self/fd/%d", s.Exe.Fd()))
		cmd.Args, cmd.Env, cmd.Dir = s.Argv, s.Env, s.Dir
		cmd.Stdin, cmd.Stdout, cmd.Stderr = s.Stdin, s.Stdout, s.Stderr
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		err := cmd.Start()
		if errors.Is(err, syscall.ETXTBSY) && try < busyTries {
			time.Sleep(10 * time.Millisecond)
			continue
		}
		if err != nil {
			return nil, err
		}
		leaders.Store(cmd.Process.Pid, true)
		return &plain{cmd: cmd, mark: []byte(filepath.Base(s.Private))}, nil
	}
}

func (p *plain) Pid() int { return p.cmd.Process.Pid }

// Wait first waits without reaping: as long as the leader is a zombie, its pid and
// its group can't mean anyone else.
func (p *plain) Wait() error {
	for {
		err := unix.Waitid(unix.P_PID, p.Pid(), nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	p.Kill()
	p.left = p.strays()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reaped = true
	err := p.cmd.Wait()
	leaders.Delete(p.Pid())
	return err
}

// Owns reports whether a living process that is no descendant of the leader any more is
// the plugin's: it, or a process above it, was left to relay.
func (p *plain) Owns(pid int) bool {
	for range maxDepth {
		st, ok := readStat(pid)
		switch {
		case !ok || pid <= 1:
			return false
		case st.parent == os.Getpid():
			return p.owns(pid, map[int]bool{})
		}
		pid = st.parent
	}
	return false
}

// maxDepth bounds the walk from a process to those above it.
const maxDepth = 1000

// descends reports whether a process is of or comes from it.
func descends(pid, of int) bool {
	for range maxDepth {
		if pid == of {
			return true
		}
		st, ok := readStat(pid)
		if !ok || st.parent <= 1 {
			return false
		}
		pid = st.parent
	}
	return false
}

// Left is how many processes the plugin had left behind, after Wait.
func (p *plain) Left() int { return p.left }

// Kill ends the group, and the leader in case that it has gone to another group.
func (p *plain) Kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reaped {
		return
	}
	syscall.Kill(-p.Pid(), syscall.SIGKILL)
	syscall.Kill(p.Pid(), syscall.SIGKILL)
}

// becomeSubreaper makes orphaned descendants of plugins children of relay, where
// they can be seen and ended, instead of children of pid 1.
var becomeSubreaper = sync.OnceFunc(func() {
	unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
})

// limit bounds what the plugin may take: no core files, which would hold prompts and
// keys, and a number of descriptors. In a box this is an addition, not a need.
func limit(pid int) {
	unix.Prlimit(pid, unix.RLIMIT_CORE, &unix.Rlimit{}, nil)
	var have unix.Rlimit
	if unix.Prlimit(pid, unix.RLIMIT_NOFILE, nil, &have) == nil {
		unix.Prlimit(pid, unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: min(have.Cur, maxFiles), Max: min(have.Max, maxFiles)}, nil)
	}
}

// strays ends the processes that the plugin left behind and gives their number. The
// leader has ended, so they are children of relay now, the subreaper; their own
// children follow when they end, hence the loop.
func (p *plain) strays() (left int) {
	sessions := map[int]bool{}
	deadline := time.Now().Add(strayLimit)
	list, sure := children, false
	for {
		found := false
		for _, pid := range list() {
			if !p.owns(pid, sessions) {
				continue
			}
			found = true
			syscall.Kill(pid, syscall.SIGKILL)
			var ws syscall.WaitStatus
			if got, err := syscall.Wait4(pid, &ws, syscall.WNOHANG, nil); err == nil && got == pid && ws.Signal() == syscall.SIGKILL {
				left++
			}
		}
		switch {
		case found && time.Now().Before(deadline):
			time.Sleep(time.Millisecond)
		case found || sure:
			return left
		default: // the quick list may have passed over some
			list, sure = allChildren, true
		}
	}
}

// owns reports whether a child of relay comes from this plugin: it is in the plugin's
// group, or its environment names the plugin's private folder, or (a zombie has no
// environment) it is in the session of one whose did. Every other child is somebody's
// own, who waits for it; it is not touched.
func (p *plain) owns(pid int, sessions map[int]bool) bool {
	if _, leader := leaders.Load(pid); leader {
		return false
	}
	st, ok := readStat(pid)
	switch {
	case !ok:
		return false
	case st.group == p.Pid():
		return true
	case st.state == 'Z':
		return sessions[st.session]
	}
	if !bytes.Contains(environment(pid), p.mark) {
		return false
	}
	if own, err := unix.Getsid(0); err == nil && st.session != own {
		sessions[st.session] = true
	}
	return true
}

// environment reads what a process was started with. One that is just executing another
// program has none for a moment.
func environment(pid int) []byte {
	for range execTries {
		env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		if err != nil || len(env) > 0 {
			return env
		}
		time.Sleep(time.Millisecond)
	}
	return nil
}

// children gives the pids of this process's children, quickly; where others of them end
// meanwhile, some may be left out (proc_pid_task_children(5)).
func children() (pids []int) {
	tasks, _ := os.ReadDir("/proc/self/task")
	for _, t := range tasks {
		list, _ := os.ReadFile("/proc/self/task/" + t.Name() + "/children")
		for f := range strings.FieldsSeq(string(list)) {
			if pid, err := strconv.Atoi(f); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// allChildren asks every process of the machine for its parent.
func allChildren() (pids []int) {
	own := os.Getpid()
	names, _ := filepath.Glob("/proc/[0-9]*")
	for _, name := range names {
		pid, err := strconv.Atoi(filepath.Base(name))
		if err != nil {
			continue
		}
		if st, ok := readStat(pid); ok && st.parent == own {
			pids = append(pids, pid)
		}
	}
	return pids
}

type stat struct {
	state                  byte
	parent, group, session int
}

// readStat reads what /proc says about a process. The name may hold anything, also
// spaces and parentheses; the fields start after the last parenthesis.
func readStat(pid int) (s stat, ok bool) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	i := bytes.LastIndexByte(b, ')')
	if err != nil || i < 0 {
		return s, false
	}
	f := strings.Fields(string(b[i+1:]))
	if len(f) < 4 {
		return s, false
	}
	s.state = f[0][0]
	s.parent, _ = strconv.Atoi(f[1])
	s.group, _ = strconv.Atoi(f[2])
	s.session, _ = strconv.Atoi(f[3])
	return s, true
}
