// Package trust remembers which repositories' configurations the person has said
// yes to, so that a cloned repository can't run code merely by being there.
//
// It does not ask (cmd/relay does) and does not read configuration files (config).
//
// Callers: host, before a workflow starts; relay trust.
package trust
