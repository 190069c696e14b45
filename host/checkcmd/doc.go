// Package checkcmd is what `relay check` calls: it lists the checks of a repository, runs hidden
// ones by hand, writes new ones, also by a model, and tries a new one before it counts.
//
// It is not how a change is verified: that is package verify, by way of host/change.
//
// Callers: cmd/relay, host/setup.
package checkcmd
