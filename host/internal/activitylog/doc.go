// Package activitylog is the plain log of audit cycles: one file a day, one line an event,
// made to be read with grep.
//
// It does not know what a cycle is, filters nothing, and never removes a file.
//
// Callers: host.
package activitylog
