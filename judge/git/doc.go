// Package git is the one hardened way in which relay calls git: on the operator's own
// repository only, never on something that a builder could have written. [Open] reads the
// configuration first; no call runs a program that it names (a hook, a filter, a pager, a
// credential helper) unless the caller asks for just that, and none reaches a remote but [Repo.Talk].
//
// It decides nothing about a change (judge), does not write the work tree (host/change), and
// has no words for users: an [Error] says what failed, and the host what to do about it.
//
// Callers: judge/box, host/change and host/internal/checkout, which the core consists of with
// it, and the host's rooms that look something up in the repository.
package git
