// Package loop makes tick after tick until one of these stops it: the orchestrator, the
// judge, a question, a budget, a limit that the operator set, or the operator.
//
// It is a workflow over host/durable in which a whole tick is one step. A loop that a
// crash or a signal cut off can therefore continue where it was, with its own limits and
// what it had already spent. It decides nothing about a change: host/tick does that.
//
// A tick that only met limits or outages of vendors is no reason: the loop waits, in a
// way that outlives relay and the machine, and makes the tick anew. How long is decided
// by host/internal/quota. The operator can end a wait at any time ([Wake]).
//
// It does not answer questions and prints nothing.
//
// Caller: host.
package loop
