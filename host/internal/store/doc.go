// Package store has what small files need that several processes change: a lock, and the
// reading, changing and writing under it.
//
// It knows no format. Locks that are held as long as something runs are those of package
// lock.
//
// Callers: attest, ledger, queue, quota, trust and the cycles, each for files of its own.
package store
