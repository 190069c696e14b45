// Package root finds the working tree that a folder lies in.
//
// It imports nothing but the standard library, starts no process, and does not say
// whether git accepts the repository. Words for people are its callers' work.
//
// Callers: workspace, bar.
package root
