package launch

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/paxiom/relay/sdk/pluginpb"
)

// The day a second major of the protocol comes: a major is a protobuf package of its own,
// so one plugin serves both side by side over one implementation, go-plugin picks the
// highest that both know, and the host has one client for each behind one interface. A
// stand-in for the second major, whose call has another name, shows that all of that works
// with what is here.
const secondMajor = "relay.plugin.v2.Base"

// oneBase answers both majors.
type oneBase struct {
	pluginpb.UnimplementedBaseServer
}

func (oneBase) GetInfo(context.Context, *pluginpb.GetInfoRequest) (*pluginpb.GetInfoResponse, error) {
	return &pluginpb.GetInfoResponse{Name: "both", Version: "1.0.0"}, nil
}

// secondDesc is what a generator would make of the second major's file.
var secondDesc = grpc.ServiceDesc{ServiceName: secondMajor, HandlerType: (*pluginpb.BaseServer)(nil), Methods: []grpc.MethodDesc{{
	MethodName: "Describe",
	Handler: func(srv any, ctx context.Context, dec func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
		in := &pluginpb.GetInfoRequest{}
		if err := dec(in); err != nil {
			return nil, err
		}
		return srv.(pluginpb.BaseServer).GetInfo(ctx, in)
	},
}}}

// major is one version of the protocol on the plugin's side.
type major struct {
	goplugin.NetRPCUnsupportedPlugin
	number int
}

func (m major) GRPCServer(_ *goplugin.GRPCBroker, g *grpc.Server) error {
	if m.number == 1 {
		pluginpb.RegisterBaseServer(g, oneBase{})
	} else {
		g.RegisterService(&secondDesc, oneBase{})
	}
	return nil
}

func (major) GRPCClient(context.Context, *goplugin.GRPCBroker, *grpc.ClientConn) (any, error) {
	return nil, nil
}

func serveMajors(numbers ...int) {
	sets := map[int]goplugin.PluginSet{}
	for _, n := range numbers {
		sets[n] = goplugin.PluginSet{"base": major{number: n}}
	}
	goplugin.Serve(&goplugin.ServeConfig{HandshakeConfig: shake, VersionedPlugins: sets, GRPCServer: goplugin.DefaultGRPCServer})
}

// describe are the host's clients, by the major that they speak.
var describe = map[int]func(context.Context, *grpc.ClientConn) (*pluginpb.GetInfoResponse, error){
	1: func(ctx context.Context, c *grpc.ClientConn) (*pluginpb.GetInfoResponse, error) {
		return pluginpb.NewBaseClient(c).GetInfo(ctx, &pluginpb.GetInfoRequest{})
	},
	2: func(ctx context.Context, c *grpc.ClientConn) (*pluginpb.GetInfoResponse, error) {
		out := &pluginpb.GetInfoResponse{}
		return out, c.Invoke(ctx, "/"+secondMajor+"/Describe", &pluginpb.GetInfoRequest{}, out)
	},
}

func TestTwoMajorsSideBySide(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		plugin string
		host   []int
		speaks int // 0: they have none in common
	}{
		{"majors-1", []int{1}, 1}, {"majors-1", []int{1, 2}, 1}, {"majors-1", []int{2}, 0},
		{"majors-2", []int{1}, 0}, {"majors-2", []int{1, 2}, 2},
		{"majors-1-2", []int{1}, 1}, {"majors-1-2", []int{1, 2}, 2}, {"majors-1-2", []int{2}, 2},
	} {
		cfg := config(t, c.plugin)
		cfg.Versions = versions(c.host...)
		client, err := Start(context.Background(), cfg)
		if c.speaks == 0 {
			var e *Error
			if !errors.As(err, &e) || e.Kind != Version || !strings.Contains(e.What, "speaks relay protocol "+strings.TrimPrefix(c.plugin, "majors-")+"; this relay speaks ") ||
				!strings.Contains(e.Why, map[bool]string{true: "newer", false: "older"}[slices.Max(c.host) == 1]) || e.Fix == "" {
				t.Errorf("%s with %v: %v", c.plugin, c.host, err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%s with %v: %v", c.plugin, c.host, err)
		}
		if client.Protocol() != c.speaks {
			t.Errorf("%s with %v: they speak %d", c.plugin, c.host, client.Protocol())
		}
		if info, err := describe[c.speaks](context.Background(), client.Conn()); err != nil || info.GetName() != "both" {
			t.Errorf("%s with %v: %v %v", c.plugin, c.host, info, err)
		}
		if _, err := describe[3-c.speaks](context.Background(), client.Conn()); status.Code(err) != codes.Unimplemented {
			t.Errorf("%s with %v: the major that was not agreed on answers %v", c.plugin, c.host, err)
		}
		client.Stop(0, nil)
	}
}
