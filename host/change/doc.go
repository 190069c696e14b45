// Package change is the one way in which relay changes a repository: box, build,
// judge, verify, then apply and commit, or discard and keep what was rejected.
//
// A [Change] is one such way. Its builder runs in a box and never writes the
// real tree, so there is nothing to roll back; the real tree is written in one
// place, [Change.Land], and only with what was judged. What is about to be written
// is journaled first, old bytes and new, so that a crash at any point is finished or
// reverted by [Recover].
//
// It does not know what a task, a tick, an audit or a budget is, speaks to no plugin,
// writes no report, and decides nothing about scope (judge does).
//
// Callers: the workflows (host/tick and its siblings), and host for undo, salvage
// and recover.
package change
