// Package secrets knows where a machine keeps credentials: which files and folders no
// box shows, what of a file is shown in place of the whole, and which values of theirs
// must not turn up in a change.
//
// Where they lie is data: places.txt. The package hides nothing itself, and keeps
// nothing: package judge/box hides, and what was found is looked up anew for each run.
//
// Callers: package pluginenv for boxes, package change before it lands something, pluginhost
// to say which keys it hands out, doctor.
package secrets
