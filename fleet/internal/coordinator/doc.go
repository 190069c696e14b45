// Package coordinator gives the relays of all workers one account: the documents that relay
// changes as a whole (what the day has cost, until when a vendor refuses) are kept by one small
// workflow, and each worker passes them on by a socket of its machine.
//
// A document lies in a blob, and the workflow's history has digests only. It knows nothing of
// what is in one, and keeps no cap: relay does.
package coordinator
