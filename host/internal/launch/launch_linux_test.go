package launch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	goplugin "github.com/hashicorp/go-plugin"
	"golang.org/x/sys/unix"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health/grpc_health_v1"

	"github.com/paxiom/relay/host/internal/redact"
	"github.com/paxiom/relay/judge/box"
)

// The plugins of these tests are the test binary itself, which acts as asked by this
// variable.
const actVar = "LAUNCH_TEST_ACT"

const canary = "canary-3141592653"

var shake = goplugin.HandshakeConfig{MagicCookieKey: "LAUNCH_TEST_COOKIE", MagicCookieValue: "c0ffee"}

type nothing struct {
	goplugin.NetRPCUnsupportedPlugin
}

func (nothing) GRPCServer(*goplugin.GRPCBroker, *grpc.Server) error { return nil }
func (nothing) GRPCClient(context.Context, *goplugin.GRPCBroker, *grpc.ClientConn) (any, error) {
	return nil, nil
}

func versions(v ...int) map[int]goplugin.PluginSet {
	m := map[int]goplugin.PluginSet{}
	for _, n := range v {
		m[n] = goplugin.PluginSet{"nothing": nothing{}}
	}
	return m
}

func TestMain(m *testing.M) {
	box.Init()
	if act := os.Getenv(actVar); act != "" {
		perform(act)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func serve(v int) {
	goplugin.Serve(&goplugin.ServeConfig{HandshakeConfig: shake, VersionedPlugins: versions(v), GRPCServer: goplugin.DefaultGRPCServer})
}

func perform(act string) {
	if elsewhere, ok := strings.CutPrefix(act, "announce "); ok {
		announce(elsewhere)
	}
	switch act {
	case "child listens":
		listensFor(false)
	case "orphan listens":
		listensFor(true)
	case "good":
		serve(1)
	case "newer":
		serve(7)
	case "majors-1":
		serveMajors(1)
	case "majors-2":
		serveMajors(2)
	case "majors-1-2":
		serveMajors(1, 2)
	case "foreign":
		shake.MagicCookieValue = "another program's"
		serve(1)
	case "noise":
		fmt.Println("loading " + canary + " ...")
		serve(1)
	case "unfinished": // no line feed, then silence
		fmt.Print("loading")
		time.Sleep(time.Hour)
	case "long":
		io.Copy(os.Stdout, io.LimitReader(neverEnds{}, 1<<20))
		time.Sleep(time.Hour)
	case "mute":
		fmt.Fprintln(os.Stderr, "waiting for a key", canary)
		time.Sleep(time.Hour)
	case "crash":
		panic("no " + canary + " today")
	case "status3":
		fmt.Fprintln(os.Stderr, "cannot read settings")
		os.Exit(3)
	case "quits":
	case "freeze": // announces itself and stops
		fmt.Printf("1|1|unix|%s/none|grpc|\n", os.Getenv("PLUGIN_UNIX_SOCKET_DIR"))
		syscall.Kill(os.Getpid(), syscall.SIGSTOP)
		time.Sleep(time.Hour) // the stop may come a moment after the call, and not to this thread
	case "env":
		wd, _ := os.Getwd()
		fmt.Fprintln(os.Stderr, "DIR="+wd)
		for _, kv := range os.Environ() {
			if !strings.HasPrefix(kv, "PLUGIN_CLIENT_CERT") {
				fmt.Fprintln(os.Stderr, "ENV "+kv)
			}
		}
		var core, files unix.Rlimit
		for range 100 { // the limits come right after the start
			unix.Getrlimit(unix.RLIMIT_CORE, &core)
			unix.Getrlimit(unix.RLIMIT_NOFILE, &files)
			if core.Max == 0 && files.Max <= maxFiles {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		fmt.Fprintln(os.Stderr, "CORE", core.Max, "FILES", files.Max)
		serve(1)
	case "brood": // a child in the group, one in a session of its own, one daemon
		startChild(nil)
		startChild(&syscall.SysProcAttr{Setsid: true})
		cmd := exec.Command("/bin/sh", "-c", "setsid sh -c 'sleep 300 3>&- & echo >&3; exec 3>&-; sleep 300' & exit 0")
		cmd.Stderr = os.Stderr
		there, told, _ := os.Pipe()
		cmd.ExtraFiles = []*os.File{told}
		cmd.Run()
		there.Read(make([]byte, 1)) // the daemon and its child
		serve(1)
	case "broodcrash":
		startChild(&syscall.SysProcAttr{Setsid: true})
		os.Exit(4)
	case "deaf": // serves, but does not die of a closed connection, nor of SIGTERM
		go serve(1)
		time.Sleep(time.Hour)
	case "chatter":
		serveWith(func() {
			for {
				os.Stderr.Write([]byte(strings.Repeat("x", 1000) + "\n"))
			}
		})
	}
}

func serveWith(f func()) { go f(); serve(1) }

type neverEnds struct{}

func (neverEnds) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// startChild leaves a child that holds standard output and error.
func startChild(attr *syscall.SysProcAttr) {
	cmd := exec.Command("sleep", "300")
	cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = os.Stdout, os.Stderr, attr
	if err := cmd.Start(); err != nil {
		panic(err)
	}
}

func self(t testing.TB) (path, hash string) {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if hash, err = HashFile(f); err != nil {
		t.Fatal(err)
	}
	return path, hash
}

func config(t testing.TB, act string) Config {
	path, hash := self(t)
	return Config{Name: act, Path: path, SHA256: hash, Env: Env(nil, []string{actVar + "=" + act, "GORACE=atexit_sleep_ms=0"}),
		Handshake: shake, Versions: versions(1), Secrets: redact.New(canary)}
}

func start(t testing.TB, cfg Config) *Client {
	t.Helper()
	c, err := Start(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Stop(0, nil) })
	return c
}

func (c *Client) healthy(t testing.TB) {
	t.Helper()
	_, err := grpc_health_v1.NewHealthClient(c.Conn()).Check(context.Background(), &grpc_health_v1.HealthCheckRequest{Service: goplugin.GRPCServiceName})
	if err != nil {
		t.Fatal(err)
	}
}

func TestStartAndStop(t *testing.T) {
	t.Parallel()
	c := start(t, config(t, "good"))
	c.healthy(t)
	dir := c.Private()
	if st, err := os.Stat(dir); err != nil || st.Mode().Perm() != 0o700 {
		t.Errorf("private folder: %v, %v", st.Mode(), err)
	}
	if left := c.Stop(time.Second, nil); left != 0 {
		t.Errorf("%d left behind", left)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("the private folder is still there")
	}
	if c.Exit() != exitOK {
		t.Errorf("exit %q", c.Exit())
	}
	gone(t, c.Pid())
}

func TestStartErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		act        string
		kind       Kind
		what, why  string
		exit       string
		panicsWith string
	}{
		{"newer", Version, "speaks relay protocol 7; this relay speaks 1", "newer", "signal: killed", ""},
		{"foreign", NotPlugin, "plugin of another program", "handshake", "exit status 1", ""},
		{"noise", Noise, "printed something else before the handshake", `"loading [redacted] ..."`, "", ""},
		{"unfinished", Noise, "printed something else", `"loading"`, "signal: killed", ""},
		{"long", Noise, "printed something else", `"xxxx`, "", ""},
		{"mute", Mute, "said nothing within 3s", "waiting for a key [redacted]", "signal: killed", ""},
		{"crash", Crash, "crashed while it started: exit status 2", "panic: no [redacted] today", "exit status 2", "panic: no [redacted] today"},
		{"status3", Crash, "crashed while it started: exit status 3", "cannot read settings", "exit status 3", ""},
		{"quits", NotPlugin, "ended without a handshake", "not a relay plugin", exitOK, ""},
		{"freeze", Elsewhere, "did not open a socket of its own", "none\" can't be opened: no such file", "signal: killed", ""},
		{"broodcrash", Crash, "exit status 4", "", "exit status 4", ""},
	} {
		t.Run(c.act, func(t *testing.T) {
			t.Parallel()
			cfg := config(t, c.act)
			cfg.StartTimeout = 20 * time.Second
			if c.kind == Mute || c.act == "unfinished" {
				cfg.StartTimeout = 3 * time.Second
			}
			cfg.SocketDir = shortDir(t)
			_, err := Start(context.Background(), cfg)
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("no *Error: %v", err)
			}
			if e.Kind != c.kind || !strings.Contains(e.What, c.what) || !strings.Contains(e.Why, c.why) || !strings.HasPrefix(e.Fix, "`relay ") {
				t.Errorf("%s: %v", e.Kind, e)
			}
			if c.exit != "" && e.Exit != c.exit {
				t.Errorf("exit %q, want %q", e.Exit, c.exit)
			}
			if strings.Contains(e.Why, "\n") || c.panicsWith != "" && strings.Count(e.Why, c.panicsWith) != 1 {
				t.Errorf("why is not one line that says everything once: %q", e.Why)
			}
			if e.Panic != c.panicsWith || (e.Panic != "" && !strings.Contains(e.Stack, "perform")) {
				t.Errorf("panic %q\n%s", e.Panic, e.Stack)
			}
			if strings.Contains(e.Error()+e.Tail+e.Stack, canary) {
				t.Errorf("the secret is in the error: %v", e)
			}
			if rest, _ := os.ReadDir(cfg.SocketDir); len(rest) != 0 {
				t.Errorf("left in the socket folder: %v", rest)
			}
		})
	}
}

func TestFileIsChecked(t *testing.T) {
	t.Parallel()
	path, hash := self(t)
	dir := t.TempDir()
	write := func(name, content string, mode os.FileMode) string {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, []byte(content), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(p, mode); err != nil {
			t.Fatal(err)
		}
		return p
	}
	hashOf := func(p string) string {
		f, err := os.Open(p)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		h, _ := HashFile(f)
		return h
	}
	link := filepath.Join(dir, "link")
	os.Symlink(path, link)
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o700); err != nil {
		t.Fatal(err)
	}
	script := write("script", "#!/bin/sh\nexec sleep 100\n", 0o700)
	text := write("text", "just a text\n", 0o700)
	plain := write("plain", "\x7fELF no", 0o600)
	for _, c := range []struct {
		name, path, hash string
		kind             Kind
		why, fix         string
	}{
		{"absent", filepath.Join(dir, "none"), hash, Absent, "there is no file", "relay plugin list"},
		{"link", link, hash, Unsafe, "symbolic link", "relay plugin list"},
		{"fifo", fifo, hash, Unsafe, "not a regular file", "relay plugin list"},
		{"folder", dir, hash, Unsafe, "not a regular file", "relay plugin list"},
		{"group and world", write("group", "x", 0o772), hash, Unsafe, "written by others (mode 0772)", "`chmod go-w "},
		{"world", write("world", "x", 0o702), hash, Unsafe, "written by others", "`chmod go-w "},
		{"hash", path, strings.Repeat("0", 64), Differs, "pinned is 0000000000000000…", "relay plugin list"},
		{"nohash", path, "", Differs, "pinned is nothing", "relay plugin list"},
		{"script", script, hashOf(script), NotPlugin, "a script can't be a plugin", "relay plugin list"},
		{"text", text, hashOf(text), NotPlugin, "does not know the format", "relay plugin list"},
		{"mode", plain, hashOf(plain), Machine, "permission denied", "`chmod u+x "},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := config(t, "good")
			cfg.Path, cfg.SHA256 = c.path, c.hash
			_, err := Start(context.Background(), cfg)
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("no *Error: %v", err)
			}
			if e.Kind != c.kind || !strings.Contains(e.Why, c.why) || !strings.Contains(e.Fix, c.fix) {
				t.Errorf("%s: %v", e.Kind, e)
			}
		})
	}
	t.Run("owner", func(t *testing.T) {
		if os.Geteuid() != 0 {
			t.Skip("only root can give a file away")
		}
		p := write("foreign", "x", 0o700)
		if err := os.Chown(p, 12345, 12345); err != nil {
			t.Skip("chown is not allowed here: ", err)
		}
		cfg := config(t, "good")
		cfg.Path = p
		var e *Error
		if _, err := Start(context.Background(), cfg); !errors.As(err, &e) || e.Kind != Unsafe || !strings.Contains(e.Why, "another user") {
			t.Errorf("%v", err)
		}
	})
}

// What was hashed runs, also when the path is exchanged in between.
func TestSwappedPathDoesNotMatter(t *testing.T) {
	t.Parallel()
	src, _ := self(t)
	path := filepath.Join(t.TempDir(), "plugin")
	if out, err := exec.Command("cp", src, path).CombinedOutput(); err != nil {
		t.Fatal(string(out), err)
	}
	cfg := config(t, "good")
	cfg.Path = path
	cfg.Start = func(s StartSpec) (Process, error) {
		os.Remove(path)
		os.WriteFile(path, []byte("#!/bin/sh\n"), 0o700)
		return startPlain(s)
	}
	start(t, cfg).healthy(t)
}

func TestEnvironmentAndLimits(t *testing.T) {
	t.Setenv("LAUNCH_TEST_GRANTED", "yes")
	t.Setenv("LAUNCH_TEST_SECRET", "never")
	t.Setenv("HTTPS_PROXY", "http://proxy")
	cfg := config(t, "env")
	cfg.Env = Env([]string{"LAUNCH_TEST_GRANTED"}, []string{actVar + "=env", "GORACE=atexit_sleep_ms=0", "HTTPS_PROXY=http://other"})
	c := start(t, cfg)
	text := c.r.sink.text()
	for _, want := range []string{"DIR=" + c.Private() + "/cwd\n", "ENV TMPDIR=" + c.Private() + "/tmp\n", "ENV GOMEMLIMIT=512MiB\n",
		"ENV LAUNCH_TEST_GRANTED=yes\n", "ENV HTTPS_PROXY=http://other\n", "ENV LAUNCH_TEST_COOKIE=c0ffee\n", "CORE 0 FILES "} {
		if !strings.Contains(text, want) {
			t.Errorf("missing %q in:\n%s", want, text)
		}
	}
	allowed := map[string]bool{"GOMEMLIMIT": true, "TMPDIR": true, "GORACE": true, actVar: true, "LAUNCH_TEST_GRANTED": true, "LAUNCH_TEST_COOKIE": true}
	for _, n := range always {
		allowed[n] = true
	}
	for line := range strings.Lines(text) {
		name, _, _ := strings.Cut(strings.TrimPrefix(line, "ENV "), "=")
		if strings.HasPrefix(line, "ENV ") && !allowed[name] && !strings.HasPrefix(name, "PLUGIN_") {
			t.Errorf("passed on: %s", line)
		}
	}
}

// Children in the group, in sessions of their own and orphaned daemons hold standard
// error; Stop is quick, counts them and leaves none.
func TestStopEndsTheWholeBrood(t *testing.T) {
	t.Parallel()
	c := start(t, config(t, "brood"))
	c.healthy(t)
	began := time.Now()
	left := c.Stop(time.Second, nil)
	if d := time.Since(began); d > 20*time.Second {
		t.Errorf("Stop took %v", d)
	}
	if left < 4 {
		t.Errorf("%d left behind, at least 4 are", left)
	}
	for _, pid := range marked(t, filepath.Base(c.Private())) {
		t.Errorf("process %d lives", pid)
	}
}

// Other children of relay are nobody's strays, whatever group or session they are in.
func TestOwnChildrenAreNotTouched(t *testing.T) {
	t.Parallel()
	var own []*exec.Cmd
	for _, attr := range []*syscall.SysProcAttr{nil, {Setpgid: true}, {Setsid: true}} {
		cmd := exec.Command("sleep", "300")
		cmd.SysProcAttr = attr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		own = append(own, cmd)
	}
	quick := exec.Command("true") // a zombie until it is waited for
	if err := quick.Start(); err != nil {
		t.Fatal(err)
	}
	other := start(t, config(t, "good"))
	c := start(t, config(t, "brood"))
	c.Stop(time.Second, nil)
	other.healthy(t)
	if err := quick.Wait(); err != nil {
		t.Errorf("the zombie was reaped by someone else: %v", err)
	}
	for _, cmd := range own {
		if err := cmd.Process.Signal(syscall.Signal(0)); err != nil {
			t.Errorf("child %d: %v", cmd.Process.Pid, err)
		}
		cmd.Process.Kill()
		if err := cmd.Wait(); err == nil || err.Error() != "signal: killed" {
			t.Errorf("child %d: %v", cmd.Process.Pid, err)
		}
	}
}

func TestStopIsBounded(t *testing.T) {
	t.Parallel()
	for _, act := range []string{"stopped", "deaf", "dead"} {
		t.Run(act, func(t *testing.T) {
			t.Parallel()
			as := "good"
			if act == "deaf" {
				as = "deaf"
			}
			c := start(t, config(t, as))
			switch act {
			case "stopped":
				syscall.Kill(c.Pid(), syscall.SIGSTOP)
			case "dead":
				syscall.Kill(c.Pid(), syscall.SIGKILL)
			}
			began := time.Now()
			c.Stop(500*time.Millisecond, func(ctx context.Context) error {
				_, err := grpc_health_v1.NewHealthClient(c.Conn()).Check(ctx, &grpc_health_v1.HealthCheckRequest{})
				return err
			})
			if d := time.Since(began); d > 20*time.Second {
				t.Errorf("took %v", d)
			}
			gone(t, c.Pid())
		})
	}
}

func TestCancelDuringStart(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	began := time.Now()
	_, err := Start(ctx, config(t, "mute"))
	var e *Error
	if !errors.As(err, &e) || e.Kind != Cancelled || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	if d := time.Since(began); d > 20*time.Second {
		t.Errorf("took %v", d)
	}
}

// A plugin that writes without end costs a bounded file and a bounded memory.
func TestStderrIsBounded(t *testing.T) {
	t.Parallel()
	var file countingWriter
	cfg := config(t, "chatter")
	cfg.Stderr, cfg.StderrLimit = &file, 1<<20
	c := start(t, cfg)
	c.healthy(t)
	time.Sleep(300 * time.Millisecond)
	c.Stop(0, nil)
	if file.n < 1<<20 || file.n > 1<<20+200 {
		t.Errorf("%d bytes in the file", file.n)
	}
	if n := cap(c.r.sink.ring); n > 6*ringSize {
		t.Errorf("the ring has grown to %d bytes", n)
	}
	if n := len(c.Tail(1 << 10)); n > 1<<10 {
		t.Errorf("the tail has %d bytes", n)
	}
}

type countingWriter struct{ n int }

func (w *countingWriter) Write(p []byte) (int, error) { w.n += len(p); return len(p), nil }

func TestStarter(t *testing.T) {
	t.Parallel()
	cfg := config(t, "good")
	cfg.Start = func(StartSpec) (Process, error) { return nil, errors.New("no box today") }
	var e *Error
	if _, err := Start(context.Background(), cfg); !errors.As(err, &e) || e.Kind != Machine || !strings.Contains(e.Why, "no box today") {
		t.Errorf("%v", err)
	}
	cfg.Start = func(s StartSpec) (Process, error) {
		if s.Dir != s.Private+"/cwd" || s.Argv[0] != cfg.Path || s.Exe == nil {
			t.Errorf("%+v", s)
		}
		return startPlain(s)
	}
	start(t, cfg).healthy(t)
}

func TestSocketDir(t *testing.T) {
	t.Parallel()
	base := shortDir(t)
	cfg := config(t, "good")
	cfg.SocketDir = base
	c := start(t, cfg)
	if filepath.Dir(c.Private()) != base {
		t.Errorf("private folder %s", c.Private())
	}
	c.Stop(time.Second, nil)
	if rest, _ := os.ReadDir(base); len(rest) != 0 {
		t.Errorf("left behind: %v", rest)
	}
	for _, bad := range []string{"relative", "/tmp/" + strings.Repeat("x", MaxSocketDir)} {
		cfg.SocketDir = bad
		var e *Error
		if _, err := Start(context.Background(), cfg); !errors.As(err, &e) || e.Kind != Machine {
			t.Errorf("%q: %v", bad, err)
		}
	}
	open := filepath.Join(t.TempDir(), "open")
	os.Mkdir(open, 0o777)
	os.Chmod(open, 0o777)
	if err := makePrivate(open); err == nil {
		t.Error("a folder that all may write was taken as private")
	}
	// The longest socket folder that is allowed does hold sockets.
	long := filepath.Join(base, strings.Repeat("x", MaxSocketDir-len(base)-1))
	if err := os.Mkdir(long, 0o700); err != nil {
		t.Fatal(err)
	}
	cfg.SocketDir = long
	start(t, cfg).healthy(t)
}

func TestSweep(t *testing.T) {
	t.Parallel()
	base := shortDir(t)
	dead, err := newPrivate(base, "tmp")
	if err != nil {
		t.Fatal(err)
	}
	dead.unlock() // as when its host was killed
	live, err := newPrivate(base)
	if err != nil {
		t.Fatal(err)
	}
	defer live.unlock()
	fresh, err := newPrivate(base)
	if err != nil {
		t.Fatal(err)
	}
	fresh.unlock()
	old := time.Now().Add(-time.Hour)
	os.Chtimes(dead.path, old, old)
	os.Chtimes(live.path, old, old)
	sweepOnce(base)
	for path, want := range map[string]bool{dead.path: false, live.path: true, fresh.path: true} {
		if _, err := os.Stat(path); (err == nil) != want {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// shortDir gives a private folder with a path that is short enough for sockets, which
// t.TempDir's is not.
func shortDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "rl")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// gone waits until a process is no more.
func gone(t testing.TB, pid int) {
	t.Helper()
	for range 200 {
		if st, ok := readStat(pid); !ok || st.state == 'Z' {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("process %d is still there", pid)
}

// marked gives the processes whose environment has mark.
func marked(t testing.TB, mark string) (pids []int) {
	t.Helper()
	list, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, p := range list {
		env, _ := os.ReadFile(p)
		if strings.Contains(string(env), mark) {
			var pid int
			fmt.Sscanf(p, "/proc/%d/", &pid)
			pids = append(pids, pid)
		}
	}
	return pids
}

// The command that a refusal names does help.
func TestFixesWork(t *testing.T) {
	t.Parallel()
	src, _ := self(t)
	for _, mode := range []os.FileMode{0o777, 0o722, 0o600} {
		path := filepath.Join(t.TempDir(), "it's a plugin")
		if out, err := exec.Command("cp", src, path).CombinedOutput(); err != nil {
			t.Fatal(string(out), err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		cfg := config(t, "good")
		cfg.Path = path
		var e *Error
		if _, err := Start(context.Background(), cfg); !errors.As(err, &e) {
			t.Fatalf("%o: %v", mode, err)
		}
		command := strings.Split(e.Fix, "`")[1]
		if out, err := exec.Command("/bin/sh", "-c", command).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", command, err, out)
		}
		start(t, cfg).healthy(t)
	}
}

func BenchmarkLaunch(b *testing.B) {
	cfg := config(b, "good")
	for b.Loop() {
		c := start(b, cfg)
		c.healthy(b)
		b.StopTimer()
		c.Stop(time.Second, nil)
		b.StartTimer()
	}
}

func BenchmarkStop(b *testing.B) {
	for _, as := range []string{"idle", "stopped", "brood"} {
		b.Run(as, func(b *testing.B) {
			cfg := config(b, "good")
			if as == "brood" {
				cfg = config(b, "brood")
			}
			for b.Loop() {
				b.StopTimer()
				c := start(b, cfg)
				c.healthy(b)
				if as == "stopped" {
					syscall.Kill(c.Pid(), syscall.SIGSTOP)
				}
				b.StartTimer()
				c.Stop(0, nil)
			}
		})
	}
}
