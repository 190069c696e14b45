// Package conformance tries a plugin of this repository by the rules of
// sdk/plugintest, in the test's own process and as the program that is built.
//
// Callers: the conformance tests of plugins.
package conformance
