package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/paxiom/relay/fleet/internal/runner"
)

// newUpCmd starts a server of one machine and one worker, for trying the fleet.
func newUpCmd(e *engine) *cobra.Command {
	var db string
	o := &workerOptions{}
	cmd := &cobra.Command{
		Use:     "up",
		Short:   "A server on this machine, with its state in a file, and one worker",
		Example: "relay fleet up",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if db == "" {
				db = dataDir("server.db")
			}
			ctx, cancel := context.WithCancelCause(cmd.Context())
			defer cancel(nil)
			ended, err := startServer(ctx, e.address, db)
			if err != nil {
				return err
			}
			gone := make(chan struct{})
			go func() {
				cancel(fmt.Errorf("the server has ended: %w (fix: `relay fleet doctor`)", <-ended))
				close(gone)
			}()
			err = runWorker(ctx, e, o, true)
			cause := context.Cause(ctx)
			cancel(nil)
			<-gone // it writes to its database until then
			if cmd.Context().Err() == nil && cause != nil {
				return cause
			}
			return err
		},
	}
	o.flags(cmd)
	cmd.Flags().StringVar(&db, "db", "", "keep the server's state in `FILE`")
	return cmd
}

// startServer starts the server beside this program and waits until it listens. It ends with
// ctx, and with this process however that ends.
func startServer(ctx context.Context, address, db string) (<-chan error, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	program := filepath.Join(filepath.Dir(self), "relay-fleet-server")
	if _, err := os.Stat(program); err != nil {
		return nil, fmt.Errorf("there is no %s (fix: `make fleet` in relay's sources builds it, once)", program)
	}
	if c, err := net.DialTimeout("tcp", address, time.Second); err == nil {
		c.Close()
		return nil, fmt.Errorf("something listens at %s (fix: `relay fleet worker` where that is a Temporal server, or another --address)", address)
	}
	if err := os.MkdirAll(filepath.Dir(db), 0o700); err != nil {
		return nil, err
	}
	server := exec.CommandContext(ctx, program, "--db", db, "--address", address)
	log, err := os.OpenFile(db+".log", os.O_CREATE|os.O_TRUNC|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	server.Stderr = log
	server.SysProcAttr = runner.Group(syscall.SIGTERM)
	server.Cancel = func() error { return server.Process.Signal(syscall.SIGTERM) }
	server.WaitDelay = 10 * time.Second
	if err := server.Start(); err != nil {
		return nil, err
	}
	ended := make(chan error, 1)
	go func() { ended <- errors.Join(server.Wait(), ctx.Err()) }()
	for wait := time.NewTimer(time.Minute); ; {
		if c, err := net.DialTimeout("tcp", address, time.Second); err == nil {
			c.Close()
			return ended, nil
		}
		select {
		case err := <-ended:
			said, _ := os.ReadFile(log.Name())
			if _, why, ok := bytes.Cut(said, []byte("error: ")); ok {
				why, _, _ = bytes.Cut(why, []byte("\n"))
				return nil, fmt.Errorf("the server does not start: %s", why)
			}
			return nil, fmt.Errorf("the server does not start: %w (fix: `tail %s` shows what it said)", err, log.Name())
		case <-wait.C:
			return nil, errors.New("the server does not listen after a minute")
		case <-time.After(50 * time.Millisecond):
		}
	}
}
