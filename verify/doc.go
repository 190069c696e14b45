// Package verify turns the checks that a task asks for into commands and runs them
// in order.
//
// The task names templates and gives parameters; the configuration owns the
// commands. [Plan] builds and checks every argument vector before the first one
// runs; nothing is ever given to a shell. [Run] runs them one after the other
// through an [Exec], fast ones first, and stops at the first that fails.
//
// It does not know where commands run (host/change gives each a fresh box), what
// they may write, or how a result is reported.
//
// Caller: host/checks.
package verify
