// Package telemetry sends what a workflow tells its observer as OpenTelemetry spans: one
// for a run, below it one for each state, below that one for each call, named by the
// semantic conventions for generative AI.
//
// It is off unless the user's own configuration turns it on; then nothing is loaded,
// started or sent. Of an event it takes names, numbers and codes, never a text. A
// collector that is slow or gone costs a run nothing: spans wait in a bounded queue, and
// what does not go out in time is dropped and counted.
//
// It measures nothing itself, is no part of a run's record (report is), and keeps
// nothing on disk.
//
// Callers: package host, between the workflows and their observers.
package telemetry
