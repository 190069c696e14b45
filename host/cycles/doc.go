// Package cycles is what the commands of audit cycles call: they start, review, approve, accept,
// repeat and end one, and look after the services that cycles are for.
//
// How a cycle goes is host/cycle; lists of cycles and one in full are host/views.
//
// Caller: cmd/relay.
package cycles
