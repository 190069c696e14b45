// Package claudecli drives Claude Code without a terminal: its flags and
// environment, the events of its stream-json output, and the verdict on a run.
//
// The verdict never rests on the exit code alone, and never on words in a text.
// A run is good when the process ended with 0, its last result event says
// success, and the answer that was asked for is there. Everything else becomes a
// Failure whose reason comes from the fields that the program sets: status
// numbers, error kinds, the reason it stopped.
//
// It does not know relay's protocol beyond sdk's failures and usage, and does
// not judge what a run did to files. Callers: the plugins claude and claude-code.
package claudecli
