// Package schemas holds the JSON Schemas of relay's files, for relay itself and
// for editors, and compiles them when first used.
//
// It does not decode (task, config, report and ledger do).
package schemas
