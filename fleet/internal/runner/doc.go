// Package runner makes a run on a worker: it keeps a checkout of each repository, brings it
// to the branch as it is now, starts the program relay there with --json and --key, and reads
// what it says. Nothing of a run is on a worker alone: relay pushes the result and what landed.
//
// It decides nothing that relay decides, and knows no vendor and no plugin.
package runner
