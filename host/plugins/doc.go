// Package plugins is what `relay plugin` calls: it installs, pins, grants, upgrades and lists
// plugins, writes the first files of a new one, and tries the rules of authors on one.
//
// It decides nothing about which plugin a run uses, and starts none outside of a box, except
// one that its own author tries.
//
// Caller: cmd/relay.
package plugins
