// Package ledger counts what a milestone has used up, and refuses what would go
// over its caps. STATE.json holds the counters, usage.jsonl one line per paid call.
//
// A call is counted before it is made and settled after it, so that a crash in
// between neither forgets nor doubles it. What a call cost is unknown unless
// somebody said so; unknown is never 0.
//
// Milestones, runs, cycles and days have caps. Repositories of one machine can share
// their days by way of an account in relay's state folder.
//
// It does not make calls, starts no plugins, and does not decide about retries.
//
// Callers: the workflows; host reads it for status and cost.
package ledger
