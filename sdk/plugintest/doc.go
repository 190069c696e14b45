// Package plugintest holds the rules that every plugin of relay keeps, as data, and a
// host that tries them: [Run] in a plugin's own tests, [Verify] for everything else.
//
// It tries a plugin in two ways: inside the test's process over real gRPC (fast, with
// the race detector), or as a built binary in a process of its own (real environment,
// real signals, real files). A rule that needs a real process says so and is skipped in
// the first way.
//
// It knows nothing of what a plugin is for: calls are made only for the cases that the
// author gives, since a call may cost money. It does not launch plugins for work (the
// host does) and does not decide what may be installed.
//
// Callers: tests of plugins, and the command that verifies an installed plugin.
package plugintest
