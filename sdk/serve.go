package sdk

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	plugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/paxiom/relay/sdk/internal/proctree"
)

// Serve runs the plugin and does not return: it is the only statement of a main.
//
// Started by a host it serves until the host ends it, drains it, or is gone (its end
// of standard input closes); then it cancels the work, kills all that the plugin has
// started, and exits within 2 s. What the plugin or its children print on standard
// output goes to standard error.
//
// With --info it prints the plugin's Info as JSON (a GetInfoResponse of the protocol)
// and exits. With --debug it waits for relay in the process that it is, as in a debugger:
// see [Reattach]. Started by hand it says what it is, and exits with status 1.
func Serve(info Info, parts ...Part) { os.Exit(ServeContext(context.Background(), info, parts...)) }

// ServeContext is Serve for a main with more to do: the end of ctx ends the plugin too, as
// that of the host does, and it returns the status to exit with. The process has to exit
// with it then; 2 s after the end began it does so by itself.
func ServeContext(ctx context.Context, info Info, parts ...Part) int {
	return serve(ctx, info, parts, os.Args[1:], os.Stdout, os.Stderr)
}

func serve(ctx context.Context, info Info, parts []Part, args []string, stdout, stderr io.Writer) int {
	s, err := newServer(info, parts)
	if err != nil {
		fmt.Fprintf(stderr, "this plugin cannot be served: %v\n", err)
		return 1
	}
	arg := ""
	if len(args) > 0 {
		arg = args[0]
	}
	switch {
	case arg == "--info":
		return s.printInfo(stdout, stderr)
	case arg == "--debug":
		return s.serveDebug(ctx, stderr)
	case arg == "--version":
		fmt.Fprintf(stdout, "relay-plugin-%s %s\n", info.Name, info.Version)
		return 0
	case arg == "--help" || arg == "-h":
		s.describe(stdout)
		return 0
	case arg == "" && os.Getenv(Handshake.MagicCookieKey) == Handshake.MagicCookieValue:
		return s.serveHost(ctx)
	}
	s.describe(stderr)
	return 1
}

func (s *server) printInfo(stdout, stderr io.Writer) int {
	raw, err := protojson.Marshal(s.info)
	var out bytes.Buffer
	if err == nil {
		err = json.Indent(&out, raw, "", "  ") // protojson's own white space changes from build to build
	}
	if err == nil {
		_, err = fmt.Fprintln(stdout, out.String())
	}
	if err != nil {
		fmt.Fprintln(stderr, "cannot print the plugin's info:", err)
		return 1
	}
	return 0
}

func (s *server) describe(w io.Writer) {
	i := s.info
	fmt.Fprintf(w, "relay-plugin-%s %s", i.Name, i.Version)
	if i.Summary != "" {
		fmt.Fprintf(w, ": %s", i.Summary)
	}
	fmt.Fprintf(w, "\n\nThis is a plugin of relay. It is started by relay and does nothing by itself.\n\n"+
		"  relay-plugin-%s --info      what it offers and what it asks for, as JSON\n"+
		"  relay-plugin-%s --debug     waits for `relay --reattach %s`, for a debugger\n"+
		"  relay --dev %s=FILE run     has relay start this file, which nothing pins\n"+
		"  relay plugin list           the plugins that relay can use\n", i.Name, i.Name, i.Name, i.Name)
}

// process is the life of a plugin process under a host.
type process struct {
	s        *server
	grpc     atomic.Pointer[grpc.Server]
	finished chan struct{}
	once     sync.Once
	code     atomic.Int32
}

// Times of an end: the work gets canceled at once, and all is over within 2 s.
const (
	cancelTime = 1300 * time.Millisecond // for handlers to return
	killTime   = 300 * time.Millisecond  // for killed children to be gone
	drainDelay = 250 * time.Millisecond  // between the answer to Drain and the end
)

func (s *server) serveHost(ctx context.Context) int {
	std, err := takeStdio()
	if err != nil {
		fmt.Fprintf(os.Stderr, "relay-plugin-%s: cannot set up its input and output: %v\n", s.info.Name, err)
		return 1
	}
	log := newLogs(std.stderr, false)
	debug.SetGCPercent(400) // most plugins live for one call; the host's GOMEMLIMIT bounds it
	proctree.AdoptOrphans()
	p := &process{s: s, finished: make(chan struct{})}
	s.drained = func() { time.AfterFunc(drainDelay, func() { p.finish(0, 0) }) }
	p.watch(std.lifeline)
	defer context.AfterFunc(ctx, func() { p.finish(0, cancelTime) })()

	// go-plugin writes the handshake to os.Stdout and then puts pipes of its own in the
	// place of os.Stdout and os.Stderr. The first call puts back what is there from now
	// on: both are standard error, whole and in order also when the plugin crashes.
	out, errOut := os.Stdout, os.Stderr
	secure, handshake, err := secured(std.handshake)
	if err != nil {
		fmt.Fprintf(std.stderr, "relay-plugin-%s: %v\n", s.info.Name, err)
		return 1
	}
	os.Stdout = handshake
	restore := sync.OnceFunc(func() { os.Stdout, os.Stderr = out, errOut })
	plugin.Serve(&plugin.ServeConfig{
		HandshakeConfig:  Handshake,
		VersionedPlugins: pluginSet(s),
		Logger:           log.internal,
		TLSProvider:      secure,
		GRPCServer: func(opts []grpc.ServerOption) *grpc.Server {
			g := grpcServer(append(opts, beforeCalls(restore)...))
			p.grpc.Store(g)
			return g
		},
	})
	if p.grpc.Load() == nil {
		why, _ := log.lastError.Load().(string)
		fmt.Fprintf(std.stderr, "relay-plugin-%s could not listen for its host: %s. "+
			"A socket's path has at most 107 bytes: set TMPDIR to a short folder that can be written.\n", s.info.Name, why)
		p.code.Store(1)
	}
	p.finish(p.code.Load(), cancelTime)
	return int(p.code.Load())
}

// watch ends the plugin when the host goes or asks for it by SIGTERM. SIGINT belongs
// to the host, which ends its plugins itself; a closed standard error must not kill
// the plugin before it has killed its children.
func (p *process) watch(lifeline io.Reader) {
	if lifeline != nil {
		go func() {
			_, _ = io.Copy(io.Discard, lifeline)
			p.finish(0, cancelTime)
		}()
	}
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGPIPE)
	go func() {
		for sig := range signals {
			if sig == syscall.SIGTERM {
				go p.finish(128+int32(syscall.SIGTERM), cancelTime)
			}
		}
	}()
}

// finish ends the process once: cancel the work, kill the children, close the socket,
// exit. A second caller waits for the first.
func (p *process) finish(code int32, wait time.Duration) {
	p.once.Do(func() {
		p.code.Store(code)
		time.AfterFunc(2*time.Second-100*time.Millisecond, func() { os.Exit(int(code)) })
		p.s.stop(0, wait)
		proctree.EndChildren(killTime)
		close(p.finished)
		if g := p.grpc.Load(); g != nil {
			g.Stop() // lets plugin.Serve return, which removes the socket; main then exits
		}
	})
	<-p.finished
}
