// Package setup is what makes relay ready to work in a repository: it writes a configuration,
// the checks that were found and prompts of one's own, says what is missing, records what is
// trusted, and shows and changes the configuration.
//
// It runs no workflow, and lands nothing but the files that it was asked for.
//
// Caller: cmd/relay.
package setup
