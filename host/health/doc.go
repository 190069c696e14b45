// Package health asks plugins how they are: each is started in a box that can write nothing,
// with its own configuration and keys, and says what it lacks. It knows which plugins a tick,
// a cycle and a pipeline need, and has the line that doctor and a preflight print of each.
//
// It decides nothing about a run, and asks a model only where the caller has a ledger opened
// for that.
//
// Callers: host, and the rooms above it.
package health
