package notify

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"strings"
	"syscall"
	"time"

	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/judge/program"
)

// Message is what the operator should know.
type Message struct {
	Title string
	Text  string
	Data  any // for the operator's own program and webhook, as JSON
}

// How long they may take.
const (
	toastTime = 3 * time.Second
	hookTime  = 10 * time.Second
)

// Send uses every way that the configuration has on. A desktop without notify-send is
// no error. Nothing is started that lies in root, the work tree.
func Send(ctx context.Context, c config.Notify, root string, environ []string, m Message) error {
	environ = program.Environ(environ, root)
	ctx = context.WithoutCancel(ctx)
	var problems []error
	if c.Desktop {
		problems = append(problems, toast(ctx, root, environ, m))
	}
	if len(c.Command) > 0 {
		problems = append(problems, hook(ctx, c.Command, root, environ, m))
	}
	for _, s := range services {
		if ref := s.ref(c); ref != nil {
			problems = append(problems, s.post(ctx, ref, root, m))
		}
	}
	return errors.Join(problems...)
}

// toast shows a message on the desktop. Its text is markup there, so it is escaped.
func toast(ctx context.Context, root string, environ []string, m Message) error {
	exe, err := program.Find("notify-send", pathOf(environ), root)
	if err != nil {
		return nil // no desktop
	}
	return run(ctx, toastTime, exe, []string{"--app-name=relay", "--", report.Safe(m.Title), html.EscapeString(report.Safe(m.Text))}, environ, nil)
}

// hook starts the operator's program.
func hook(ctx context.Context, argv []string, root string, environ []string, m Message) error {
	b, err := json.Marshal(m.Data)
	if err != nil {
		return err
	}
	exe, err := program.Command(argv, pathOf(environ), root)
	if errors.Is(err, program.ErrRelative) {
		return fmt.Errorf("notify.command %s: %w: write the whole path into the configuration", argv[0], err)
	}
	if err != nil {
		return fmt.Errorf("notify.command %s: %w", argv[0], err)
	}
	if err := run(ctx, hookTime, exe, argv[1:], environ, append(report.Printed(b), '\n')); err != nil {
		return fmt.Errorf("notify.command %s: %w", argv[0], err)
	}
	return nil
}

// run starts a program in a process group of its own, and ends all of it in time.
func run(ctx context.Context, limit time.Duration, exe program.Program, args, environ []string, stdin []byte) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exe.Start(ctx, args...)
	cmd.Env, cmd.Dir, cmd.Stdin = append(environ[:len(environ):len(environ)], "PWD=/"), "/", bytes.NewReader(stdin)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	if ctx.Err() != nil {
		return fmt.Errorf("it did not end within %v", limit)
	}
	return err
}

// pathOf is the PATH of an environment.
func pathOf(environ []string) string {
	path := ""
	for _, kv := range environ {
		if v, ok := strings.CutPrefix(kv, "PATH="); ok {
			path = v
		}
	}
	return path
}
