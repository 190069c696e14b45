// Package progress is what a running workflow tells its observers: states
// entered and finished, what plugins say, tokens and dollars.
//
// It decides nothing, keeps nothing and prints nothing (cmd/relay does). Nothing of
// it is part of the record of a run (report is).
//
// Callers: the workflows send, host hands the observer through.
package progress
