// Package script is the file format of scripted model calls: what a provider
// was asked, and what it is to answer.
//
// Two sides share it. The host appends one call for each answer it gets while
// it records (`relay run --record DIR`); the provider `replay` plays such a
// script back, as does anyone who writes one by hand for a test or a demo. The
// format is described for users in docs/reference/replay.md.
//
// The package reads, checks and writes scripts. It does not choose which call
// answers which request (the plugin replay does) and it knows no transport.
package script
