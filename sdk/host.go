package sdk

import (
	"context"

	plugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/paxiom/relay/sdk/pluginpb"
)

// Handshake keeps a plugin from being started by mistake and a host from starting
// something else. It is no secret and never changes; versions are negotiated
// through PluginMap.
var Handshake = plugin.HandshakeConfig{
	MagicCookieKey:   "RELAY_PLUGIN_COOKIE",
	MagicCookieValue: "ea8aee2ced750b5ca0984811dbc7ae6ccad51c3d983b3ba71e9f182b178b5b1f",
}

// The version of the protocol that this package speaks, and the names under which its
// services are dispensed.
const (
	ProtocolVersion = 1
	BaseService     = "base"     // dispenses a pluginpb.BaseClient
	ProviderService = "provider" // dispenses a pluginpb.ProviderClient
	BuilderService  = "builder"  // dispenses a pluginpb.BuilderClient
)

// PluginMap gives the host's plugin.ClientConfig.VersionedPlugins. It is new at each
// call, since go-plugin may write to it.
func PluginMap() map[int]plugin.PluginSet { return pluginSet(nil) }

func pluginSet(s *server) map[int]plugin.PluginSet {
	return map[int]plugin.PluginSet{ProtocolVersion: {
		BaseService: &service{
			client: func(c *grpc.ClientConn) any { return pluginpb.NewBaseClient(c) },
			server: func(g *grpc.Server) { s.registerAll(g) },
		},
		ProviderService: &service{client: func(c *grpc.ClientConn) any { return pluginpb.NewProviderClient(c) }},
		BuilderService:  &service{client: func(c *grpc.ClientConn) any { return pluginpb.NewBuilderClient(c) }},
	}}
}

// service is one name of the plugin set, for both ends.
type service struct {
	plugin.NetRPCUnsupportedPlugin
	client func(*grpc.ClientConn) any
	server func(*grpc.Server)
}

func (s *service) GRPCServer(_ *plugin.GRPCBroker, g *grpc.Server) error {
	if s.server != nil {
		s.server(g)
	}
	return nil
}

func (s *service) GRPCClient(_ context.Context, _ *plugin.GRPCBroker, c *grpc.ClientConn) (any, error) {
	return s.client(c), nil
}
