// Package coordinator is what processes that share an account agree by: small documents, each
// read whole and replaced whole, with nothing of another's lost in between. The ledger keeps
// the account of the day in one, quota the line before a vendor and until when that refuses.
//
// There are two implementations of [Document]. Those of one machine share files under a lock,
// which are the callers' own; those of several ask the program at the other end of the socket
// that [Env] names, such as a worker of a fleet.
//
// It knows nothing of what is in a document.
//
// Callers: ledger and quota.
package coordinator
