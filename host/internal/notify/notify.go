package notify

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/host/internal/report"
)

// Message is what the operator should know.
type Message struct {
	Title string
	Text  string
	Data  any // for the operator's own program, as JSON
}

// How long the two may take.
const (
	toastTime = 3 * time.Second
	hookTime  = 10 * time.Second
)

// Send uses every way that the configuration has on. A desktop without notify-send is
// no error.
func Send(ctx context.Context, c config.Notify, environ []string, m Message) error {
	ctx = context.WithoutCancel(ctx)
	var problems []error
	if c.Desktop {
		problems = append(problems, toast(ctx, environ, m))
	}
	if len(c.Command) > 0 {
		problems = append(problems, hook(ctx, c.Command, environ, m))
	}
	return errors.Join(problems...)
}

// toast shows a message on the desktop. Its text is markup there, so it is escaped.
func toast(ctx context.Context, environ []string, m Message) error {
	exe, err := lookPath("notify-send", environ)
	if err != nil {
		return nil // no desktop
	}
	return run(ctx, toastTime, []string{exe, "--app-name=relay", "--", report.Safe(m.Title), html.EscapeString(report.Safe(m.Text))}, environ, nil)
}

// hook starts the operator's program.
func hook(ctx context.Context, argv, environ []string, m Message) error {
	b, err := json.Marshal(m.Data)
	if err != nil {
		return err
	}
	exe, err := lookPath(argv[0], environ)
	if err != nil {
		return fmt.Errorf("notify.command %s: %w", argv[0], err)
	}
	if err := run(ctx, hookTime, append([]string{exe}, argv[1:]...), environ, append(b, '\n')); err != nil {
		return fmt.Errorf("notify.command %s: %w", argv[0], err)
	}
	return nil
}

// run starts a program in a process group of its own, and ends all of it in time.
func run(ctx context.Context, limit time.Duration, argv, environ []string, stdin []byte) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env, cmd.Stdin = environ, bytes.NewReader(stdin)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	if ctx.Err() != nil {
		return fmt.Errorf("it did not end within %v", limit)
	}
	return err
}

// lookPath searches the PATH of an environment.
func lookPath(name string, environ []string) (string, error) {
	if strings.Contains(name, "/") {
		return exec.LookPath(name)
	}
	path := ""
	for _, kv := range environ {
		if v, ok := strings.CutPrefix(kv, "PATH="); ok {
			path = v
		}
	}
	for _, dir := range strings.Split(path, ":") {
		if strings.HasPrefix(dir, "/") {
			if exe, err := exec.LookPath(dir + "/" + name); err == nil {
				return exe, nil
			}
		}
	}
	return "", exec.ErrNotFound
}
