// Package runner makes a run on a worker: it keeps a checkout of each repository, brings it
// to the branch as it is now, starts the program relay there with --json, and reads what it
// says. What landed is pushed, and results with it; only what a question is about stays here
// until it is answered.
//
// It decides nothing that relay decides, and knows no vendor and no plugin.
package runner
