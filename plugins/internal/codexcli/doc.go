// Package codexcli drives the Codex CLI without a terminal: its flags and
// environment, the events of `codex exec --json`, and the verdict on a run.
//
// The verdict never rests on the exit code alone. A run is good when the process
// ended with 0, the turn completed, and the model said something. Error events are
// notices; only a failed turn is a failure. Codex gives failures as sentences and
// nothing else, so they are classified by how those sentences begin: they are its
// own or the server's, never the model's.
//
// It does not hold answers to a schema (outschema does), knows no price, and does
// not judge what a run did to files. Callers: the plugins codex and codex-exec.
package codexcli
