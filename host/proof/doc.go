// Package proof is for those who were not there: it checks the attestations of commits, and
// writes and checks an archive for an auditor.
//
// It believes no file of the workspace that nobody has signed, and says what it does not know.
//
// Caller: cmd/relay.
package proof
