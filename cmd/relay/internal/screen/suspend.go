package screen

import (
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"
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

func suspend() {
	suspender.mu.Lock()
	defer suspender.mu.Unlock()
	if suspender.live != nil {
		suspender.live.hide()
	}
	// The signal of ctrl-z itself would come to us again. This one stops the process as well,
	// and like that one does nothing where no shell could have it go on.
	pause(func() error { return syscall.Kill(os.Getpid(), syscall.SIGTTOU) })
	if suspender.live != nil {
		suspender.live.show()
	}
}

// stopsWithin is how long it takes a process at most to stop once it was told to.
const stopsWithin = 2 * time.Second

// pause stops the process, and comes back when it goes on.
func pause(stop func() error) {
	goesOn := make(chan os.Signal, 1)
	signal.Notify(goesOn, syscall.SIGCONT)
	defer signal.Stop(goesOn)
	if stop() != nil {
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
	pause(func() error { return syscall.Kill(0, syscall.SIGTSTP) })
	return nil
}

// background stops the program of relay watch as ctrl-z stops others.
func background() tea.Cmd { return tea.Exec(toShell{}, func(error) tea.Msg { return did("") }) }
