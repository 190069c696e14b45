// Package runs tells which files a command runs, wherever it names them. It knows no box and
// reads no file: its caller says what a name stands for.
//
// Callers: host/internal/config, for what no task may change, and host/checks, for what no
// builder may have replaced.
package runs
