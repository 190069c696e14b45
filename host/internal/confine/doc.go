// Package confine turns the configuration's box.network and box.limits into what one
// role's boxes are given, starts processes with it, and says afterwards what was
// refused or exceeded.
//
// It does not enforce anything itself: package judge/box holds the limits and makes
// the network, package netproxy serves the hosts that are listed, package broker the
// vendors of those that have no key.
//
// Callers: package pluginenv for plugins, the workflows for checks.
package confine
