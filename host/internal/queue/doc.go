// Package queue keeps queue.md, the list of what waits in a workspace: for the operator,
// or for a moment. It is always current and written whole, so that
// `watch cat .relay/queue.md` shows where things stand without asking anybody.
//
// It decides nothing and only people read it: a workflow that waits keeps a record of
// its own, and puts its entry here.
//
// Callers: host/loop and the other workflows.
package queue
