// Command relay-plugin-echo is the smallest plugin: a provider that answers with its
// prompt. main.go is the whole of it, and what the author's guide shows.
//
// It is an example and a test subject; no installation of relay has it.
package main
