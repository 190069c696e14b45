// Package program finds the programs that relay starts on the host. A program is looked
// up once, along the absolute folders of PATH that lie outside of the work tree it is
// started for, with all links resolved; each start checks that the same file is still
// there. So nothing that a builder may write is ever started outside of a box by its
// name.
//
// It starts nothing itself. Callers: judge for git, and the rooms of host that start
// what the operator's configuration names.
package program
