// Package checks runs the checks of a change in boxes that hold what was judged, and decides
// what their ends are worth: beside the base, with its tests in the place of those that the
// change brings, by what the runners report, and by hidden checks.
//
// It is no part of the core: it can stop a change that the judge lets through, and never let
// one through that the judge stops. What lands is what was judged, whatever is said here.
//
// It does not decide what is run (host/internal/config, the task), and writes nothing in the
// repository.
//
// Callers: host/attempt for the workflows, host/newtests, and host/checkcmd for checks that are tried.
package checks
