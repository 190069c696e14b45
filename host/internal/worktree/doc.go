// Package worktree keeps a pool of git work trees in a folder of relay's own. A caller that
// needs one takes it on a branch, and gives it back; the next one takes it over instead
// of having a new one made, which in a large repository costs seconds and gigabytes.
//
// It does not lock: of several callers, each must hold what keeps the others out. It
// does not know cycles or tasks (an owner is a word), commits nothing, and never
// touches the operator's checkout.
//
// Callers: host/cycle and host/pipeline.
package worktree
