package sdk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	plugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/paxiom/relay/sdk/internal/proctree"
)

// serveDebug serves hosts that come and go until the developer who started the plugin
// ends it: in a debugger, with what it prints on the terminal. Nothing of the process's
// own streams and environment is touched, and there is no TLS, which a host hands over
// only to a process that it starts: the socket is in a folder of this user alone.
func (s *server) serveDebug(ctx context.Context, stderr io.Writer) int {
	failed := func(err error) int {
		fmt.Fprintf(stderr, "relay-plugin-%s can't wait for relay: %v\n", s.info.Name, err)
		return 1
	}
	dir, err := socketDir()
	if err != nil {
		return failed(err)
	}
	defer os.RemoveAll(dir)
	if err := os.Setenv(plugin.EnvUnixSocketDir, dir); err != nil {
		return failed(err)
	}
	s.debug = true
	log := newLogs(stderr, true)
	proctree.AdoptOrphans()
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	config := make(chan *plugin.ReattachConfig, 1)
	served := make(chan struct{})
	go plugin.Serve(&plugin.ServeConfig{
		HandshakeConfig:  Handshake,
		VersionedPlugins: pluginSet(s),
		Logger:           log.internal,
		GRPCServer:       func(opts []grpc.ServerOption) *grpc.Server { return grpcServer(opts) },
		Test:             &plugin.ServeTestConfig{Context: ctx, ReattachConfigCh: config, CloseCh: served},
	})
	select {
	case <-served:
		why, _ := log.lastError.Load().(string)
		return failed(errors.New(why))
	case c := <-config:
		at := Reattach{Name: s.info.Name, Version: s.info.Version, Protocol: string(c.Protocol), ProtocolVersion: c.ProtocolVersion,
			Network: c.Addr.Network(), Address: c.Addr.String(), Pid: c.Pid}
		file, err := ReattachFile(s.info.Name)
		if err == nil {
			err = at.write(file)
		}
		if err != nil {
			return failed(err)
		}
		defer at.remove(file)
		fmt.Fprintf(stderr, "relay-plugin-%[1]s %[2]s waits for relay as process %[3]d. In another terminal:\n\n  relay --reattach %[1]s run\n\nIt ends with Ctrl-C.\n",
			s.info.Name, s.info.Version, c.Pid)
	}
	<-served
	s.stop(0, cancelTime)
	proctree.EndChildren(killTime)
	return 0
}

// socketDir makes a folder of this user alone that is near enough for a socket: its whole
// path has at most 107 bytes, 103 on macOS.
func socketDir() (string, error) {
	const longest = 103 - len("/plugin4294967295")
	dir, err := os.MkdirTemp("", "relay-debug-")
	if err == nil && len(dir) > longest {
		os.Remove(dir)
		dir, err = os.MkdirTemp("/tmp", "relay-debug-")
	}
	return dir, err
}

// renew makes the plugin ready for the next host, after a Drain.
func (s *server) renew() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.draining, s.configured, s.ready = false, false, false
	s.work, s.cancel = context.WithCancel(context.Background())
}
