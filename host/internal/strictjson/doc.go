// Package strictjson reads JSON from sources that may be hostile: keys match
// exactly, a key may appear once, size and depth are bounded, text is valid UTF-8
// and nothing follows the value.
//
// It does not repair anything: no fences, no comments, no trailing commas. It does
// not know schemas (see task and schemas).
//
// Callers: task, ledger, report, workspace, and whatever reads a model's words.
package strictjson
