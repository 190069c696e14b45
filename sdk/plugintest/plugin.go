package plugintest

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"

	"github.com/paxiom/relay/sdk"
	"github.com/paxiom/relay/sdk/internal/proctree"
	"github.com/paxiom/relay/sdk/mtls"
	"github.com/paxiom/relay/sdk/pluginpb"
	"github.com/paxiom/relay/sdk/socket"
)

// instance is one running plugin, in this process or in its own.
type instance struct {
	base     pluginpb.BaseClient
	provider pluginpb.ProviderClient
	builder  pluginpb.BuilderClient
	conn     *grpc.ClientConn
	dirs     dirs

	server *grpc.Server // in this process

	cmd    *exec.Cmd // in its own
	marker string
	stdin  io.Closer
	socket string         // its name in folder
	folder *socket.Folder // where it has to be
	secure *tls.Config    // for the host's certificate and the plugin's
	plain  bool           // its handshake had no certificate
	out    capture        // what came on standard output, the handshake left out
	err    capture
	exited chan struct{}
}

// dirs are the folders of one instance, all new and below root.
type dirs struct{ root, home, cwd, state, work, workspace, sockets string }

func newDirs() (dirs, error) {
	base := os.TempDir()
	if len(base) > 40 { // a socket's path has at most 107 bytes
		base = "/tmp"
	}
	root, err := os.MkdirTemp(base, "rpt")
	if err != nil {
		return dirs{}, err
	}
	d := dirs{root: root}
	for name, at := range map[string]*string{"home": &d.home, "cwd": &d.cwd, "state": &d.state, "work": &d.work, "ws": &d.workspace, "s": &d.sockets} {
		*at = filepath.Join(root, name)
		err = errors.Join(err, os.Mkdir(*at, 0o700))
	}
	return d, err
}

// capture keeps the first megabyte of an output.
type capture struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (c *capture) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if room := 1<<20 - c.b.Len(); room > 0 {
		c.b.Write(b[:min(room, len(b))])
	}
	return len(b), nil
}

func (c *capture) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.b.String()
}

func (s *Session) start(env []string, isolated bool) (*instance, error) {
	d, err := newDirs()
	if err != nil {
		return nil, err
	}
	p := &instance{dirs: d}
	s.instances = append(s.instances, p)
	const target = "passthrough:///plugin"
	opts := []grpc.DialOption{
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(sdk.MaxMessage), grpc.MaxCallSendMsgSize(sdk.MaxMessage)),
	}
	if s.cfg.Binary == "" {
		if s.cfg.Serve == nil {
			return nil, errors.New("plugintest.Config has neither Binary nor Serve")
		}
		if p.server, err = s.cfg.Serve(); err != nil {
			return nil, err
		}
		lis := bufconn.Listen(1 << 20)
		go func() { _ = p.server.Serve(lis) }()
		opts = append(opts, grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return lis.DialContext(ctx) }))
	} else if err = p.launch(s.cfg.Binary, append(bareEnv(d), env...), isolated); err != nil {
		return nil, err
	} else {
		opts = append(opts, grpc.WithContextDialer(p.dial))
		if !p.plain {
			opts[0] = grpc.WithTransportCredentials(credentials.NewTLS(p.secure))
		}
	}
	if p.conn, err = grpc.NewClient(target, opts...); err != nil {
		return nil, err
	}
	p.base, p.provider, p.builder = pluginpb.NewBaseClient(p.conn), pluginpb.NewProviderClient(p.conn), pluginpb.NewBuilderClient(p.conn)
	return p, nil
}

// bareEnv is what every plugin gets, and nothing of this process but PATH.
func bareEnv(d dirs) []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + d.home, "TMPDIR=" + d.work, "LANG=C.UTF-8",
		sdk.Handshake.MagicCookieKey + "=" + sdk.Handshake.MagicCookieValue,
		fmt.Sprintf("PLUGIN_PROTOCOL_VERSIONS=%d", sdk.ProtocolVersion), "PLUGIN_UNIX_SOCKET_DIR=" + d.sockets,
		"RELAY_RUN_ID=conformance", "RELAY_LOG_LEVEL=debug",
		"GORACE=atexit_sleep_ms=0", // a plugin built with -race would sleep 1 s before each exit
	}
}

// handshakeTime bounds the start of a binary.
const handshakeTime = 30 * time.Second

// launch starts the binary and reads its handshake.
func (p *instance) launch(binary string, env []string, isolated bool) error {
	binary, err := filepath.Abs(binary)
	if err != nil {
		return err
	}
	if p.folder, err = socket.Open(p.dirs.sockets); err != nil {
		return err
	}
	var cert string
	if p.secure, cert, err = mtls.Host(); err != nil {
		return err
	}
	p.marker = "PLUGINTEST=" + filepath.Base(p.dirs.root)
	env = append(env, mtls.Variable+"="+cert, p.marker)
	stdout, err := p.start(binary, env, isolated)
	if err != nil && isolated { // this machine has no unprivileged namespaces
		stdout, err = p.start(binary, env, false)
	}
	if err != nil {
		return fmt.Errorf("the plugin cannot be started: %w", err)
	}
	select {
	case line := <-p.await(stdout):
		return p.handshake(line)
	case <-time.After(handshakeTime):
		return &handshakeError{stderr: p.err.String()}
	}
}

// start runs the binary in a process group of its own.
func (p *instance) start(binary string, env []string, isolated bool) (stdout io.Reader, err error) {
	cmd := exec.Command(binary)
	cmd.Env, cmd.Dir, cmd.Stderr = env, p.dirs.cwd, &p.err
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = time.Second
	if isolated {
		isolate(cmd)
	}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if stdout, err = cmd.StdoutPipe(); err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p.cmd, p.stdin, p.exited = cmd, stdin, make(chan struct{})
	return stdout, nil
}

// await gives the first line on standard output, keeps what comes after it, and closes
// p.exited when the process has ended.
func (p *instance) await(stdout io.Reader) <-chan string {
	lines := make(chan string, 1)
	read := make(chan struct{})
	go func() {
		defer close(read)
		r := bufio.NewReader(stdout)
		line, _ := r.ReadString('\n')
		lines <- line
		_, _ = io.Copy(&p.out, r)
	}()
	cmd, exited := p.cmd, p.exited
	go func() {
		proctree.AwaitExit(cmd)
		select {
		case <-read:
		case <-time.After(time.Second): // a child holds standard output
		}
		_ = cmd.Wait()
		close(exited)
	}()
	return lines
}

// handshake reads the line that a plugin announces itself with.
func (p *instance) handshake(line string) error {
	f := strings.Split(strings.TrimSuffix(line, "\n"), "|")
	if len(f) < 5 || f[0] != "1" || f[1] != strconv.Itoa(sdk.ProtocolVersion) || f[4] != "grpc" {
		return &handshakeError{line: line, stderr: p.err.String()}
	}
	if p.plain = len(f) < 6 || f[5] == ""; !p.plain {
		if err := trust(p.secure, f[5]); err != nil {
			return &handshakeError{line: line, stderr: p.err.String()}
		}
	}
	var err error
	if p.socket, err = p.folder.Name(f[2], f[3]); err != nil {
		return &handshakeError{line, p.err.String(), err}
	}
	return nil
}

// dial connects to the socket of the plugin, and to no other.
func (p *instance) dial(ctx context.Context, _ string) (net.Conn, error) {
	return p.folder.Dial(ctx, p.socket, func(pid int) bool {
		_, child := proctree.Living(p.marker, p.cmd.Process.Pid)[pid]
		return child || pid == p.cmd.Process.Pid
	})
}

// trust adds the certificate of a handshake, which is not padded, to those of a plugin.
func trust(conf *tls.Config, cert string) error {
	der, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(cert, "="))
	if err != nil {
		return err
	}
	parsed, err := x509.ParseCertificate(der)
	if err == nil {
		conf.RootCAs.AddCert(parsed)
	}
	return err
}

// handshakeError is a first line on standard output that is no handshake, or one with an
// address that is not the plugin's.
type handshakeError struct {
	line, stderr string
	address      error // what is wrong with the address
}

func (e *handshakeError) Error() string {
	if e.address != nil {
		return fmt.Sprintf("the handshake announces %v: a plugin listens on a unix socket in PLUGIN_UNIX_SOCKET_DIR", e.address)
	}
	if e.line == "" {
		return "the plugin ended or was silent before its handshake; on standard error: " + end(e.stderr)
	}
	return fmt.Sprintf("the first line on standard output is not a handshake: %.200q; on standard error: %s", e.line, end(e.stderr))
}

// end is the last part of a text.
func end(s string) string {
	s = strings.TrimSpace(s)
	if n := len(s) - 1000; n > 0 {
		s = "… " + s[n:]
	}
	return s
}

// waitExit gives the process so long to exit.
func (p *instance) waitExit(limit time.Duration) {
	select {
	case <-p.exited:
	case <-time.After(limit):
	}
}

// children are the living processes that the plugin has started.
func (p *instance) children() []string {
	if p.cmd == nil {
		return nil
	}
	var found []string
	for pid, line := range proctree.Living(p.marker, p.cmd.Process.Pid) {
		found = append(found, fmt.Sprintf("%d %.80s", pid, line))
	}
	return found
}

// stop ends the instance, however it is.
func (p *instance) stop() {
	if p.conn != nil {
		_ = p.conn.Close()
		p.conn = nil
	}
	if p.server != nil {
		p.server.Stop()
		p.server = nil
	}
	if p.cmd != nil && p.exited != nil {
		_ = p.stdin.Close()
		p.waitExit(500 * time.Millisecond)
		_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
		proctree.KillAll(p.marker, p.cmd.Process.Pid)
		<-p.exited
		p.exited = nil
	}
	if p.folder != nil {
		p.folder.Close()
	}
}
