// Package stoprequest is the operator's wish, said from another terminal, that the relay
// that works in a workspace ends: a small file that names the process it is meant for.
//
// A file and no signal: a process id may belong to somebody else by the time that a
// signal arrives, and a wish for an end after the running tick has no signal. A request
// that names another process, or is older than the one that reads it, is nobody's.
//
// It does not end anything itself: who watches does.
//
// Callers: host, and the workflows for Every.
package stoprequest
