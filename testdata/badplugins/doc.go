// Package badplugins has plugins that misbehave, one kind of misbehaviour each, to
// try relay's host on. A test binary acts as one of them when its TestMain calls
// [Act] first; the program badplugin does the same for tests that need a file.
//
// They say nothing about how to write a plugin: most of them do not use package sdk,
// because it would not let them do what they do.
//
// Callers: tests of package host/internal/pluginhost, script tests.
package badplugins
