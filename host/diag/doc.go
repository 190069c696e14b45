// Package diag is the one shape of an error that a person reads: what happened,
// why, and the next command to type.
//
// It does not print (cmd/relay), does not decide an exit code (host), and holds no
// table of codes (host/codes). Everything below host returns an *Error for
// whatever a user could act on, and a plain error for a bug.
package diag
