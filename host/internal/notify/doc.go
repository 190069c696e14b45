// Package notify tells the operator that something waits: a toast on the desktop, a
// program of the operator's own that gets one JSON object on its standard input, and
// services on the web whose addresses are kept like keys.
//
// It decides nothing, retries nothing, and never makes its caller wait for long: a
// notification that fails is a line in the log. The terminal's bell is rung by the command that
// has the terminal.
//
// Caller: host.
package notify
