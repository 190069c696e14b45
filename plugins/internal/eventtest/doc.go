// Package eventtest is an sdk.Events for tests: it keeps what a handler tells.
//
// It checks nothing; sdk/plugintest has the rules. Callers: tests of plugins.
package eventtest
