// Package resultref keeps the result of a run, or of a task, that was given a key as a git object, below
// refs/relay/results, and finds it again: on this machine, or on another that has fetched it.
//
// A repository can hold any ref that a stranger has put there. So a result counts only with
// the signature of a key that this machine trusts, and only for the key that was asked for,
// on a base that is here, with files of the digests that were signed. All else is data of
// bounded size that says nothing.
//
// It runs no tick, decides no exit code, and starts no program but git.
//
// Callers: tick keeps and finds results, host fetches them; host/pipelines does both for tasks.
package resultref
