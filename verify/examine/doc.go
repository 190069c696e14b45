// Package examine lets a hidden check call the code under test, which runs in a box of
// its own.
//
// A check writes requests, one JSON object per line, into a named pipe and reads one
// answer for each from another. relay, between the two, starts programs in the other box:
// a driver that loads a module and calls its functions ([Drivers]), or a program as it is.
// The check gets values back and compares them itself. The code under test sees neither
// the check's files nor its processes, and nothing that it says is a verdict.
//
// It knows no box: [Serve] is given a function that starts a program in one.
// Caller: host/checks.
package examine
