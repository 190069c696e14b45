// Package fault has the reasons why a change can't be made, landed or taken back, as values.
//
// It advises nobody and knows no command: what a person reads about a fault is worded in
// host/diag, in one place for all of them.
//
// Callers: host/change and what stands on it return them; host/diag words them.
package fault
