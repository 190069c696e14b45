// Package configtemplate writes the first configuration of a repository: only the keys
// that differ from repository to repository, in JSON or in YAML with comments.
//
// It decides nothing that the built-in configuration already decides, and writes
// no file.
//
// Caller: host, for init.
package configtemplate
