// Package presence lets those outside see what a running relay is at: one small file of the
// workspace for each process, which goes with it.
//
// What stands in it is what the process said of itself; nothing is decided by it, and it is
// no record. Reading takes no lock. A process that is gone has no record, whatever it left.
//
// Callers: host, which records for every workflow and reads for relay watch.
package presence
