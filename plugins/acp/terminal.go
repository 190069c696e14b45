package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"unicode/utf8"

	acp "github.com/coder/acp-go-sdk"

	"github.com/paxiom/relay/sdk"
)

const (
	// maxTerminals bounds the commands that run at once.
	maxTerminals = 32
	// maxKept is how much of a command's output is kept when the agent names no limit.
	maxKept = 1 << 20
)

// terminal is a command that runs, or has run, for the agent.
type terminal struct {
	cancel context.CancelFunc
	done   chan struct{}

	mu   sync.Mutex
	kept []byte
	cut  bool
	max  int
	exit acp.TerminalExitStatus
}

// plain are the variables that a command gets of ours: none of the agent's keys.
var plain = []string{"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "TZ", "TMPDIR"}

// CreateTerminal starts a command in the workspace.
func (c *client) CreateTerminal(_ context.Context, r acp.CreateTerminalRequest) (acp.CreateTerminalResponse, error) {
	if !c.Terminal {
		return acp.CreateTerminalResponse{}, acp.NewMethodNotFound(acp.ClientMethodTerminalCreate)
	}
	dir := c.dir
	if r.Cwd != nil && *r.Cwd != "" {
		if _, err := c.local(*r.Cwd); err != nil {
			return acp.CreateTerminalResponse{}, err
		}
		dir = *r.Cwd
	}
	t := &terminal{done: make(chan struct{}), max: maxKept}
	if r.OutputByteLimit != nil && *r.OutputByteLimit >= 0 {
		t.max = min(*r.OutputByteLimit, maxKept)
	}
	ctx, cancel := context.WithCancel(context.Background()) // the terminal outlives the request; close ends it
	t.cancel = cancel
	id, err := c.keep(t)
	if err != nil {
		cancel()
		return acp.CreateTerminalResponse{}, err
	}
	shown := append([]string{r.Command}, r.Args...)
	c.out.Command(sdk.Command{Argv: shown})
	c.running.Go(func() {
		defer close(t.done)
		defer cancel()
		res, err := sdk.RunCLI(ctx, sdk.CLI{Path: "/bin/sh", Args: script(r), Dir: dir, Env: environment(r.Env), OnLine: t.take})
		t.end(res)
		if code := res.ExitCode; err == nil {
			c.out.Command(sdk.Command{Argv: shown, ExitCode: &code})
		}
	})
	return acp.CreateTerminalResponse{TerminalId: id}, nil
}

// script runs a command with both of its outputs in one. A command that is no program
// and has no arguments is a line for a shell.
func script(r acp.CreateTerminalRequest) []string {
	if _, err := exec.LookPath(r.Command); err != nil && len(r.Args) == 0 {
		return []string{"-c", "exec 2>&1\n" + r.Command}
	}
	return append([]string{"-c", `exec "$@" 2>&1`, "sh", r.Command}, r.Args...)
}

func environment(more []acp.EnvVariable) []string {
	var env []string
	for _, name := range plain {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	for _, v := range more {
		env = append(env, v.Name+"="+v.Value)
	}
	return env
}

func (c *client) keep(t *terminal) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || len(c.terminals) >= maxTerminals {
		return "", errors.New("no more terminals")
	}
	if c.terminals == nil {
		c.terminals = map[string]*terminal{}
	}
	c.acted = true
	c.next++
	id := fmt.Sprintf("terminal-%d", c.next)
	c.terminals[id] = t
	return id, nil
}

func (c *client) terminal(id string) (*terminal, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t := c.terminals[id]; t != nil {
		return t, nil
	}
	return nil, errors.New("there is no terminal " + clip(id, 100))
}

// take keeps the end of the output.
func (t *terminal) take(line []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(append(t.kept, line...), '\n')
	if len(t.kept) > 2*t.max { // seldom, since it copies
		t.trim()
	}
}

func (t *terminal) trim() {
	over := len(t.kept) - t.max
	if over <= 0 {
		return
	}
	for over < len(t.kept) && !utf8.RuneStart(t.kept[over]) {
		over++
	}
	t.kept, t.cut = append([]byte(nil), t.kept[over:]...), true
}

func (t *terminal) end(res sdk.CLIResult) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if res.Signal != 0 {
		name := res.Signal.String()
		t.exit.Signal = &name
		return
	}
	t.exit.ExitCode = &res.ExitCode
}

func (t *terminal) ended() bool {
	select {
	case <-t.done:
		return true
	default:
		return false
	}
}

// TerminalOutput gives what a command printed so far.
func (c *client) TerminalOutput(_ context.Context, r acp.TerminalOutputRequest) (acp.TerminalOutputResponse, error) {
	t, err := c.terminal(r.TerminalId)
	if err != nil {
		return acp.TerminalOutputResponse{}, err
	}
	ended := t.ended()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.trim()
	out := acp.TerminalOutputResponse{Output: strings.ToValidUTF8(string(t.kept), "\uFFFD"), Truncated: t.cut}
	if ended {
		exit := t.exit
		out.ExitStatus = &exit
	}
	return out, nil
}

// WaitForTerminalExit waits for a command's end.
func (c *client) WaitForTerminalExit(ctx context.Context, r acp.WaitForTerminalExitRequest) (acp.WaitForTerminalExitResponse, error) {
	t, err := c.terminal(r.TerminalId)
	if err != nil {
		return acp.WaitForTerminalExitResponse{}, err
	}
	select {
	case <-t.done:
		return acp.WaitForTerminalExitResponse{ExitCode: t.exit.ExitCode, Signal: t.exit.Signal}, nil
	case <-ctx.Done():
		return acp.WaitForTerminalExitResponse{}, ctx.Err()
	}
}

// KillTerminal ends a command; what it printed can still be read.
func (c *client) KillTerminal(_ context.Context, r acp.KillTerminalRequest) (acp.KillTerminalResponse, error) {
	t, err := c.terminal(r.TerminalId)
	if err == nil {
		t.cancel()
		<-t.done
	}
	return acp.KillTerminalResponse{}, err
}

// ReleaseTerminal ends a command and forgets it.
func (c *client) ReleaseTerminal(_ context.Context, r acp.ReleaseTerminalRequest) (acp.ReleaseTerminalResponse, error) {
	t, err := c.terminal(r.TerminalId)
	if err == nil {
		t.cancel()
		c.mu.Lock()
		delete(c.terminals, r.TerminalId)
		c.mu.Unlock()
	}
	return acp.ReleaseTerminalResponse{}, err
}

// close ends every command that is left.
func (c *client) close() {
	c.mu.Lock()
	c.closed = true
	for _, t := range c.terminals {
		t.cancel()
	}
	c.mu.Unlock()
	c.running.Wait()
}
