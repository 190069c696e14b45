// Package journal is the write-ahead log of one running change: what is about to be
// done is on disk, fsynced, before it is done.
//
// Each run has one file of JSON lines and, when it needs it, one file of images: the
// bytes that an apply is about to replace and to write. Both go when the run is
// settled. A run whose files are still there at the next start was cut off, and its
// last whole record says where.
//
// It does not know what records mean and does not recover anything (host/change
// does), and it is not the history of runs (history is).
//
// Callers: host/change; the workflows by way of it.
package journal
