// Package job is what the fleet has Temporal remember: one workflow for each repository,
// which lets the runs that were asked for begin one after the other, and one for each run. That
// of a pipeline has a child for each task.
//
// Their inputs and results are digests, counts and codes. What a run is about lies in blobs;
// what it made lies in git. A payload that is larger than a few kilobytes is refused here,
// where it is an error with words: the engine drops some of them in silence.
//
// It starts no process (runner) and prints nothing (the commands).
package job
