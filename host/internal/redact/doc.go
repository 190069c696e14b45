// Package redact masks secret values in texts, streams and protocol messages.
//
// It knows values, not patterns: what relay handed to a plugin as a secret is taken
// out of whatever comes back. It does not find secrets by their look, and does not
// mask a value that arrives in two separate messages.
//
// Callers: packages launch, pluginhost and broker.
package redact
