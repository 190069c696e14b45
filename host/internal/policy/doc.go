// Package policy holds a judged change to rules that an organization or a repository wrote
// in CEL: each forbids the change, or asks the operator. None can allow anything.
//
// The user's rules come from a folder of the user's configuration, the repository's from
// policy/*.cel as the base commit has it: neither the work tree nor the change itself can
// loosen them, and the repository's only add to the user's. The repository's files that have
// no rule of this form are another program's and count for nothing. A file that can't be
// read or compiled blocks, and a rule that fails or costs too much forbids. Costs are
// bounded, so that the policy of a clone can't hang relay.
//
// It does not judge, land, ask or write anything.
//
// Callers: the workflows, after the judge and the checks and before a change lands; host,
// for relay policy.
package policy
