// Package scaffold writes the repository of a new plugin: its program, its test, the
// cases that it is tried with, and a README that leads to a release.
//
// It fetches and builds nothing, and knows neither which plugins are installed nor
// what may be done with them (package host).
//
// Callers: package host, for `relay plugin new`.
package scaffold
