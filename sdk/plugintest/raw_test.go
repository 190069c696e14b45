package plugintest

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"time"

	plugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/paxiom/relay/sdk"
	"github.com/paxiom/relay/sdk/pluginpb"
)

// raw is a plugin without the SDK, as one in another language would be: the SDK does
// not let an author break most rules. breaks names what it does wrong.
type raw struct {
	pluginpb.UnimplementedBaseServer
	pluginpb.UnimplementedProviderServer
	breaks     string
	configured atomic.Int32
	asked      atomic.Int32
	running    atomic.Int32
	called     atomic.Bool
}

var (
	slow    atomic.Int32
	forever chan struct{}
)

func (r *raw) server() (*grpc.Server, error) {
	g := grpc.NewServer(grpc.MaxRecvMsgSize(sdk.MaxMessage), grpc.MaxSendMsgSize(sdk.MaxMessage))
	if r.breaks == "S1 small messages" {
		g = grpc.NewServer() // gRPC's own limit is 4 MiB
	}
	pluginpb.RegisterBaseServer(g, r)
	pluginpb.RegisterProviderServer(g, r)
	return g, nil
}

func (r *raw) GetInfo(context.Context, *pluginpb.GetInfoRequest) (*pluginpb.GetInfoResponse, error) {
	info := &pluginpb.GetInfoResponse{Name: "raw", Version: "1.0.0", Kinds: []pluginpb.GetInfoResponse_Kind{pluginpb.GetInfoResponse_KIND_PROVIDER},
		Capabilities: &pluginpb.Capabilities{OutputSchema: true}}
	switch r.breaks {
	case "B1 slow":
		if r.asked.Add(1) == 1 && slow.Add(1) <= 3 { // in each process that is tried, and in no later one
			time.Sleep(2 * time.Second)
		}
	case "B1 refuses":
		return nil, status.Error(codes.FailedPrecondition, "configure me first")
	case "B2 clock":
		info.Summary = fmt.Sprint("answer ", r.asked.Add(1))
	case "B3 no description":
		info.ConfigSchemaJson = []byte(`{"type":"object","properties":{"a":{"type":"object","description":"d","properties":{"b":{"type":"string"}}}}}`)
	case "B3 reads files":
		info.ConfigSchemaJson = []byte(`{"$ref":"file:///etc/passwd"}`)
	case "B3 no schema":
		info.ConfigSchemaJson = []byte(`{"type":"objct"}`)
	case "B3 old draft":
		info.ConfigSchemaJson = []byte(`{"$schema":"http://json-schema.org/draft-07/schema#"}`)
	case "B3 large":
		info.ConfigSchemaJson = []byte(`{"description":"` + strings.Repeat("x", sdk.MaxConfigSchema) + `"}`)
	}
	return info, nil
}

func (r *raw) Configure(context.Context, *pluginpb.ConfigureRequest) (*pluginpb.ConfigureResponse, error) {
	if r.configured.Add(1) == 1 || r.breaks == "B4 twice" {
		return &pluginpb.ConfigureResponse{}, nil
	}
	f := &pluginpb.Failure{Reason: pluginpb.Failure_REASON_BAD_CONFIG, Summary: "configured twice", Fix: "do not", Effect: pluginpb.Failure_EFFECT_NONE}
	switch r.breaks {
	case "B4 reason":
		f.Reason = pluginpb.Failure_REASON_INTERNAL
	case "F1 no fix":
		f.Fix = ""
	}
	return &pluginpb.ConfigureResponse{Failure: f}, nil
}

func (r *raw) Drain(context.Context, *pluginpb.DrainRequest) (*pluginpb.DrainResponse, error) {
	for end := time.Now().Add(10 * time.Second); r.running.Load() > 0 && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	return &pluginpb.DrainResponse{}, nil
}

func (r *raw) Complete(in *pluginpb.CompleteRequest, out grpc.ServerStreamingServer[pluginpb.CompleteEvent]) error {
	r.running.Add(1)
	defer r.running.Add(-1)
	if r.breaks == "B5 strict" && len(in.ProtoReflect().GetUnknown()) > 0 {
		return r.fail(out, 1, &pluginpb.Failure{Reason: pluginpb.Failure_REASON_BAD_REQUEST, Summary: "what is this?", Effect: pluginpb.Failure_EFFECT_NONE})
	}
	if in.Parts[0].GetText() == "limit" {
		return r.fail(out, 1, r.limit())
	}
	pause := 10 * time.Millisecond
	first := !r.called.Swap(true) // of this process; once is enough
	plain := first && len(in.Parts) == 1 && in.OutputSchemaJson == nil && len(in.ProtoReflect().GetUnknown()) == 0
	switch {
	case r.breaks == "S4 silent" && plain:
		pause = 2 * time.Second
	case r.breaks == "S5 busy" && first:
		pause = 300 * time.Millisecond
	}
	select {
	case <-time.After(pause):
	case <-out.Context().Done():
		if r.breaks == "S5 busy" {
			time.Sleep(3 * time.Second)
		}
		return out.Context().Err()
	}
	for _, ev := range r.events(in) {
		if err := out.Send(ev); err != nil {
			return err
		}
	}
	switch r.breaks {
	case "S7 goroutines":
		go func() { <-forever }()
	case "S1 status":
		return status.Error(codes.Unavailable, "upstream is down")
	case "B5 crash":
		if len(in.Parts) > 1 && in.Parts[1].Part == nil {
			return status.Error(codes.Internal, "nil part")
		}
	}
	return nil
}

// events is a whole call.
func (r *raw) events(in *pluginpb.CompleteRequest) []*pluginpb.CompleteEvent {
	started := &pluginpb.CompleteEvent{Event: &pluginpb.CompleteEvent_Started{Started: &pluginpb.CompleteStarted{}}}
	usage := func(n int64) *pluginpb.CompleteEvent {
		return &pluginpb.CompleteEvent{Event: &pluginpb.CompleteEvent_Usage{Usage: &pluginpb.Usage{OutputTokens: &n}}}
	}
	done := &pluginpb.CompleteDone{Text: "hello", Usage: &pluginpb.Usage{OutputTokens: proto.Int64(9)}}
	if in.OutputSchemaJson != nil {
		done.OutputJson = []byte(`{"answer":"hello"}`)
	}
	completed := &pluginpb.CompleteEvent{Event: &pluginpb.CompleteEvent_Completed{Completed: done}}
	all := []*pluginpb.CompleteEvent{started, usage(3), usage(7), completed}
	switch r.breaks {
	case "S1 no started":
		all = all[1:]
	case "S1 no end":
		all = all[:3]
	case "S1 continues":
		all = append(all, usage(9))
	case "S1 two ends":
		all = append(all, proto.Clone(completed).(*pluginpb.CompleteEvent))
	case "S1 status":
		all = all[:3]
	case "S3 down":
		all[2] = usage(2)
	case "S3 last":
		done.Usage.OutputTokens = proto.Int64(5)
	case "S3 forgotten":
		done.Usage = nil
	case "S6 other type":
		if in.OutputSchemaJson != nil {
			done.OutputJson = []byte(`{"answer":1}`)
		}
	case "S6 unasked":
		done.OutputJson = []byte(`{}`)
	}
	for i, ev := range all {
		ev.Seq = uint64(i + 1)
		if i > 1 && r.breaks == "S2 gap" {
			ev.Seq++
		}
		if r.breaks == "S2 from zero" {
			ev.Seq--
		}
	}
	return all
}

// limit is the failure of the case "limit".
func (r *raw) limit() *pluginpb.Failure {
	f := &pluginpb.Failure{Reason: pluginpb.Failure_REASON_RATE_LIMITED, Summary: "slow down",
		RetryAfter: durationpb.New(time.Second), Effect: pluginpb.Failure_EFFECT_NONE}
	switch r.breaks {
	case "F1 two lines":
		f.Summary = "slow\ndown"
	case "F1 long":
		f.Summary = strings.Repeat("slow", 51)
	case "F1 empty":
		f.Summary = ""
	case "F2 when":
		f.RetryAfter = nil
	case "F2 past":
		f.Reason, f.ResetAt = pluginpb.Failure_REASON_QUOTA_EXHAUSTED, timestamppb.New(time.Now().Add(-time.Hour))
	case "F3 effect":
		f.Effect = pluginpb.Failure_EFFECT_UNSPECIFIED
	}
	return f
}

func (r *raw) fail(out grpc.ServerStreamingServer[pluginpb.CompleteEvent], seq uint64, f *pluginpb.Failure) error {
	_ = out.Send(&pluginpb.CompleteEvent{Seq: seq, Event: &pluginpb.CompleteEvent_Started{Started: &pluginpb.CompleteStarted{}}})
	return out.Send(&pluginpb.CompleteEvent{Seq: seq + 1, Event: &pluginpb.CompleteEvent_Failure{Failure: f}})
}

// serveRaw serves with go-plugin alone: no lifeline, no end after Drain.
func serveRaw(r *raw) {
	if len(os.Args) > 1 && os.Args[1] == "--info" {
		info, _ := r.GetInfo(context.Background(), nil)
		fmt.Println(protojson.Format(info))
		return
	}
	plugin.Serve(&plugin.ServeConfig{
		HandshakeConfig:  sdk.Handshake,
		VersionedPlugins: map[int]plugin.PluginSet{sdk.ProtocolVersion: {sdk.BaseService: rawPlugin{r: r}}},
		GRPCServer: func(opts []grpc.ServerOption) *grpc.Server {
			return grpc.NewServer(append(opts, grpc.MaxRecvMsgSize(sdk.MaxMessage), grpc.MaxSendMsgSize(sdk.MaxMessage))...)
		},
	})
}

type rawPlugin struct {
	plugin.NetRPCUnsupportedPlugin
	r *raw
}

func (p rawPlugin) GRPCServer(_ *plugin.GRPCBroker, g *grpc.Server) error {
	pluginpb.RegisterBaseServer(g, p.r)
	pluginpb.RegisterProviderServer(g, p.r)
	return nil
}

func (p rawPlugin) GRPCClient(context.Context, *plugin.GRPCBroker, *grpc.ClientConn) (any, error) {
	return nil, nil
}
