// Package screen draws on a terminal that can do more than print lines: the live region
// under a running command ([Live]), and the one screen of relay watch ([Watch]).
//
// What it shows comes from package host, and what a key does is done by package host or by
// relay itself in a process of its own. It parses no command line, decides nothing about a
// run, takes no lock and writes no file. Texts of others are made safe here, and every line
// is cut to the terminal by the columns that it takes there.
//
// Callers: cmd/relay.
package screen
