// Package keys finds the keys that a configuration refers to, and tells texts that
// look like a key from others.
//
// A configuration never holds a key. It says where one is: in a variable (env:NAME),
// in a file that only its owner can read (file:PATH), or in what a command prints. A
// key lives in memory for the time of one call of Resolve and goes to one plugin.
//
// It keeps nothing, masks nothing (package redact does), and no text of it, errors
// included, holds a key or what a command printed.
//
// Callers: package config for the form of references, package pluginhost for keys.
package keys
