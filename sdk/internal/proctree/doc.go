// Package proctree finds and ends the processes that a process has started, also those
// that left its process group or session. That is complete on Linux only; elsewhere it
// knows process groups.
//
// It does not start anything and does not decide when something must end.
//
// Callers: sdk (the end of a plugin, the end of a driven program) and sdk/plugintest
// (what a plugin left behind).
package proctree
