// Package pluginhost is relay's side of the plugin protocol: it opens a plugin,
// compares what it says it is with what is pinned, configures it, and follows its
// calls event by event.
//
// Nothing that a plugin does can hang, flood or mislead the caller: breaches of the
// protocol, floods, silence, crashes and oversized messages all become one
// [Failure], with secrets masked. [Decide] is the one table that says what follows
// from a failure, and [Retry] the one loop that obeys it.
//
// It does not find plugins (package catalog), start processes (package launch) or
// keep accounts (package ledger); it believes nothing that a plugin says about what
// it changed.
//
// Callers: host/tick and the other workflows, host/change.
package pluginhost
