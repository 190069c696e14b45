//go:build !linux

package launch

import (
	"os/exec"
	"sync"
	"syscall"
)

// plain executes the path: these systems can't execute an open file. What the file
// was when it was checked may have changed since. Strays in sessions of their own
// are not found.
type plain struct {
	cmd    *exec.Cmd
	mu     sync.Mutex
	reaped bool
}

func startPlain(s StartSpec) (Process, error) {
	cmd := exec.Command(s.Path)
	cmd.Args, cmd.Env, cmd.Dir = s.Argv, s.Env, s.Dir
	cmd.Stdin, cmd.Stdout, cmd.Stderr = s.Stdin, s.Stdout, s.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &plain{cmd: cmd}, nil
}

func (p *plain) Pid() int { return p.cmd.Process.Pid }

func (p *plain) Wait() error {
	err := p.cmd.Wait()
	p.Kill()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reaped = true
	return err
}

func (p *plain) Kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.reaped {
		syscall.Kill(-p.Pid(), syscall.SIGKILL)
	}
}

func becomeSubreaper() {}

// descends is not asked here: see package socket.
func descends(int, int) bool { return true }

func limit(int) {}
