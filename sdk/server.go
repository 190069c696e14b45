package sdk

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/paxiom/relay/sdk/pluginpb"
)

// MaxMessage is the largest message that a host sends, in bytes: a prompt with all that
// belongs to it. The host checks it before it sends.
const MaxMessage = 32 << 20

// MaxAnswer is the largest message that a plugin sends, in bytes. An event that is larger
// is left out; an answer that is larger ends as a failure with the reason TooLarge.
const MaxAnswer = 2 << 20

// NewServer gives the gRPC server of a plugin, with the message limits of the
// protocol, for tests that run a plugin inside their own process. Programs call Serve.
func NewServer(info Info, parts ...Part) (*grpc.Server, error) {
	s, err := newServer(info, parts)
	if err != nil {
		return nil, err
	}
	g := grpcServer(nil)
	s.registerAll(g)
	return g, nil
}

// grpcServer is the one constructor: go-plugin's own stops at 4 MiB.
func grpcServer(opts []grpc.ServerOption) *grpc.Server {
	return grpc.NewServer(append(opts, grpc.MaxRecvMsgSize(MaxMessage), grpc.MaxSendMsgSize(MaxMessage))...)
}

// beforeCalls runs fn at the start of each call of the plugin's own services.
func beforeCalls(fn func()) []grpc.ServerOption {
	const own = "/relay."
	return []grpc.ServerOption{
		grpc.UnaryInterceptor(func(ctx context.Context, r any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
			if strings.HasPrefix(info.FullMethod, own) {
				fn()
			}
			return next(ctx, r)
		}),
		grpc.StreamInterceptor(func(srv any, st grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) error {
			if strings.HasPrefix(info.FullMethod, own) {
				fn()
			}
			return next(srv, st)
		}),
	}
}

// server answers for one plugin.
type server struct {
	pluginpb.UnimplementedBaseServer
	pluginpb.UnimplementedProviderServer
	pluginpb.UnimplementedBuilderServer

	info      *pluginpb.GetInfoResponse
	provider  *Provider
	builder   *Builder
	parts     []common
	rhythm    rhythm
	slot      chan struct{} // nil: calls may run at the same time
	textDelta atomic.Bool   // the host understands text_delta
	drained   func()        // called when a Drain has been answered
	debug     bool          // hosts come and go: see serveDebug

	work   context.Context // ends with the plugin
	cancel context.CancelFunc

	mu         sync.Mutex
	configured bool // Configure was called
	ready      bool // and succeeded
	draining   bool
	running    sync.WaitGroup
}

func newServer(info Info, parts []Part) (*server, error) {
	s := &server{rhythm: defaultRhythm, drained: func() {}}
	for _, p := range parts {
		switch p := p.(type) {
		case Provider:
			if s.provider != nil || p.Complete == nil {
				return nil, errors.New("a plugin has at most one sdk.Provider, and its Complete is set")
			}
			s.provider = &p
		case Builder:
			if s.builder != nil || p.Build == nil {
				return nil, errors.New("a plugin has at most one sdk.Builder, and its Build is set")
			}
			s.builder = &p
		default:
			return nil, fmt.Errorf("sdk.Serve takes sdk.Provider and sdk.Builder, not %T", p)
		}
		s.parts = append(s.parts, p.common())
	}
	if len(parts) == 0 {
		return nil, errors.New("a plugin has an sdk.Provider or an sdk.Builder")
	}
	if err := info.check(); err != nil {
		return nil, err
	}
	s.info = info.proto(parts)
	if !s.info.Capabilities.Concurrent {
		s.slot = make(chan struct{}, 1)
	}
	s.work, s.cancel = context.WithCancel(context.Background())
	return s, nil
}

func (s *server) registerAll(g grpc.ServiceRegistrar) {
	pluginpb.RegisterBaseServer(g, s)
	if s.provider != nil {
		pluginpb.RegisterProviderServer(g, s)
	}
	if s.builder != nil {
		pluginpb.RegisterBuilderServer(g, s)
	}
}

func (s *server) GetInfo(_ context.Context, r *pluginpb.GetInfoRequest) (*pluginpb.GetInfoResponse, error) {
	s.textDelta.Store(r.GetHost().GetTextDelta())
	return s.info, nil
}

func (s *server) Configure(ctx context.Context, r *pluginpb.ConfigureRequest) (*pluginpb.ConfigureResponse, error) {
	s.mu.Lock()
	again := s.configured && !s.debug
	s.configured = true
	s.mu.Unlock()
	if again {
		f := Fail(BadConfig, "the plugin was configured twice", EffectNone, Fix("start a new plugin process for another configuration"))
		return &pluginpb.ConfigureResponse{Failure: f.proto()}, nil
	}
	c := &Config{JSON: r.GetConfigJson(), StateDir: r.GetStateDir(), WorkDir: r.GetWorkDir(), RunID: r.GetRunId()}
	for _, p := range s.parts {
		if p.configure == nil {
			continue
		}
		if err := guard("Configure", func() error { return p.configure(ctx, c) }); err != nil {
			return &pluginpb.ConfigureResponse{Failure: s.unary(err)}, nil
		}
	}
	s.mu.Lock()
	s.ready = true
	s.mu.Unlock()
	return &pluginpb.ConfigureResponse{}, nil
}

func (s *server) Health(ctx context.Context, r *pluginpb.HealthRequest) (*pluginpb.HealthResponse, error) {
	out := &pluginpb.HealthResponse{}
	var details []string
	for _, p := range s.parts {
		if p.health == nil {
			continue
		}
		var h *Health
		err := guard("Health", func() (err error) { h, err = p.health(ctx, r.GetDeep()); return err })
		if err != nil {
			out.Failure = s.unary(err)
			break
		}
		if h == nil {
			continue
		}
		if h.Detail != "" {
			details = append(details, valid(h.Detail))
		}
		for _, l := range h.Limits {
			out.Limits = append(out.Limits, l.proto())
		}
		for _, w := range h.Warnings {
			out.Warnings = append(out.Warnings, valid(w))
		}
	}
	out.Detail = strings.Join(details, "; ")
	return out, nil
}

// Drain lets running work finish in the first part of the grace period, cancels the
// rest in the second, and leaves a third for the end of the process.
func (s *server) Drain(_ context.Context, r *pluginpb.DrainRequest) (*pluginpb.DrainResponse, error) {
	grace := r.GetGrace().AsDuration()
	grace -= min(grace/2, drainDelay+killTime)
	cancelled := min(grace/2, time.Second)
	s.stop(grace-cancelled, cancelled)
	if s.debug {
		s.renew()
	}
	s.drained()
	return &pluginpb.DrainResponse{}, nil
}

// stop takes no new work, waits for what runs, then cancels it and waits again.
func (s *server) stop(finish, cancelled time.Duration) {
	s.mu.Lock()
	s.draining = true
	cancel := s.cancel
	s.mu.Unlock()
	idle := make(chan struct{})
	go func() { s.running.Wait(); close(idle) }()
	select {
	case <-idle:
	case <-time.After(finish):
	}
	cancel()
	select {
	case <-idle:
	case <-time.After(cancelled):
	}
}

// begin admits one piece of work. Its context ends with the call and with the plugin.
func (s *server) begin(ctx context.Context) (context.Context, func(), error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.draining:
		return nil, nil, Fail(Cancelled, "the plugin is ending", EffectNone)
	case !s.ready:
		return nil, nil, Fail(BadConfig, "the plugin was asked to work before it was configured", EffectNone,
			Fix("report this to the authors of the host: Configure comes first"))
	}
	s.running.Add(1)
	ctx, cancel := context.WithCancel(ctx)
	unlink := context.AfterFunc(s.work, cancel)
	return ctx, func() { unlink(); cancel(); s.running.Done() }, nil
}

// turn waits until this call may run.
func (s *server) turn(ctx context.Context) (func(), error) {
	if s.slot == nil {
		return func() {}, nil
	}
	select {
	case s.slot <- struct{}{}:
		return func() { <-s.slot }, nil
	case <-ctx.Done():
		return nil, Fail(Cancelled, "the call was cancelled before its turn", EffectNone)
	}
}

// call runs one streaming handler.
func (s *server) call(ctx context.Context, what string, st *stream, handler func(context.Context) (func(Usage) any, error)) {
	st.rhythm = s.rhythm
	ctx, end, err := s.begin(ctx)
	if err != nil {
		st.end(nil, err)
		return
	}
	defer end()
	st.run(ctx, what, func() (func(Usage) any, error) {
		free, err := s.turn(ctx)
		if err != nil {
			return nil, err
		}
		defer free()
		return handler(ctx)
	})
}

// unary makes the failure of a call without events.
func (s *server) unary(err error) *pluginpb.Failure {
	out := *AsFailure(err)
	out.Effect = cmp.Or(out.Effect, EffectNone)
	return out.proto()
}

// guard runs fn and makes a failure of a panic, with the stack in the log.
func guard(what string, fn func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			slog.Error("panic in "+what, "panic", fmt.Sprint(r), "stack", string(debug.Stack()))
			err = Fail(Internal, "the plugin panicked in "+what, Detail(fmt.Sprint(r)),
				Fix("report this to the plugin's author; the stack is in the plugin's log"))
		}
	}()
	return fn()
}

func (s *server) Complete(r *pluginpb.CompleteRequest, out grpc.ServerStreamingServer[pluginpb.CompleteEvent]) error {
	st := &stream{
		encode: func(seq uint64, payload any) proto.Message { return completeEvent(seq, payload, s.textDelta.Load()) },
		send:   func(m proto.Message) error { return out.Send(m.(*pluginpb.CompleteEvent)) },
	}
	s.call(out.Context(), "Complete", st, func(ctx context.Context) (func(Usage) any, error) {
		wanted := len(r.GetOutputSchemaJson()) > 0
		if wanted && !s.provider.OutputSchema {
			return nil, Fail(Unsupported, "this plugin cannot hold an answer to a schema", EffectNone)
		}
		c, err := s.provider.Complete(ctx, completeRequest(r), st)
		if c == nil || err != nil {
			return nil, err
		}
		if err := checkJSON(c, wanted); err != nil {
			return nil, err
		}
		return c.done, nil
	})
	return out.Context().Err()
}

func (s *server) Build(r *pluginpb.BuildRequest, out grpc.ServerStreamingServer[pluginpb.BuildEvent]) error {
	st := &stream{
		encode: buildEvent,
		send:   func(m proto.Message) error { return out.Send(m.(*pluginpb.BuildEvent)) },
	}
	s.call(out.Context(), "Build", st, func(ctx context.Context) (func(Usage) any, error) {
		b, err := s.builder.Build(ctx, buildRequest(r), st)
		if b == nil || err != nil {
			return nil, err
		}
		if err := checkResult(b); err != nil {
			return nil, err
		}
		return b.done, nil
	})
	return out.Context().Err()
}

func (s *server) ListModels(ctx context.Context, _ *pluginpb.ListModelsRequest) (*pluginpb.ListModelsResponse, error) {
	out := &pluginpb.ListModelsResponse{}
	err := s.ask(ctx, "ListModels", s.provider.ListModels != nil, func(ctx context.Context) error {
		models, err := s.provider.ListModels(ctx)
		for _, m := range models {
			out.Models = append(out.Models, &pluginpb.Model{Id: valid(m.ID), ContextTokens: m.ContextTokens, MaxOutputTokens: m.MaxOutputTokens})
		}
		return err
	})
	if err != nil {
		return &pluginpb.ListModelsResponse{Failure: s.unary(err)}, nil
	}
	return out, nil
}

func (s *server) CountTokens(ctx context.Context, r *pluginpb.CountTokensRequest) (*pluginpb.CountTokensResponse, error) {
	out := &pluginpb.CountTokensResponse{}
	err := s.ask(ctx, "CountTokens", s.provider.CountTokens != nil, func(ctx context.Context) (err error) {
		out.Tokens, err = s.provider.CountTokens(ctx, completeRequest(r.GetRequest()))
		return err
	})
	if err != nil {
		return &pluginpb.CountTokensResponse{Failure: s.unary(err)}, nil
	}
	return out, nil
}

// ask runs one handler without events.
func (s *server) ask(ctx context.Context, what string, has bool, fn func(context.Context) error) error {
	if !has {
		return Fail(Unsupported, "this plugin has no "+what, EffectNone)
	}
	ctx, end, err := s.begin(ctx)
	if err != nil {
		return err
	}
	defer end()
	return guard(what, func() error { return fn(ctx) })
}
