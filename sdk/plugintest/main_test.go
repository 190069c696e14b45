package plugintest

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"

	"github.com/paxiom/relay/sdk"
	"github.com/paxiom/relay/sdk/mtls"
)

// This test binary is also the plugins that the tests try: called by the name of one of
// them it is that plugin.
const actAs = "PLUGINTEST_ACTOR"

func TestMain(m *testing.M) {
	if os.Getenv(actAs) == "sleep" {
		time.Sleep(time.Hour)
	}
	if f, ok := binaries[filepath.Base(os.Args[0])]; ok {
		f()
		os.Exit(1)
	}
	// The rules' own times are for real plugins; the tests' plugins break them by far.
	ruleLimits = limits{info: 100 * time.Millisecond, silence: 200 * time.Millisecond, cancel: 100 * time.Millisecond,
		close: 2 * time.Second, grace: 2 * time.Second, slack: 1500 * time.Millisecond, message: 5 << 20}
	os.Exit(m.Run())
}

// good is a plugin that keeps every rule. A field that is set makes it break one.
type good struct {
	before  func()        // before it serves
	during  func()        // in each call
	text    func() string // what it answers
	orphans bool          // leaves a process behind when it is canceled
	daemons bool          // leaves a process behind in each call
}

func (g good) info() sdk.Info {
	return sdk.Info{Name: "good", Version: "1.0.0", Env: []sdk.EnvVar{{Name: "GOOD_KEY", Secret: true}},
		ConfigSchema: []byte(`{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",
		"properties":{"delay":{"type":"string","description":"how long a call takes"}},"additionalProperties":false}`)}
}

func (g good) provider() sdk.Provider {
	var conf struct{ Delay string }
	return sdk.Provider{
		OutputSchema: true,
		Configure:    func(_ context.Context, c *sdk.Config) error { return c.Decode(&conf) },
		Complete: func(ctx context.Context, r *sdk.CompleteRequest, out sdk.Events) (*sdk.Completion, error) {
			out.Started(sdk.Started{Model: "m"})
			if g.during != nil {
				g.during()
			}
			if r.Text() == "limit" {
				return nil, sdk.Fail(sdk.RateLimited, "slow down", sdk.RetryAfter(time.Second))
			}
			end, work := func() {}, 30*time.Millisecond
			if g.orphans { // with time for a cancel on a busy machine, too
				end, work = startDaemon(), 500*time.Millisecond
			}
			select {
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-time.After(work):
			}
			end()
			if g.daemons && ctx.Err() == nil {
				startDaemon()
			}
			out.Usage(sdk.Usage{Output: sdk.Known(3)})
			c := &sdk.Completion{Text: "hello", Usage: sdk.Usage{Output: sdk.Known(5)}}
			if g.text != nil {
				c.Text = g.text()
			}
			if r.OutputSchema != nil {
				c.JSON = json.RawMessage(`{"answer":"hello"}`)
			}
			return c, nil
		},
	}
}

// startDaemon starts a process that outlives the call, unless it is ended.
func startDaemon() (end func()) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = []string{actAs + "=sleep"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	return func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }
}

func (g good) serve() {
	if g.before != nil {
		g.before()
	}
	sdk.Serve(g.info(), g.provider())
}

// binaries are plugins for the rules that need a process.
var binaries = map[string]func(){
	"good":       good{}.serve,
	"builder":    func() { sdk.Serve(sdk.Info{Name: "builder", Version: "1.0.0"}, goodBuilder("done.txt")) },
	"P4 builder": func() { sdk.Serve(sdk.Info{Name: "builder", Version: "1.0.0"}, goodBuilder("../cwd/done.txt")) },
	"P1 chatty":  good{before: func() { fmt.Println("loading the configuration...") }}.serve,
	"P1 stderr":  good{during: func() { fmt.Fprintln(os.Stderr, "using the key", os.Getenv("GOOD_KEY")) }}.serve,
	"P1 event":   good{text: func() string { return os.Getenv("GOOD_KEY") }}.serve,
	"P2 env":     good{text: func() string { return fmt.Sprint(os.Getenv("OPENAI_API_KEY") != "") }}.serve,
	"P3 deaf":    func() { serveRaw(&raw{}); os.Exit(0) },
	"P5 plain":   func() { os.Unsetenv(mtls.Variable); good{}.serve() },
	"anybody":    serveAnybody,
	"B5 version": good{before: func() {
		if os.Getenv("PLUGIN_PROTOCOL_VERSIONS") != "1" {
			os.Exit(1)
		}
	}}.serve,
	"S7 files": good{during: func() {
		if f, err := os.Open(os.DevNull); err == nil {
			kept = append(kept, f)
		}
	}}.serve,
	"P4 home":    good{during: func() { write(os.Getenv("HOME"), "notes") }}.serve,
	"P4 cwd":     good{before: func() { write(".", "cache") }}.serve,
	"S5 orphans": good{orphans: true}.serve,
	"S7 daemons": good{daemons: true}.serve,
	"B2 info": func() {
		i := good{}.info()
		i.Summary = os.Getenv("GOOD_KEY")
		sdk.Serve(i, good{}.provider())
	},
}

var kept []*os.File

// serveAnybody asks for a certificate and takes any.
func serveAnybody() {
	conf, cert, err := mtls.Plugin(os.Getenv(mtls.Variable))
	if err != nil {
		panic(err)
	}
	conf.ClientAuth, conf.NextProtos = tls.RequireAnyClientCert, []string{"h2"}
	g, err := sdk.NewServer(good{}.info(), good{}.provider())
	if err != nil {
		panic(err)
	}
	healthy := health.NewServer()
	healthy.SetServingStatus("plugin", grpc_health_v1.HealthCheckResponse_SERVING)
	grpc_health_v1.RegisterHealthServer(g, healthy)
	at := filepath.Join(os.Getenv("PLUGIN_UNIX_SOCKET_DIR"), "s")
	lis, err := net.Listen("unix", at)
	if err != nil {
		panic(err)
	}
	fmt.Printf("1|1|unix|%s|grpc|%s\n", at, cert)
	_ = g.Serve(tls.NewListener(lis, conf))
}

func write(dir, name string) {
	if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600); err != nil {
		panic(err)
	}
}

// goodBuilder copies the workspace's file in.txt to another, and takes its time.
func goodBuilder(to string) sdk.Builder {
	return sdk.Builder{Build: func(ctx context.Context, r *sdk.BuildRequest, out sdk.Events) (*sdk.BuildResult, error) {
		text, err := os.ReadFile(filepath.Join(r.Workspace, "in.txt"))
		if err != nil {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
		out.File(to)
		return &sdk.BuildResult{JSON: r.Task}, os.WriteFile(filepath.Join(r.Workspace, to), text, 0o600)
	}}
}
