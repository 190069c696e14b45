// Package bar is the line for a status bar: a small file of the workspace that those
// who change a cycle keep up to date, so that showing it needs no work.
//
// It answers "relay tmux-status" by itself, before the packages that come after it in
// the alphabet are set up: a status bar asks every few seconds, and setting up schemas
// and protocols would take longer than the answer. What is not plain (no such file, a
// workspace of another name, a text with more than printable ASCII, other flags) it
// leaves to the command.
//
// It imports nothing but the standard library and package root, reads no configuration
// and writes nothing.
//
// Callers: cycle, which writes the file; host.
package bar
