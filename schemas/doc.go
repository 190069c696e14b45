// Package schemas holds the JSON Schemas of relay's files, for relay itself and
// for editors, and compiles each when it is first used.
//
// It does not decode (task, config, report and ledger do) and never loads a schema
// from a file or the network.
//
// Callers: task, report, ledger, workspace, and cmd for what it writes on init.
package schemas
