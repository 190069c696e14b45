// Package scripted turns a failure that is written as a script writes it (sdk/script)
// into what a handler returns.
//
// It reads no files and decides nothing.
//
// Callers: the plugins replay and external.
package scripted
