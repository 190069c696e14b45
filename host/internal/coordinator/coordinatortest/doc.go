// Package coordinatortest is the other end of a coordinator's socket for tests: documents in
// memory that are compared and swapped as a worker of a fleet does it. It keeps nothing beyond
// the test, and no other process is meant to ask it.
//
// Callers: tests of coordinator and ledger.
package coordinatortest
