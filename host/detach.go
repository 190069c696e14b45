package host

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/beneath"
	"github.com/paxiom/relay/judge"
)

// Detached is a loop that continues without the terminal that it was started in.
type Detached struct {
	Doc
	PID  int    `json:"pid,omitempty"` // 0: it has ended already
	Log  string `json:"log"`           // what it prints
	Next string `json:"next,omitempty"`
	// ExitCode is 0 while it runs, and its own when it has ended already.
	ExitCode int `json:"exit_code"`
}

// Detach starts this program with args, a loop, in a session of its own, and returns once
// the loop works or has ended.
func (r *Repo) Detach(ctx context.Context, args []string) (*Detached, error) {
	o, err := r.Open()
	if err != nil {
		return nil, err
	}
	if there := new(StopResult); there.find(o.WS) == nil && there.LoopID != "" { // its log is that file
		return nil, diag.New(judge.BlockedLockHeld, "a loop is already running here", "it is process "+strconv.Itoa(there.PID), "`relay watch`")
	}
	at, err := r.Scratch("logs/detached.log")
	if err != nil {
		return nil, err
	}
	cant := func(err error) error {
		return diag.Wrap(err, "", "the loop can't be started in the background", "`ls -ld "+diag.Word(filepath.Dir(at))+"`")
	}
	log, err := os.OpenFile(at, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, cant(err)
	}
	defer log.Close()
	self, err := os.Executable()
	if err != nil {
		return nil, cant(err)
	}
	cmd := exec.Command(self, args...) // no context: it outlives this process
	cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = log, log, &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, cant(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	d := &Detached{Doc: DocOf("relay.detached", 1), PID: cmd.Process.Pid, Log: at, Next: "`relay watch`, and `relay stop` ends it"}
	for {
		now := &StopResult{}
		if err := now.find(o.WS); err == nil && now.LoopID != "" && now.PID == d.PID {
			return d, nil
		}
		select {
		case err := <-ended:
			if state := new(exec.ExitError); err != nil && !errors.As(err, &state) {
				return nil, cant(err)
			}
			d.PID, d.Next, d.ExitCode = 0, "", cmd.ProcessState.ExitCode()
			return d, nil
		case <-ctx.Done():
			_ = cmd.Process.Signal(syscall.SIGTERM) // it has perhaps just ended
			return nil, context.Cause(ctx)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Printed returns what a detached loop has printed, up to a megabyte.
func (d *Detached) Printed() ([]byte, error) { return beneath.ReadPlain(d.Log, 1<<20) }
