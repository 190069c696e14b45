// Package collector is an OpenTelemetry collector on loopback, for tests: it takes spans by
// OTLP over HTTP, as protobuf, and tells what it got. It can hang, as real ones do.
//
// It keeps all in memory, knows no other signal than traces, and checks nothing.
//
// Callers: the tests of host/internal/telemetry and the scripts of cmd/relay.
package collector
