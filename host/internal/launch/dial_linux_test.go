package launch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"google.golang.org/grpc"

	"github.com/paxiom/relay/sdk/mtls"
)

// elsewhereVar is the address of a server that is not the plugin's.
const elsewhereVar = "LAUNCH_TEST_ELSEWHERE"

// announce acts as a plugin that would have relay connect to somewhere else.
func announce(act string) {
	dir, elsewhere := os.Getenv("PLUGIN_UNIX_SOCKET_DIR"), os.Getenv(elsewhereVar)
	at := filepath.Join(dir, "s")
	network, address := "unix", at
	must := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	switch act {
	case "tcp", "name":
		network, address = "tcp", elsewhere
	case "abstract", "outside":
		address = elsewhere
	case "link":
		must(os.Symlink(elsewhere, at))
	case "hardlink":
		must(os.Link(elsewhere, at))
	case "moved":
		must(os.Rename(elsewhere, at))
	case "below":
		must(os.Mkdir(at, 0o700))
		address = at + "/s"
	case "dots":
		rel, err := filepath.Rel(dir, elsewhere)
		must(err)
		address = dir + "/" + rel
	case "folder link": // the folder itself is exchanged
		must(os.Rename(dir, dir+"x"))
		must(os.Symlink(filepath.Dir(elsewhere), dir))
		address = filepath.Join(dir, filepath.Base(elsewhere))
	case "tmp":
		address = filepath.Join(os.Getenv("TMPDIR"), "s")
		listen(address)
	case "file":
		must(os.WriteFile(at, nil, 0o600))
	case "fifo":
		must(syscall.Mkfifo(at, 0o600))
	case "nul":
		address += "\x00/x"
	case "none":
	case "deaf socket": // nobody listens on it
		fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
		must(err)
		must(unix.Bind(fd, &unix.SockaddrUnix{Name: at}))
	case "mode":
		listen(at)
		must(os.Chmod(at, 0))
	case "no tls":
		l := listen(at)
		go grpc.NewServer().Serve(l)
	case "raced": // a socket of its own, and a link to another in turn
		real := listen(filepath.Join(dir, "real"))
		go grpc.NewServer().Serve(real)
		must(os.Symlink(elsewhere, filepath.Join(dir, "other")))
		go func() {
			for {
				os.Link(filepath.Join(dir, "real"), at+"1")
				os.Rename(filepath.Join(dir, "other"), at)
				os.Rename(at, filepath.Join(dir, "other"))
				os.Rename(filepath.Join(dir, "real"), at)
				os.Rename(at, filepath.Join(dir, "real"))
			}
		}()
	}
	_, cert, err := mtls.Host()
	must(err)
	_, cert, err = mtls.Plugin(cert)
	must(err)
	fmt.Printf("1|1|%s|%s|grpc|%s\n", network, address, cert)
	time.Sleep(time.Hour)
}

func listen(at string) net.Listener {
	l, err := net.Listen("unix", at)
	if err != nil {
		panic(err)
	}
	return l
}

// Whatever a plugin announces, only a socket that it made in its own folder is connected
// to: nothing arrives at another server, and no name is looked up.
func TestForeignAddresses(t *testing.T) {
	var lookups atomic.Int32
	before := net.DefaultResolver
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		lookups.Add(1)
		return nil, errors.New("no")
	}}
	defer func() { net.DefaultResolver = before }()
	for _, c := range []struct {
		act, network, address string
		why                   string
		kind                  Kind
		connects              bool // that somebody else listens shows only once the kernel has connected
	}{
		{act: "tcp", network: "tcp", address: "127.0.0.1:0", why: "is not a unix socket"},
		{act: "name", address: "secrets.relay-test.example:443", why: `"secrets.relay-test.example:443" is not a unix socket`},
		{act: "abstract", network: "unix", address: "@relay-launch-test-" + fmt.Sprint(os.Getpid()), why: "is not a socket path"},
		{act: "outside", network: "unix", why: "is not in the folder"},
		{act: "dots", network: "unix", why: "is not in the folder"},
		{act: "below", why: "is not in the folder"},
		{act: "tmp", why: "is not in the folder"},
		{act: "nul", why: "is not a socket path"},
		{act: "link", network: "unix", why: "is a symbolic link"},
		{act: "folder link", network: "unix", why: "can't be opened"},
		{act: "hardlink", network: "unix", why: "has another name elsewhere"},
		{act: "moved", network: "unix", why: fmt.Sprintf("is listened on by process %d, which is not the plugin's", os.Getpid()), connects: true},
		{act: "file", why: "is not a socket"},
		{act: "fifo", why: "is not a socket"},
		{act: "none", why: "can't be opened: no such file"},
		{act: "deaf socket", why: "can't be connected: connection refused"},
		{act: "mode", why: "(mode 0000) can't be connected: permission denied"},
		{act: "no tls", why: "tls: first record does not look like a TLS handshake", kind: Mute},
	} {
		t.Run(c.act, func(t *testing.T) {
			if c.act == "mode" && os.Geteuid() == 0 {
				t.Skip("root may connect to any socket")
			}
			cfg := config(t, "announce "+c.act)
			cfg.SocketDir = shortDir(t)
			elsewhere := c.address
			var heard, sent atomic.Int32
			if c.network != "" {
				if elsewhere == "" {
					elsewhere = filepath.Join(shortDir(t), "sock")
				}
				l, err := net.Listen(c.network, elsewhere)
				if err != nil {
					t.Fatal(err)
				}
				defer l.Close()
				if c.network == "tcp" {
					elsewhere = l.Addr().String()
				}
				go func() {
					for {
						conn, err := l.Accept()
						if err != nil {
							return
						}
						heard.Add(1)
						n, _ := conn.Read(make([]byte, 1))
						sent.Add(int32(n))
						conn.Close()
					}
				}()
			}
			cfg.Env = append(cfg.Env, elsewhereVar+"="+elsewhere)
			_, err := Start(context.Background(), cfg)
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("no *Error: %v", err)
			}
			want := c.kind
			if want == "" {
				want = Elsewhere
			}
			if e.Kind != want || !strings.Contains(e.Why, c.why) || !strings.HasPrefix(e.Fix, "`relay ") {
				t.Errorf("%s: %v", e.Kind, e)
			}
			time.Sleep(20 * time.Millisecond)
			if heard.Load() > 0 != c.connects || sent.Load() > 0 {
				t.Errorf("the other server had %d connections and %d bytes", heard.Load(), sent.Load())
			}
		})
	}
	if n := lookups.Load(); n != 0 {
		t.Errorf("%d lookups of names", n)
	}
}

// A socket that is exchanged for a link all the time is connected to, or nothing is.
func TestSocketIsNotExchanged(t *testing.T) {
	cfg := config(t, "announce raced")
	other := filepath.Join(shortDir(t), "sock")
	l := listen(other)
	defer l.Close()
	var heard atomic.Int32
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			heard.Add(1)
			conn.Close()
		}
	}()
	cfg.Env = append(cfg.Env, elsewhereVar+"="+other)
	for range 20 {
		if c, err := Start(context.Background(), cfg); err == nil {
			c.Stop(0, nil)
		}
	}
	if heard.Load() > 0 {
		t.Errorf("%d connections to the other server", heard.Load())
	}
}

// What a plugin starts may listen in its stead, also once it was left to relay.
func TestDescendantsMayListen(t *testing.T) {
	t.Parallel()
	for _, act := range []string{"child listens", "orphan listens"} {
		start(t, config(t, act)).healthy(t)
	}
}

// listensFor lets a process below this one serve. Its line goes by the same output.
func listensFor(orphan bool) {
	exe, _ := os.Executable()
	args := []string{"-c", exe + " & wait"}
	if orphan {
		args = []string{"-c", "(setsid " + exe + " &) ; exec sleep 300"}
	}
	cmd := exec.Command("/bin/sh", args...)
	cmd.Env = append(os.Environ(), actVar+"=good")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Run()
}
