package sdk

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	hclog "github.com/hashicorp/go-hclog"
	plugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/paxiom/relay/sdk/pluginpb"
)

func init() { actors["plugin"] = servePlugin }

// servePlugin is a plugin whose prompt says what it should do.
func servePlugin() {
	own, stop := signal.NotifyContext(context.Background(), syscall.SIGUSR1)
	defer stop()
	os.Exit(ServeContext(own, Info{Name: "test", Version: "1.2.3", Summary: "a plugin for tests", Aliases: []string{"tester"}}, Provider{
		Complete: func(ctx context.Context, r *CompleteRequest, out Events) (*Completion, error) {
			switch what, arg, _ := strings.Cut(r.Text(), " "); what {
			case "print":
				fmt.Println("printed by Go")
				cmd := exec.Command("/bin/sh", "-c", "echo printed by a child; cat") // cat: its input must be empty
				cmd.Stdout, cmd.Stdin = os.NewFile(1, "fd1"), os.NewFile(0, "fd0")
				return &Completion{Text: "printed"}, cmd.Run()
			case "log":
				slog.Debug("too quiet")
				slog.Warn("loud", "key", "value")
			case "panic":
				panic("in the handler")
			case "die":
				go func() { panic("in a goroutine") }()
				time.Sleep(time.Hour)
			case "child": // outlives everything unless it is killed
				cmd := exec.Command(os.Args[0])
				cmd.Env = append(ChildEnv(), actAs+"=daemon-silent", "PID_FILE="+arg)
				must(cmd.Start())
				<-ctx.Done()
				time.Sleep(time.Hour) // and the handler does not return either
			}
			return &Completion{Text: r.Text()}, nil
		},
	}))
}

// started is a plugin process, started as a host does it but without TLS.
type started struct {
	cmd    *exec.Cmd
	stdin  io.Closer
	stderr *syncBuffer
	lines  *bufio.Reader
	base   pluginpb.BaseClient
	model  pluginpb.ProviderClient
	exited chan error
}

type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(b)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

func startProcess(t *testing.T, env ...string) *started {
	t.Helper()
	dir, err := os.MkdirTemp("", "sdk") // short, for the socket
	must(err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	p := &started{cmd: exec.Command(os.Args[0]), stderr: &syncBuffer{}, exited: make(chan error, 1)}
	p.cmd.Env = append([]string{actAs + "=plugin", "PATH=" + os.Getenv("PATH"), "TMPDIR=" + dir, "PLUGIN_PROTOCOL_VERSIONS=1", "GORACE=atexit_sleep_ms=0",
		Handshake.MagicCookieKey + "=" + Handshake.MagicCookieValue}, env...)
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p.cmd.Stderr = p.stderr
	p.cmd.WaitDelay = 10 * time.Second
	stdin, err := p.cmd.StdinPipe()
	must(err)
	stdout, err := p.cmd.StdoutPipe()
	must(err)
	must(p.cmd.Start())
	p.stdin, p.lines = stdin, bufio.NewReader(stdout)
	line, err := p.lines.ReadString('\n')
	go func() { p.exited <- p.cmd.Wait() }()
	t.Cleanup(func() { _ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) })
	if err != nil {
		return p
	}
	f := strings.Split(strings.TrimSpace(line), "|")
	if len(f) < 5 || f[1] != "1" || f[2] != "unix" || f[4] != "grpc" {
		t.Fatalf("the handshake is %q", line)
	}
	conn, err := grpc.NewClient("unix://"+f[3], grpc.WithTransportCredentials(insecure.NewCredentials()))
	must(err)
	t.Cleanup(func() { _ = conn.Close() })
	p.base, p.model = pluginpb.NewBaseClient(conn), pluginpb.NewProviderClient(conn)
	if _, err := p.base.Configure(t.Context(), &pluginpb.ConfigureRequest{}); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *started) ask(t *testing.T, text string) (*pluginpb.CompleteEvent, error) {
	st, err := p.model.Complete(t.Context(), prompt(text))
	var last *pluginpb.CompleteEvent
	for err == nil {
		var ev *pluginpb.CompleteEvent
		if ev, err = st.Recv(); err == nil {
			last = ev
		}
	}
	if err == io.EOF {
		err = nil
	}
	return last, err
}

// waitExit gives the exit code, and fails when it takes much longer than it may.
func (p *started) waitExit(t *testing.T) int {
	t.Helper()
	select {
	case <-p.exited:
		return p.cmd.ProcessState.ExitCode()
	case <-time.After(15 * time.Second):
		t.Fatal("the plugin did not exit")
		return 0
	}
}

// The way of the host: go-plugin's client with mutual TLS.
func TestServeUnderGoPlugin(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = []string{actAs + "=plugin", "PATH=" + os.Getenv("PATH")}
	var stdout, stderr syncBuffer
	client := plugin.NewClient(&plugin.ClientConfig{
		HandshakeConfig: Handshake, VersionedPlugins: PluginMap(), AllowedProtocols: []plugin.Protocol{plugin.ProtocolGRPC},
		Cmd: cmd, AutoMTLS: true, SkipHostEnv: true, Logger: hclog.NewNullLogger(), SyncStdout: &stdout, Stderr: &stderr,
	})
	defer client.Kill()
	rpc, err := client.Client()
	if err != nil {
		t.Fatal(err, stderr.String())
	}
	raw, err := rpc.Dispense(BaseService)
	if err != nil {
		t.Fatal(err)
	}
	base := raw.(pluginpb.BaseClient)
	info, err := base.GetInfo(t.Context(), &pluginpb.GetInfoRequest{})
	if err != nil || info.Name != "test" || client.NegotiatedVersion() != ProtocolVersion {
		t.Fatal(info, err)
	}
	for name, want := range map[string]any{ProviderService: pluginpb.NewProviderClient(nil), BuilderService: pluginpb.NewBuilderClient(nil)} {
		got, err := rpc.Dispense(name)
		if err != nil || fmt.Sprintf("%T", got) != fmt.Sprintf("%T", want) {
			t.Errorf("%s dispenses %T, %v", name, got, err)
		}
	}
	client.Kill()
	if !client.Exited() {
		t.Error("it has not exited")
	}
}

func TestServeKeepsStandardOutputClean(t *testing.T) {
	p := startProcess(t)
	if ev, err := p.ask(t, "print"); err != nil || ev.GetCompleted().GetText() != "printed" {
		t.Fatal(ev, err, p.stderr)
	}
	_ = p.stdin.Close()
	if rest, _ := io.ReadAll(p.lines); len(rest) > 0 {
		t.Errorf("on standard output after the handshake: %q", rest)
	}
	p.waitExit(t)
	if s := p.stderr.String(); !strings.Contains(s, "printed by a child") || !strings.Contains(s, "printed by Go") {
		t.Errorf("standard error has only %q", p.stderr)
	}
}

func TestServeLogs(t *testing.T) {
	file := filepath.Join(t.TempDir(), "log")
	p := startProcess(t, "RELAY_LOG_LEVEL=warn", "RELAY_PLUGIN_LOG="+file)
	if _, err := p.ask(t, "log"); err != nil {
		t.Fatal(err)
	}
	if _, err := p.ask(t, "panic"); err != nil {
		t.Fatal("a panic in a handler ended the plugin:", err)
	}
	_ = p.stdin.Close()
	p.waitExit(t)
	var levels []string
	for line := range strings.Lines(p.stderr.String()) {
		var rec map[string]string
		if err := json.Unmarshal([]byte(line), &rec); err != nil {
			t.Errorf("%q: %v", line, err)
			continue
		}
		levels = append(levels, rec["@level"])
		if _, err := time.Parse("2006-01-02T15:04:05.000000Z07:00", rec["@timestamp"]); err != nil {
			t.Error(err)
		}
		if rec["@level"] == "error" && !strings.Contains(rec["stack"], "servePlugin") {
			t.Errorf("no stack in %v", rec)
		}
	}
	if got := strings.Join(levels, " "); got != "warn error" {
		t.Errorf("levels are %q in\n%s", got, p.stderr)
	}
	if b, _ := os.ReadFile(file); !bytes.Contains(b, []byte("too quiet")) {
		t.Errorf("the log file has %q", b)
	}
}

func TestServeGoroutinePanicHasItsStack(t *testing.T) {
	p := startProcess(t)
	if _, err := p.ask(t, "die"); err == nil {
		t.Error("it lives on")
	}
	if code := p.waitExit(t); code == 0 || !strings.Contains(p.stderr.String(), "panic: in a goroutine") {
		t.Errorf("status %d and %q", code, p.stderr)
	}
}

// However it ends, it takes a child with it that is in another session and ignores
// SIGTERM, although the handler does not return.
func TestServeEnds(t *testing.T) {
	for _, tc := range []struct {
		name string
		end  func(*testing.T, *started)
		code int
	}{
		{"host is gone", func(_ *testing.T, p *started) { _ = p.stdin.Close() }, 0},
		{"SIGTERM", func(_ *testing.T, p *started) { must(p.cmd.Process.Signal(syscall.SIGTERM)) }, 143},
		{"its own context", func(_ *testing.T, p *started) { must(p.cmd.Process.Signal(syscall.SIGUSR1)) }, 0},
		{"drain", func(t *testing.T, p *started) {
			if _, err := p.base.Drain(t.Context(), &pluginpb.DrainRequest{Grace: durationpb.New(time.Second)}); err != nil {
				t.Error(err)
			}
		}, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := startProcess(t)
			file := filepath.Join(t.TempDir(), "pid")
			go func() { _, _ = p.ask(t, "child "+file) }()
			pid := pidIn(t, file)
			must(p.cmd.Process.Signal(syscall.SIGINT)) // belongs to the host
			start := time.Now()
			tc.end(t, p)
			if code := p.waitExit(t); code != tc.code {
				t.Errorf("exit status %d", code)
			}
			t.Logf("ended after %v", time.Since(start).Round(time.Millisecond))
			eventually(t, 5*time.Second, "the child is dead", func() bool { return gone(pid) })
		})
	}
}

func TestServeWithoutASocket(t *testing.T) {
	p := startProcess(t, "TMPDIR=/tmp/"+strings.Repeat("long", 30))
	if code := p.waitExit(t); code != 1 || !strings.Contains(p.stderr.String(), "set TMPDIR to a short folder") {
		t.Errorf("status %d and %q", code, p.stderr)
	}
}

func TestServeByHand(t *testing.T) {
	run := func(args ...string) (string, string, int) {
		var out, errOut bytes.Buffer
		p := provider(func(context.Context, *CompleteRequest, Events) (*Completion, error) { return nil, nil })
		code := serve(t.Context(), Info{Name: "hand", Version: "0.0.1", Summary: "does things"}, []Part{p}, args, &out, &errOut)
		return out.String(), errOut.String(), code
	}
	out, _, code := run("--info")
	var info pluginpb.GetInfoResponse
	if err := protojson.Unmarshal([]byte(out), &info); err != nil || code != 0 || info.Name != "hand" {
		t.Errorf("--info: %d %q %v", code, out, err)
	}
	if again, _, _ := run("--info"); again != out {
		t.Error("--info differs from one time to the next")
	}
	if out, _, code := run("--version"); code != 0 || out != "relay-plugin-hand 0.0.1\n" {
		t.Errorf("--version: %d %q", code, out)
	}
	if out, _, code := run("--help"); code != 0 || !strings.Contains(out, "does things") {
		t.Errorf("--help: %d %q", code, out)
	}
	for _, args := range [][]string{nil, {"--nonsense"}} {
		if out, errOut, code := run(args...); code != 1 || out != "" || !strings.Contains(errOut, "--info") {
			t.Errorf("%v: %d %q %q", args, code, out, errOut)
		}
	}
	var errOut bytes.Buffer
	if code := serve(t.Context(), Info{Name: "X"}, nil, []string{"--info"}, io.Discard, &errOut); code != 1 || errOut.Len() == 0 {
		t.Errorf("a wrong plugin: %d %q", code, errOut.String())
	}
}
