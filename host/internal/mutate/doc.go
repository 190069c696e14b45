// Package mutate makes small mistakes in source code, to see whether a check, or a new
// test, notices them.
//
// It knows no grammar: it changes operators, small numbers and truth values outside of
// comments and texts, so that some of its mutants do not compile and some change nothing.
// Callers: host, host/newtests.
package mutate
