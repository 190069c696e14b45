// Package about is what a program of relay's knows about its own making.
//
// It answers "--version" by itself, before the packages that come after it in the
// alphabet are set up: scripts and prompts ask for it all the time, and setting up
// schemas and protocols would take longer than the answer.
//
// It imports nothing but the standard library, and knows no other flag.
//
// Caller: cmd/relay.
package about
