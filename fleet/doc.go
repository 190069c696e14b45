// The program relay-fleet makes runs of relay for many repositories on many machines, with
// Temporal as the engine that remembers what was asked for. It is called as `relay fleet`
// where it is installed beside relay.
//
// It holds the commands: they parse, ask the engine and print. It judges nothing, buys nothing
// and lands nothing; relay does, as a program of its own.
package main
