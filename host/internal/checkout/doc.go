// Package checkout keeps commits of a repository outside of its work tree, for the boxes
// in which they are built and verified: what the operator does meanwhile has no part in
// either.
//
// A kept checkout is brought up to date, and not remade. It holds what git has of the
// commit, each file with the time that it has in the work tree where the content is the
// same, a copy of the git directory as git would have it with nothing under way, and small
// files that git ignores. Large folders of those (node_modules, target) and git's objects
// are named, for the box to show them as they are. A checkout that is taken belongs to its taker alone.
//
// No filter of the user's runs here: the caller says what runs them.
//
// Callers: host/change; host removes those that nobody has.
package checkout
