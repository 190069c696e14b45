// Package catalog says which plugins exist: those that the lock file of the
// repository pins, and those that were built together with relay and lie beside it.
//
// It never looks in PATH, in the project or in the current folder, never starts
// anything, and never trusts a file whose hash it can't compare. It does not check
// the hash at launch either: package launch does, on the open file.
//
// Callers: host and the workflows; the program catalog/mkmanifest, which the
// Makefile runs, writes what the build knows about its plugins.
package catalog
