// Package sdk is what the author of a relay plugin imports. A plugin is a program
// named relay-plugin-NAME whose main calls [Serve] with an [Info] and the parts it
// offers: a [Provider] (asks a model) and/or a [Builder] (changes a workspace).
//
// A handler is an ordinary function that returns a value or an error. The package
// turns it into the protocol: numbered events, a started event first and exactly one
// completed or failure last, heartbeats, usage that never goes down, panics that
// become failures, an end of the process and of all its children when the host goes.
//
// It also has what a plugin needs to drive a vendor's command line: [RunCLI] and
// [ChildEnv].
//
// It does not decide whether a failed call is repeated (the host does, from the
// facts in a [Failure]), does not know relay's host, tasks or judge, and does not
// check a configuration against its schema (the host has done that).
//
// It is a module by itself: its authors need Go 1.24, and none of relay's modules.
//
// What it exports stays, and means the same, for as long as relay speaks protocol 1: a
// test holds each name and type in sdk, chat, httpjson and plugintest against a list, and the
// protocol's messages only grow. Packages below internal, and mtls and socket,
// are relay's own.
//
// Callers: plugins, and relay's host for [Handshake], [PluginMap], [MaxMessage] and [MaxAnswer].
package sdk
