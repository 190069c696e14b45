package schemas

import "embed"

// Protos are the protocol's sources, relay/plugin/v1/*.proto, for authors of plugins in
// languages that the SDK is not for.
//
//go:embed relay/plugin/v1/*.proto
var Protos embed.FS
