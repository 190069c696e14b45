package launch

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"

	"google.golang.org/grpc"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/sdk/socket"
)

// Attached is a plugin that a developer has started by hand, in a debugger perhaps, and
// that waits for a host. It is not ours: it is never ended, and it lives in no box.
type Attached struct {
	Socket   string // where it listens, an absolute path
	Pid      int
	Protocol int // the version that it speaks
}

// attach connects to the plugin that waits. In its box, where it would live, a process
// that does nothing keeps its place: what a box does around a process, it does.
func (c *Client) attach(ctx context.Context, at *Attached) *Error {
	r := c.r
	if bad := r.cfg.checkAttached(at); bad != nil {
		r.priv.remove()
		return bad
	}
	exe, err := idler()
	if err == nil {
		defer exe.Close()
		r.exe, r.cfg.Path = exe, exe.Name()
		err = r.Start(ctx)
	}
	if err != nil {
		r.priv.remove()
		return r.cfg.execError(err)
	}
	c.conn, err = grpc.NewClient("passthrough:///plugin", append(bounded(r.cfg.MaxMessage), grpc.WithIdleTimeout(0),
		grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithContextDialer(at.dial))...)
	if err == nil {
		bounded, cancel := context.WithTimeout(ctx, r.cfg.StartTimeout)
		err = ready(bounded, c.conn)
		cancel()
	}
	if err != nil {
		c.end(0)
		if ctx.Err() != nil {
			return &Error{Kind: Cancelled, What: fmt.Sprintf("the call of plugin %s was canceled", r.cfg.Name), Err: ctx.Err()}
		}
		return r.cfg.nobodyWaits(at, err.Error(), err)
	}
	go func() { // without its connection it is as good as gone
		for s := connectivity.Ready; s == connectivity.Ready; s = c.conn.GetState() {
			c.conn.WaitForStateChange(context.Background(), s)
		}
		r.kill()
	}()
	return nil
}

// dial connects to the socket of the process that was named, and to nobody else's.
func (at *Attached) dial(ctx context.Context, _ string) (net.Conn, error) {
	dir, err := socket.At(filepath.Dir(at.Socket))
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return dir.Dial(ctx, filepath.Base(at.Socket), func(pid int) bool { return descends(pid, at.Pid) })
}

// checkAttached looks at the socket before anything is said to it.
func (c *Config) checkAttached(at *Attached) *Error {
	st, err := os.Lstat(at.Socket)
	if err != nil {
		return c.nobodyWaits(at, "its socket is gone", err)
	}
	switch {
	case st.Mode()&os.ModeSocket == 0 || !filepath.IsAbs(at.Socket):
		return c.nobodyWaits(at, at.Socket+" is not a socket", nil)
	case workspace.Others(at.Socket, st) == workspace.Foreign:
		return c.nobodyWaits(at, at.Socket+" belongs to another user", nil)
	case c.Versions[at.Protocol] == nil:
		return c.otherVersion(at.Protocol)
	}
	return nil
}

func (c *Config) nobodyWaits(at *Attached, why string, err error) *Error {
	return &Error{Kind: Absent, What: fmt.Sprintf("plugin %s no longer waits for relay", c.Name), Err: err,
		Why: fmt.Sprintf("it was process %d: %s", at.Pid, why), Fix: c.reinstall()}
}

// idler is a program that waits for the end of its standard input and does nothing else.
func idler() (*os.File, error) {
	path, err := exec.LookPath("cat")
	if err != nil {
		return nil, err
	}
	return os.Open(path)
}
