package launch

import (
	"cmp"
	"context"
	"fmt"
	"os/exec"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	goplugrunner "github.com/hashicorp/go-plugin/runner"
	"google.golang.org/grpc"

	"github.com/paxiom/relay/sdk/mtls"
	"github.com/paxiom/relay/sdk/socket"
)

const (
	defaultStart  = 10 * time.Second
	defaultStderr = 16 << 20
	defaultMsg    = 2 << 20
	// killGrace is what go-plugin's own shutdown gets before the group is killed.
	killGrace = time.Second
	// giveUp is what a killed process gets to be gone: longer only when the kernel
	// itself holds it (a dead network file system).
	giveUp = 3 * time.Second
)

// Client is a started plugin.
type Client struct {
	r      *runner
	client *goplugin.Client // nil for one that was attached
	conn   *grpc.ClientConn
	once   sync.Once
}

// Start checks the file, starts the process and connects. The error is an *Error;
// nothing is left of the process then. When ctx ends before Start returns, the
// process is killed; afterwards ctx has no meaning.
func Start(ctx context.Context, cfg Config) (*Client, error) {
	cfg.defaults()
	if ctx.Err() != nil {
		return nil, &Error{Kind: Cancelled, What: fmt.Sprintf("the start of plugin %s was canceled", cfg.Name), Err: ctx.Err()}
	}
	priv, err := cfg.private()
	if err != nil {
		return nil, &Error{Kind: Machine, What: fmt.Sprintf("plugin %s was not started: no folder for its sockets", cfg.Name),
			Why: err.Error(), Fix: "`ls -ld /tmp/relay-*` shows who made the folder; remove it, or set XDG_RUNTIME_DIR", Err: err}
	}
	becomeSubreaper()
	c := &Client{r: newRunner(cfg, priv)}
	bad := (*Error)(nil)
	if cfg.Attach != nil {
		bad = c.attach(ctx, cfg.Attach)
	} else {
		bad = c.connect(ctx)
	}
	if bad != nil {
		return nil, bad
	}
	return c, nil
}

func (c *Config) defaults() {
	c.StartTimeout = cmp.Or(c.StartTimeout, defaultStart)
	c.StderrLimit = cmp.Or(c.StderrLimit, defaultStderr)
	c.MaxMessage = cmp.Or(c.MaxMessage, defaultMsg)
	if c.Start == nil {
		c.Start = startPlain
	}
}

func (c *Config) private() (*private, error) {
	base := c.SocketDir
	if base == "" {
		var err error
		if base, err = DefaultSocketDir(); err != nil {
			return nil, err
		}
	}
	return newPrivate(base, "tmp", "cwd")
}

// connect starts the process by way of go-plugin and waits for the connection. All
// of it ends when ctx or the start timeout does, because the process is killed then.
func (c *Client) connect(ctx context.Context) *Error {
	r := c.r
	exe, bad := r.cfg.open()
	if bad != nil {
		r.priv.remove()
		return bad
	}
	r.exe = exe
	defer exe.Close()
	secure, cert, err := mtls.Host()
	if err != nil {
		r.priv.remove()
		return r.cfg.execError(err)
	}
	c.client = goplugin.NewClient(&goplugin.ClientConfig{
		HandshakeConfig:  r.cfg.Handshake,
		VersionedPlugins: r.cfg.Versions,
		RunnerFunc: func(_ hclog.Logger, cmd *exec.Cmd, dir string) (goplugrunner.Runner, error) {
			r.env = append(cmd.Env, mtls.Variable+"="+cert)
			var err error
			r.folder, err = socket.Open(dir)
			return adapter{r}, err
		},
		AllowedProtocols: []goplugin.Protocol{goplugin.ProtocolGRPC},
		TLSConfig:        secure,
		SkipHostEnv:      true,
		StartTimeout:     r.cfg.StartTimeout + killGrace, // ours comes first, and kills
		Logger:           hclog.NewNullLogger(),
		SyncStdout:       r.sink,
		SyncStderr:       r.sink,
		UnixSocketConfig: &goplugin.UnixSocketConfig{TempDir: r.priv.path},
		GRPCDialOptions:  append(bounded(r.cfg.MaxMessage), grpc.WithContextDialer(r.dial)),
	})
	timer := time.AfterFunc(r.cfg.StartTimeout, func() { r.timedOut.Store(true); r.kill() })
	stop := context.AfterFunc(ctx, r.kill)
	proto, err := c.client.Client()
	if err == nil {
		c.conn = proto.(*goplugin.GRPCClient).Conn
		err = ready(ctx, c.conn)
	}
	timer.Stop()
	stop()
	if err == nil && !r.killed.Load() {
		return nil
	}
	started := r.started()
	if ctx.Err() == nil && !r.timedOut.Load() {
		r.settle()
	}
	c.end(0)
	switch {
	case !started && ctx.Err() == nil && !r.timedOut.Load():
		return r.cfg.execError(err)
	}
	return r.startError(ctx.Err(), err)
}

// Conn is the connection to the plugin.
func (c *Client) Conn() *grpc.ClientConn { return c.conn }

// Protocol is the protocol version that both sides speak.
func (c *Client) Protocol() int {
	if at := c.r.cfg.Attach; at != nil {
		return at.Protocol
	}
	return c.client.NegotiatedVersion()
}

// Pid is the plugin's process id.
func (c *Client) Pid() int {
	if at := c.r.cfg.Attach; at != nil {
		return at.Pid
	}
	return c.r.pid()
}

// Private is the folder of the plugin's sockets and temporary files. It goes with
// the plugin.
func (c *Client) Private() string { return c.r.priv.path }

// Gone is closed when the process and all that it left behind have ended, and all
// that it wrote has been read.
func (c *Client) Gone() <-chan struct{} { return c.r.done }

// Exit says how the process ended, for example "exit status 2"; "" while it lives.
func (c *Client) Exit() string { return c.r.exitText() }

// Tail gives the last lines that the plugin wrote, at most limit bytes; all of them
// once Gone is closed.
func (c *Client) Tail(limit int) string { return c.r.Tail(limit) }

// Panic gives the first line of a panic on standard error and the goroutine that it
// names; "" when there is none.
func (c *Client) Panic() (line, stack string) { return c.r.Panic() }

// Kill ends the process and its group at once. Stop must still be called.
func (c *Client) Kill() { c.r.kill() }

// Stop ends the plugin: drain, which may be nil, is asked to end it in good order
// within grace; then go-plugin's shutdown; then the whole group is killed. It
// returns within grace and about a second, whatever the plugin does, and says how
// many processes the plugin had left behind, which were ended too. Only the first
// call does anything; the others wait for it.
func (c *Client) Stop(grace time.Duration, drain func(context.Context) error) (left int) {
	c.once.Do(func() {
		if drain != nil && grace > 0 && c.Exit() == "" {
			ctx, cancel := context.WithTimeout(context.Background(), grace)
			err := drain(ctx)
			if err != nil && ctx.Err() != nil {
				c.r.kill() // it does not even answer: no use in asking again
			}
			cancel()
		}
		last := killGrace
		if grace > 0 { // a caller in a hurry gave little, and gets it twice at most
			last = min(last, grace)
		}
		c.end(last)
	})
	select {
	case <-c.r.done:
		return c.r.left
	default:
		return 0
	}
}

// close lets go-plugin close down; who was attached only loses the connection.
func (c *Client) close() {
	if c.client != nil {
		c.client.Kill()
	} else if c.conn != nil {
		c.conn.Close()
	}
}

// end lets go-plugin close down, bounded by grace, and takes everything away. A
// process that never started has nothing to wait for.
func (c *Client) end(grace time.Duration) {
	if grace == 0 {
		c.r.kill()
	}
	closed := make(chan struct{})
	go func() { c.close(); close(closed) }()
	select {
	case <-closed:
	case <-time.After(grace):
		c.r.kill()
		select {
		case <-closed:
		case <-time.After(giveUp):
		}
	}
	if c.r.started() {
		c.r.kill()
		select {
		case <-c.r.done:
		case <-time.After(giveUp):
		}
	}
	if c.r.folder != nil {
		c.r.folder.Close()
	}
	c.r.priv.remove()
}
