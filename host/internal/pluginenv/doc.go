// Package pluginenv starts the plugins of a run: it gives each the settings that concern
// it, private state, a file for its standard error, a folder for its sockets, and a
// box to live in.
//
// It also knows who comes next when a vendor refuses, whose account a plugin uses and whose
// turn it is on it ([Env.Lineup], [Env.Admit]), and keeps providers running from run to run
// ([Session]).
//
// It does not find plugins (catalog), speak with them (pluginhost), make changes
// (host/change) or keep accounts (ledger); it only says what a call used in the
// ledger's words.
//
// Callers: the workflows.
package pluginenv
