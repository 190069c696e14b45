// Package clitool is what every plugin needs that drives a vendor's command
// line: finding the program, reading its version, private folders for one call, telling
// the host what happens inside.
//
// It runs nothing but `PROGRAM --version` and knows no vendor. Callers: the
// plugins that start another program.
package clitool
