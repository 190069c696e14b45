// Command relay-plugin-replay is a provider without a model: it plays a script of
// answers, errors, delays and usage that someone wrote or that
// `relay run --record DIR` recorded.
//
// It is hermetic: it asks no network, and a request that no call of the script
// fits is an error that shows what was asked and what is left. The format is in
// docs/reference/replay.md.
package main
