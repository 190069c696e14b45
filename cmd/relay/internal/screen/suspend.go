package screen

import (
	"bytes"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/sys/unix"
)

// suspender hides the region that is on the terminal before ctrl-z stops the process. There
// is one for the process, and it stays: Go gives a signal that it once caught no more back
// to the kernel.
var suspender struct {
	once sync.Once
	mu   sync.Mutex
	live *Live // on the terminal; nil for none
}

// suspends has this region hidden while the process is stopped; nil is none.
func suspends(l *Live) {
	suspender.mu.Lock()
	suspender.live = l
	suspender.mu.Unlock()
	Suspendable()
}

// Suspendable has ctrl-z stop the process at a moment when it can stop as a whole.
func Suspendable() {
	suspender.once.Do(func() {
		if signal.Ignored(syscall.SIGTSTP) { // the parent wants no stops
			return
		}
		stops := make(chan os.Signal, 1)
		signal.Notify(stops, syscall.SIGTSTP)
		go func() {
			for range stops {
				suspend()
			}
		}()
	})
}

// Foreground reports whether a terminal is this process's just now, and not the shell's after
// bg or another command's.
func Foreground(terminal int) bool {
	group, err := unix.IoctlGetInt(terminal, unix.TIOCGPGRP)
	return err != nil || group == unix.Getpgrp()
}

// Size is that of the terminal that a file is; ok is false where it is none.
func Size(f *os.File) (width, height int, ok bool) {
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0, 0, false
	}
	return int(size.Col), int(size.Row), true
}

func suspend() {
	suspender.mu.Lock()
	defer suspender.mu.Unlock()
	if suspender.live != nil {
		suspender.live.hide()
	}
	started := finishForks()
	defer started()
	// The signal of ctrl-z itself would come to us again. This one stops the process as well,
	// and like that one does nothing where no shell could have it continue.
	pause(os.Getpid(), syscall.SIGTTOU)
	if suspender.live != nil {
		suspender.live.show()
	}
}

// finishForks waits until no program is being started, and keeps others from being started until release is called.
// The terminal's signal also stops a child that has not come to its exec. The thread that forked waits for that and
// can't stop, so neither can the process, and the shell waits for both for ever: such a child has to continue first.
func finishForks() (release func()) {
	for end := time.Now().Add(stopsWithin); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if syscall.ForkLock.TryLock() {
			return syscall.ForkLock.Unlock
		}
		for _, pid := range stoppedForks() {
			_ = syscall.Kill(pid, syscall.SIGCONT)
		}
	}
	return func() {}
}

// stoppedForks lists the children that are stopped and still have our command line, since nothing has taken our place
// in them. Where there is no /proc there are none, and no need: only Linux has a thread wait so. It allocates little,
// since a garbage collection would wait for that thread, too.
func stoppedForks() (pids []int) {
	ours, _ := os.ReadFile("/proc/self/cmdline")
	threads, _ := os.ReadDir("/proc/self/task")
	for _, thread := range threads {
		children, _ := os.ReadFile("/proc/self/task/" + thread.Name() + "/children")
		for pid := range strings.FieldsSeq(string(children)) {
			stat, _ := os.ReadFile("/proc/" + pid + "/stat")
			theirs, _ := os.ReadFile("/proc/" + pid + "/cmdline")
			if n, err := strconv.Atoi(pid); err == nil && bytes.Contains(stat, []byte(") T ")) && bytes.Equal(ours, theirs) {
				pids = append(pids, n)
			}
		}
	}
	return pids
}

// stopsWithin is how long it takes a process at most to stop once it was told to.
const stopsWithin = 2 * time.Second

// pause stops the process by a signal, and comes back when it continues.
func pause(whom int, by syscall.Signal) {
	goesOn := make(chan os.Signal, 1)
	signal.Notify(goesOn, syscall.SIGCONT)
	defer signal.Stop(goesOn)
	if syscall.Kill(whom, by) != nil {
		return
	}
	select {
	case <-goesOn:
	case <-time.After(stopsWithin): // nothing stopped us
	}
}

// toShell leaves the whole screen to the shell until it gives it back.
type toShell struct{}

func (toShell) SetStdin(io.Reader)  {}
func (toShell) SetStdout(io.Writer) {}
func (toShell) SetStderr(io.Writer) {}

// Run implements tea.ExecCommand.
func (toShell) Run() error {
	started := finishForks()
	defer started()
	pause(0, syscall.SIGTSTP) // with all that it has started
	return nil
}

// background stops the program of relay watch as ctrl-z stops others.
func background() tea.Cmd { return tea.Exec(toShell{}, func(error) tea.Msg { return did("") }) }
