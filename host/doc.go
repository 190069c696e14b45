// Package host is what the commands call: one repository, and everything that can
// be done with it, as functions that take plain values and give plain structs.
//
// Every result is one document with a kind and a version, ready to be printed as
// JSON. Every error is a *fault.Fault. [ExitCode] and the table behind [Explain] say
// what each outcome means for a shell and for a person.
//
// It does not parse flags, read a terminal or print, and holds no workflow: those
// are host/tick and its siblings, above host/change.
//
// Caller: cmd/relay.
package host
