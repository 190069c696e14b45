// Package host is one repository as the commands see it: opened, looked at, run in, taken
// back. What is about one thing only is a room above it (host/plugins, host/setup,
// host/checkcmd, host/proof, host/cycles, host/pipelines): functions that take a [Repo].
//
// Every result is one document with a kind and a version, ready to be printed as
// JSON. Every error is a *diag.Error. [ExitCode] and the table behind [Explain] say
// what each outcome means for a shell and for a person.
//
// It does not parse flags, read a terminal or print, and holds no workflow: those
// are host/tick and its siblings, above host/change.
//
// Callers: cmd/relay and the rooms above.
package host
