package screen

import (
	"io"
	"os"
	"os/signal"
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

// suspendable has this region hidden while the process is stopped; nil is none.
func suspendable(l *Live) {
	suspender.mu.Lock()
	suspender.live = l
	suspender.mu.Unlock()
	suspender.once.Do(func() {
		if signal.Ignored(syscall.SIGTSTP) { // whoever started us wants no stops
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

func suspend() {
	suspender.mu.Lock()
	defer suspender.mu.Unlock()
	if suspender.live != nil {
		suspender.live.hide()
	}
	// The signal of ctrl-z itself would come to us again. This one stops the process as well,
	// and like that one does nothing where no shell could have it go on.
	pause(os.Getpid(), syscall.SIGTTOU)
	if suspender.live != nil {
		suspender.live.show()
	}
}

// stopsWithin is how long it takes a process at most to stop once it was told to.
const stopsWithin = 2 * time.Second

// pause stops the process by a signal, and comes back when it goes on.
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
	pause(0, syscall.SIGTSTP) // with all that it has started
	return nil
}

// background stops the program of relay watch as ctrl-z stops others.
func background() tea.Cmd { return tea.Exec(toShell{}, func(error) tea.Msg { return did("") }) }
