// Package newtests looks at the tests that a change brings: a test that also passes on the
// base's source does not show the change, and one that no small mistake in the changed
// lines makes fail says little about them.
//
// It only informs, and decides nothing. It runs the checks that have passed already, in
// boxes of package change, within a time limit. It knows no runner: tests are known by the
// names that a check reports, and mistakes come from package mutate.
//
// Caller: host/attempt.
package newtests
