// Package pipeline works through a task list: each task is planned, coded, reviewed and
// cleaned up in fresh processes, tried, held to its acceptance criteria, and landed as one
// judged change.
//
// Each attempt at a task is a run of host/durable with a folder of its own: its steps, its
// paid answers and the layer of its box outlive relay, so that a kill at any moment
// continues and buys nothing twice. What is built goes through host/attempt, as all changes
// do. The list itself (prd.json) is read anew before every task. What came of a task is
// written into it, into context.json, and committed.
//
// No model can say that a task is done: the judge, the validation command and evidence
// that the host has looked up itself do. What nobody can prove waits for the operator.
//
// It does not draw or edit task lists (prd), does not read answers (answer), writes no
// prompts (prompts), and prints nothing.
//
// Caller: host.
package pipeline
