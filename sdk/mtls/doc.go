// Package mtls makes the certificates by which a host and its plugin know each other.
//
// It speaks go-plugin's automatic mutual TLS: each side makes a certificate for this
// one connection, the host's goes by the environment and the plugin's by the handshake
// line, and each accepts nothing but the other's. Only the curve is another: P-256,
// where go-plugin takes P-521, which costs each process 10 ms and more at every start.
// Either side also works with a partner that uses go-plugin's own.
//
// It opens no connection and writes nothing to disk.
//
// Callers: sdk (the plugin's side) and host/internal/launch (the host's).
package mtls
