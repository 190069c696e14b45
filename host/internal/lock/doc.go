// Package lock lets one workflow at a time work in one workspace.
//
// The kernel's lock on the file (flock) is the truth: it goes when its holder does.
// What lock.json says is information for people, and a second opinion where a
// file system has no working flock.
//
// It does not wait in line and does not know what its holder does.
//
// Callers: the workflows take it, host reads it for status and doctor.
package lock
