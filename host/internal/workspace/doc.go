// Package workspace knows where relay's own files of one repository lie, makes the
// folder, and writes into it so that a crash leaves either the old file or the new.
//
// It does not know what the files mean (ledger, report, history do), does not take
// the lock (lock), and calls no git.
//
// Callers: the workflows and host.
package workspace
