// Package drift plays recorded outputs of a vendor's program again, with the program that
// is installed and a scripted model on loopback, and says what changed in their shape:
// which events come in which order, which fields they have, how the program ends.
//
// Values do not count, and it judges no output: the drivers' own tests do, over the
// recordings. What it writes anew are recordings, never scripts. Callers: tests of the
// drivers, and `make drift` through them.
package drift
