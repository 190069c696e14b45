// Package history keeps what each run left behind: its report, the patch that was
// judged, the output of its checks and its plugins' stderr.
//
// It does not decide what is written there, never fails a finished run because of
// the size cap, and holds nothing that relay needs in order to continue.
//
// Callers: host/change and the workflows write, host reads and prunes.
package history
