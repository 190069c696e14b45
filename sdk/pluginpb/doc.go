// Package pluginpb is generated from schemas/relay/plugin/v1 by `make generate`.
// It holds no code written by hand. Plugin authors use package sdk instead.
package pluginpb
