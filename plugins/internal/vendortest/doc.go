// Package vendortest is what the tests of the vendors' plugins have in common: what
// every failure must have, recorded outputs, and calls of a provider that go wrong.
//
// It knows no vendor and checks no good answer; sdk/plugintest has the rules that
// hold for every plugin. Callers: tests of plugins.
package vendortest
