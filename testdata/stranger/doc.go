// Command stranger is a plugin for tests that is whatever the end of its own file says:
// one program makes any number of plugins and versions with hashes of their own, without
// a build each. The end is JSON, as [Identity] has it.
//
// It is a builder that does what it is told, whether it was granted or not, and writes
// into the workspace what came of it; or a provider, whose answer that is. It is no example
// for authors.
//
// Callers: script tests, by the command "stranger".
package main
