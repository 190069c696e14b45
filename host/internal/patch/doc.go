// Package patch writes what a builder changed as a patch that git apply takes: for people,
// for the history of a run, and for models that review it.
//
// Nothing is decided by a patch and nothing lands by way of one, so it is outside of the
// core. It does not apply patches.
//
// Callers: host and its workflows.
package patch
