// Package push sends a branch to a remote, without ever forcing: what others put there
// is never lost, and a remote that has diverged is an error that says how to join
// the two.
//
// It uses the user's own git logins and asks nobody; it makes no commits, merges
// nothing, and does not decide when to push.
//
// Caller: host/pipeline.
package push
