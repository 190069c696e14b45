package sdk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/paxiom/relay/sdk/pluginpb"
)

// host is the other end of a plugin in this process.
type host struct {
	pluginpb.BaseClient
	pluginpb.ProviderClient
	pluginpb.BuilderClient
	s *server
}

func connect(t *testing.T, parts ...Part) *host {
	t.Helper()
	s, err := newServer(Info{Name: "test", Version: "1.0.0"}, parts)
	if err != nil {
		t.Fatal(err)
	}
	g := grpcServer(nil)
	s.registerAll(g)
	lis := bufconn.Listen(1 << 20)
	go func() { _ = g.Serve(lis) }()
	t.Cleanup(g.Stop)
	conn, err := grpc.NewClient("passthrough:///plugin", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return lis.DialContext(ctx) }),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(MaxMessage), grpc.MaxCallSendMsgSize(2*MaxMessage)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return &host{pluginpb.NewBaseClient(conn), pluginpb.NewProviderClient(conn), pluginpb.NewBuilderClient(conn), s}
}

// ready connects to a plugin, asks for text deltas and configures it.
func ready(t *testing.T, parts ...Part) *host {
	t.Helper()
	h := connect(t, parts...)
	_, err := h.GetInfo(t.Context(), &pluginpb.GetInfoRequest{Host: &pluginpb.HostCapabilities{TextDelta: true}})
	if err != nil {
		t.Fatal(err)
	}
	if r, err := h.Configure(t.Context(), &pluginpb.ConfigureRequest{}); err != nil || r.Failure != nil {
		t.Fatal(r, err)
	}
	return h
}

func prompt(text string) *pluginpb.CompleteRequest {
	return &pluginpb.CompleteRequest{Parts: []*pluginpb.Part{{Part: &pluginpb.Part_Text{Text: text}}}}
}

// complete makes one call and checks what holds for every call: numbers without a gap,
// started first, one last event.
func (h *host) complete(t *testing.T, ctx context.Context, r *pluginpb.CompleteRequest) []*pluginpb.CompleteEvent {
	t.Helper()
	st, err := h.Complete(ctx, r)
	if err != nil {
		t.Fatal(err)
	}
	var events []*pluginpb.CompleteEvent
	for {
		ev, err := st.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("after %d events: %v", len(events), err)
		}
		if events = append(events, ev); ev.Seq != uint64(len(events)) {
			t.Errorf("event %d has the number %d", len(events), ev.Seq)
		}
		last := ev.GetCompleted() != nil || ev.GetFailure() != nil
		if first := len(events) == 1; first != (ev.GetStarted() != nil) {
			t.Errorf("event %d is %v", len(events), ev)
		}
		if !last {
			continue
		}
		if _, err := st.Recv(); !errors.Is(err, io.EOF) {
			t.Errorf("after the last event: %v", err)
		}
		break
	}
	return events
}

func failed(t *testing.T, events []*pluginpb.CompleteEvent) *pluginpb.Failure {
	t.Helper()
	f := events[len(events)-1].GetFailure()
	if f == nil {
		t.Fatalf("the last event is %v", events[len(events)-1])
	}
	return f
}

func provider(fn func(context.Context, *CompleteRequest, Events) (*Completion, error)) Provider {
	return Provider{Complete: fn}
}

func TestCompleteStreams(t *testing.T) {
	h := ready(t, provider(func(_ context.Context, r *CompleteRequest, out Events) (*Completion, error) {
		out.Started(Started{Model: "m1", ToolVersion: "2.0"})
		out.Text("he")
		out.Text("llo\xff")
		out.Usage(Usage{Input: Known(10), Output: Known(5)})
		out.Usage(Usage{Input: Known(8), Output: Known(7)}) // goes down: is not sent
		out.Started(Started{Model: "m2"})
		out.Progress(Progress{Phase: "thinking", Text: "hard"})
		out.RateLimit(RateLimit{Name: "five_hour", UsedFraction: 0.5})
		return &Completion{Text: r.Text(), Usage: Usage{Output: Known(6), CostMicroUSD: Known(0)}}, nil
	}))
	events := h.complete(t, t.Context(), prompt("a prompt"))
	if s := events[0].GetStarted(); s.Model != "m1" || s.ToolVersion != "2.0" {
		t.Errorf("started is %v", s)
	}
	if a, b := events[1].GetTextDelta(), events[2].GetTextDelta(); a != "he" || b != "llo\uFFFD" {
		t.Errorf("texts are %q %q", a, b)
	}
	if u := events[4].GetUsage(); u.GetInputTokens() != 10 || u.GetOutputTokens() != 7 || u.CostMicrousd != nil {
		t.Errorf("usage is %v", u)
	}
	if n := events[5].GetNotice().GetText(); !strings.Contains(n, "m2") {
		t.Errorf("a second started became %q", n)
	}
	done := events[len(events)-1].GetCompleted()
	if done.GetText() != "a prompt" {
		t.Errorf("done is %v", done)
	}
	if u := done.GetUsage(); u.GetInputTokens() != 10 || u.GetOutputTokens() != 7 || u.CostMicrousd == nil || u.CacheReadTokens != nil {
		t.Errorf("the last usage is %v", u)
	}
}

func TestDeltasOnlyForHostsThatKnowThem(t *testing.T) {
	h := connect(t, provider(func(_ context.Context, _ *CompleteRequest, out Events) (*Completion, error) {
		out.Text("piece")
		return &Completion{}, nil
	}))
	if _, err := h.Configure(t.Context(), &pluginpb.ConfigureRequest{}); err != nil {
		t.Fatal(err)
	}
	if events := h.complete(t, t.Context(), prompt("x")); len(events) != 2 {
		t.Errorf("got %v", events)
	}
}

func TestFailuresOfHandlers(t *testing.T) {
	long := strings.Repeat("ä ", 300)
	for name, tc := range map[string]struct {
		do   func(Events) (*Completion, error)
		want *pluginpb.Failure // compared field by field where set
	}{
		"typed": {func(Events) (*Completion, error) {
			return nil, Fail(RateLimited, "slow down", RetryAfter(3*time.Second), Limit("rpm"), Upstream("429", "req_1"), Detail("d"), Fix("f"))
		}, &pluginpb.Failure{Reason: pluginpb.Failure_REASON_RATE_LIMITED, Summary: "slow down", Detail: "d", Fix: "f", LimitName: "rpm",
			UpstreamCode: "429", UpstreamRequestId: "req_1", RetryAfter: durationpb.New(3 * time.Second), Effect: pluginpb.Failure_EFFECT_NONE}},
		"wrapped": {func(Events) (*Completion, error) {
			return nil, fmt.Errorf("in between: %w", Fail(Billing, "no credit", EffectCharged))
		}, &pluginpb.Failure{Reason: pluginpb.Failure_REASON_BILLING, Effect: pluginpb.Failure_EFFECT_CHARGED}},
		"after an event": {func(out Events) (*Completion, error) {
			out.Usage(Usage{Output: Known(3)})
			return nil, Fail(Overloaded, "overloaded")
		}, &pluginpb.Failure{Reason: pluginpb.Failure_REASON_OVERLOADED, Effect: pluginpb.Failure_EFFECT_UNKNOWN}},
		"long summary": {func(Events) (*Completion, error) { return nil, Fail(Refused, long+"\nsecond line") },
			&pluginpb.Failure{Reason: pluginpb.Failure_REASON_REFUSED, Detail: long + "\nsecond line", Effect: pluginpb.Failure_EFFECT_UNKNOWN}},
		"any error":     {func(Events) (*Completion, error) { return nil, io.ErrUnexpectedEOF }, &pluginpb.Failure{Reason: pluginpb.Failure_REASON_INTERNAL, Detail: "unexpected EOF"}},
		"deadline":      {func(Events) (*Completion, error) { return nil, context.DeadlineExceeded }, &pluginpb.Failure{Reason: pluginpb.Failure_REASON_TIMEOUT}},
		"neither":       {func(Events) (*Completion, error) { return nil, nil }, &pluginpb.Failure{Reason: pluginpb.Failure_REASON_INTERNAL}},
		"nil failure":   {func(Events) (*Completion, error) { var f *Failure; return nil, f }, &pluginpb.Failure{Reason: pluginpb.Failure_REASON_INTERNAL}},
		"no reason":     {func(Events) (*Completion, error) { return nil, &Failure{} }, &pluginpb.Failure{Reason: pluginpb.Failure_REASON_INTERNAL, Summary: "the plugin gave no reason"}},
		"panic":         {func(Events) (*Completion, error) { panic("oh") }, &pluginpb.Failure{Reason: pluginpb.Failure_REASON_INTERNAL, Detail: "oh"}},
		"broken string": {func(Events) (*Completion, error) { return nil, Fail(Network, "a\xffb") }, &pluginpb.Failure{Reason: pluginpb.Failure_REASON_NETWORK, Summary: "a\uFFFDb"}},
	} {
		t.Run(name, func(t *testing.T) {
			h := ready(t, provider(func(_ context.Context, _ *CompleteRequest, out Events) (*Completion, error) { return tc.do(out) }))
			for range 2 { // the plugin lives on
				f := failed(t, h.complete(t, t.Context(), prompt("x")))
				if f.Reason != tc.want.Reason || tc.want.Summary != "" && f.Summary != tc.want.Summary ||
					tc.want.Detail != "" && f.Detail != tc.want.Detail || tc.want.Effect != 0 && f.Effect != tc.want.Effect ||
					f.Fix != tc.want.Fix && tc.want.Fix != "" || f.RetryAfter.AsDuration() != tc.want.RetryAfter.AsDuration() ||
					f.UpstreamCode != tc.want.UpstreamCode || f.LimitName != tc.want.LimitName {
					t.Errorf("got  %v\nwant %v", f, tc.want)
				}
				if f.Effect == pluginpb.Failure_EFFECT_UNSPECIFIED || f.Summary == "" || len(f.Summary) > 200 || strings.Contains(f.Summary, "\n") {
					t.Errorf("not fit for the wire: %v", f)
				}
			}
		})
	}
}

func TestSchemaIsHeld(t *testing.T) {
	answer := json.RawMessage(nil)
	complete := func(context.Context, *CompleteRequest, Events) (*Completion, error) {
		return &Completion{JSON: answer}, nil
	}
	asked := prompt("x")
	asked.OutputSchemaJson = []byte(`{}`)
	without := ready(t, Provider{Complete: complete})
	if f := failed(t, without.complete(t, t.Context(), asked)); f.Reason != pluginpb.Failure_REASON_UNSUPPORTED {
		t.Errorf("got %v", f)
	}
	h := ready(t, Provider{Complete: complete, OutputSchema: true})
	for _, broken := range []string{"", "{", "text"} {
		answer = json.RawMessage(broken)
		if f := failed(t, h.complete(t, t.Context(), asked)); f.Reason != pluginpb.Failure_REASON_BAD_OUTPUT {
			t.Errorf("%q: got %v", broken, f)
		}
	}
	answer = json.RawMessage(`{"a":1}`)
	events := h.complete(t, t.Context(), asked)
	if got := events[1].GetCompleted().GetOutputJson(); string(got) != `{"a":1}` {
		t.Errorf("got %q", got)
	}
	if got := h.complete(t, t.Context(), prompt("x"))[1].GetCompleted().GetOutputJson(); got != nil {
		t.Errorf("nobody asked for %q", got)
	}
}

func TestLargestMessages(t *testing.T) {
	h := ready(t, provider(func(_ context.Context, r *CompleteRequest, out Events) (*Completion, error) {
		out.Text(r.Text())
		return &Completion{Text: r.Text() + strings.Repeat("x", r.MaxTurns)}, nil
	}))
	r := prompt(strings.Repeat("p", MaxAnswer-64))
	if done := h.complete(t, t.Context(), r); len(done[len(done)-1].GetCompleted().GetText()) != MaxAnswer-64 {
		t.Errorf("the largest message did not come back: %d events", len(done))
	}
	r.MaxTurns = 100
	if f := failed(t, h.complete(t, t.Context(), r)); f.Reason != pluginpb.Failure_REASON_TOO_LARGE {
		t.Errorf("got %v", f)
	}
}

func TestConfigure(t *testing.T) {
	type settings struct{ Binary string }
	var got settings
	p := Provider{
		Complete:  func(context.Context, *CompleteRequest, Events) (*Completion, error) { return &Completion{}, nil },
		Configure: func(_ context.Context, c *Config) error { return c.Decode(&got) },
	}
	h := connect(t, p)
	if f := failedOnly(t, h); f.Reason != pluginpb.Failure_REASON_BAD_CONFIG {
		t.Errorf("work before Configure: %v", f)
	}
	r, err := h.Configure(t.Context(), &pluginpb.ConfigureRequest{ConfigJson: []byte(`{"binary":"claude"}`)})
	if err != nil || r.Failure != nil || got.Binary != "claude" {
		t.Errorf("got %v %v %v", r, got, err)
	}
	r, err = h.Configure(t.Context(), &pluginpb.ConfigureRequest{})
	if err != nil || r.GetFailure().GetReason() != pluginpb.Failure_REASON_BAD_CONFIG {
		t.Errorf("second: %v %v", r, err)
	}
	h.complete(t, t.Context(), prompt("x"))

	for _, bad := range []string{`{"binray":"x"}`, `{"binary":1}`, `{} {}`, `[`} {
		h := connect(t, p)
		r, err := h.Configure(t.Context(), &pluginpb.ConfigureRequest{ConfigJson: []byte(bad)})
		if err != nil || r.GetFailure().GetReason() != pluginpb.Failure_REASON_BAD_CONFIG || r.Failure.Fix == "" {
			t.Errorf("%s: %v %v", bad, r, err)
		}
		if f := failedOnly(t, h); f.Reason != pluginpb.Failure_REASON_BAD_CONFIG {
			t.Errorf("work after a failed Configure: %v", f)
		}
	}
}

// failedOnly makes a call that is refused before any handler runs.
func failedOnly(t *testing.T, h *host) *pluginpb.Failure {
	t.Helper()
	return failed(t, h.complete(t, t.Context(), prompt("x")))
}

func TestSilenceIsFilled(t *testing.T) {
	h := ready(t, provider(func(ctx context.Context, _ *CompleteRequest, out Events) (*Completion, error) {
		time.Sleep(300 * time.Millisecond)
		return &Completion{}, nil
	}))
	h.s.rhythm = rhythm{started: 20 * time.Millisecond, heartbeat: 20 * time.Millisecond, late: time.Second}
	beats := 0
	for _, ev := range h.complete(t, t.Context(), prompt("x")) {
		if ev.GetHeartbeat() != nil {
			beats++
		}
	}
	if beats < 2 {
		t.Errorf("%d heartbeats in 300 ms", beats)
	}
	if d := defaultRhythm; d.started > 15*time.Second || d.heartbeat != 10*time.Second {
		t.Errorf("the rhythm is %v", d)
	}
}

func TestCallsQueueUnlessConcurrent(t *testing.T) {
	for _, concurrent := range []bool{false, true} {
		var now, most atomic.Int32
		h := ready(t, Provider{Concurrent: concurrent, Complete: func(context.Context, *CompleteRequest, Events) (*Completion, error) {
			if n := now.Add(1); n > most.Load() {
				most.Store(n)
			}
			time.Sleep(50 * time.Millisecond)
			now.Add(-1)
			return &Completion{}, nil
		}})
		var wg sync.WaitGroup
		for range 4 {
			wg.Add(1)
			go func() { defer wg.Done(); h.complete(t, t.Context(), prompt("x")) }()
		}
		wg.Wait()
		if got := most.Load(); (got == 1) == concurrent {
			t.Errorf("concurrent %v: up to %d at once", concurrent, got)
		}
	}
}

func TestCancelReachesTheHandler(t *testing.T) {
	entered, ended := make(chan struct{}), make(chan error, 1)
	h := ready(t, provider(func(ctx context.Context, _ *CompleteRequest, out Events) (*Completion, error) {
		close(entered)
		<-ctx.Done()
		ended <- ctx.Err()
		return nil, ctx.Err()
	}))
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := h.Complete(ctx, prompt("x")); err != nil {
		t.Fatal(err)
	}
	<-entered
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestDrain(t *testing.T) {
	for name, tc := range map[string]struct {
		grace   time.Duration
		handler func(ctx context.Context)
		want    pluginpb.Failure_Reason // 0: completed
	}{
		"work that ends":   {30 * time.Second, func(context.Context) { time.Sleep(200 * time.Millisecond) }, 0},
		"work that is cut": {400 * time.Millisecond, func(ctx context.Context) { <-ctx.Done() }, pluginpb.Failure_REASON_CANCELLED},
	} {
		t.Run(name, func(t *testing.T) {
			entered := make(chan struct{})
			h := ready(t, provider(func(ctx context.Context, _ *CompleteRequest, _ Events) (*Completion, error) {
				close(entered)
				tc.handler(ctx)
				return &Completion{}, ctx.Err()
			}))
			var drained atomic.Bool
			h.s.drained = func() { drained.Store(true) }
			var events []*pluginpb.CompleteEvent
			var wg sync.WaitGroup
			wg.Add(1)
			go func() { defer wg.Done(); events = h.complete(t, t.Context(), prompt("x")) }()
			<-entered
			start := time.Now()
			if _, err := h.Drain(t.Context(), &pluginpb.DrainRequest{Grace: durationpb.New(tc.grace)}); err != nil {
				t.Fatal(err)
			}
			if d := time.Since(start); d > 15*time.Second {
				t.Errorf("drained after %v", d)
			}
			wg.Wait()
			if got := events[len(events)-1].GetFailure().GetReason(); got != tc.want || !drained.Load() {
				t.Errorf("got %v, drained %v", got, drained.Load())
			}
			if f := failedOnly(t, h); f.Reason != pluginpb.Failure_REASON_CANCELLED || f.Effect != pluginpb.Failure_EFFECT_NONE {
				t.Errorf("new work after Drain: %v", f)
			}
		})
	}
}

func TestBuildStreams(t *testing.T) {
	h := ready(t, Builder{Resume: true, Build: func(_ context.Context, r *BuildRequest, out Events) (*BuildResult, error) {
		out.Started(Started{Session: "s1"})
		out.Text("thinking")
		half := 0.5
		out.Progress(Progress{Phase: "edit", Fraction: &half})
		status := 1
		out.Command(Command{Argv: []string{"go", "test", "\xff"}, ExitCode: &status})
		out.File("a\xffb.go")
		out.Notice("n")
		return &BuildResult{JSON: r.Task, Session: r.ResumeSession, Usage: Usage{Output: Known(4)}}, nil
	}})
	st, err := h.Build(t.Context(), &pluginpb.BuildRequest{TaskJson: []byte(`{"a":1}`), ResumeSession: "s0", Timeout: durationpb.New(time.Minute)})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for {
		ev, err := st.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		f := ev.ProtoReflect().WhichOneof(ev.ProtoReflect().Descriptor().Oneofs().ByName("event"))
		got = append(got, string(f.Name()))
		if done := ev.GetCompleted(); done != nil && (string(done.ResultJson) != `{"a":1}` || done.Session != "s0" || done.Usage.GetOutputTokens() != 4) {
			t.Errorf("done is %v", done)
		}
	}
	if want := "started progress progress command file notice completed"; strings.Join(got, " ") != want {
		t.Errorf("got  %v\nwant %s", got, want)
	}
}

func TestUnaryHandlers(t *testing.T) {
	p := Provider{
		Complete:    func(context.Context, *CompleteRequest, Events) (*Completion, error) { return &Completion{}, nil },
		ListModels:  func(context.Context) ([]Model, error) { return []Model{{ID: "m", ContextTokens: 9}}, nil },
		CountTokens: func(_ context.Context, r *CompleteRequest) (int64, error) { return int64(len(r.Text())), nil },
		Health: func(_ context.Context, deep bool) (*Health, error) {
			if deep {
				return nil, Fail(NotLoggedIn, "not logged in", Fix("`claude login`"))
			}
			return &Health{Detail: "fine", Limits: []RateLimit{{Name: "l", ResetAt: time.Unix(5, 0)}}}, nil
		},
	}
	h := ready(t, p)
	if r, err := h.ListModels(t.Context(), &pluginpb.ListModelsRequest{}); err != nil || len(r.Models) != 1 || r.Models[0].ContextTokens != 9 {
		t.Errorf("%v %v", r, err)
	}
	if r, err := h.CountTokens(t.Context(), &pluginpb.CountTokensRequest{Request: prompt("four")}); err != nil || r.Tokens != 4 {
		t.Errorf("%v %v", r, err)
	}
	if r, err := h.Health(t.Context(), &pluginpb.HealthRequest{}); err != nil || r.Failure != nil || r.Detail != "fine" || r.Limits[0].ResetAt.AsTime().Unix() != 5 {
		t.Errorf("%v %v", r, err)
	}
	if r, err := h.Health(t.Context(), &pluginpb.HealthRequest{Deep: true}); err != nil || r.Failure.GetReason() != pluginpb.Failure_REASON_NOT_LOGGED_IN {
		t.Errorf("%v %v", r, err)
	}
	p.ListModels = func(context.Context) ([]Model, error) { panic("x") }
	p.CountTokens = nil
	h = ready(t, p)
	if r, err := h.ListModels(t.Context(), &pluginpb.ListModelsRequest{}); err != nil || r.Failure.GetReason() != pluginpb.Failure_REASON_INTERNAL {
		t.Errorf("%v %v", r, err)
	}
	if r, err := h.CountTokens(t.Context(), &pluginpb.CountTokensRequest{}); err != nil || r.Failure.GetReason() != pluginpb.Failure_REASON_UNSUPPORTED {
		t.Errorf("%v %v", r, err)
	}
}

func TestMistakesOfAuthors(t *testing.T) {
	good := Info{Name: "x", Version: "1.0.0"}
	p := provider(func(context.Context, *CompleteRequest, Events) (*Completion, error) { return nil, nil })
	for name, tc := range map[string]struct {
		info  Info
		parts []Part
	}{
		"no part":       {good, nil},
		"no handler":    {good, []Part{Provider{}}},
		"two providers": {good, []Part{p, p}},
		"pointer":       {good, []Part{&p}},
		"name":          {Info{Name: "../x", Version: "1.0.0"}, []Part{p}},
		"version":       {Info{Name: "x", Version: "one"}, []Part{p}},
		"summary":       {Info{Name: "x", Version: "1.0.0", Summary: "a\nb"}, []Part{p}},
		"alias":         {Info{Name: "x", Version: "1.0.0", Aliases: []string{"X"}}, []Part{p}},
		"schema":        {Info{Name: "x", Version: "1.0.0", ConfigSchema: []byte("{")}, []Part{p}},
	} {
		if _, err := NewServer(tc.info, tc.parts...); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	if _, err := NewServer(good, p); err != nil {
		t.Error(err)
	}
}
