// Package geminicli is what the plugins for Google's models share: what there is to
// log in with, what an error of Google's API means, and how to drive Gemini CLI
// without a terminal: its settings and environment, the events of its stream-json
// output, and the verdict on a run.
//
// The verdict never rests on the exit code alone, and never on words of a model. A
// run is good when the process ended with 0, its result event says success, no error
// event came before it, and the model came to its own end with an answer.
//
// It does not know relay's protocol beyond sdk's failures and usage, and does not
// judge what a run did to files. Callers: the plugins gemini and gemini-cli.
package geminicli
