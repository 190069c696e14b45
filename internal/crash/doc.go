// Package crash proves that relay can be ended at any moment: its tests kill the real
// program, or let its writes fail, and look at what the next start makes of it.
//
// A killed or failing relay leaves no process, loses and doubles no call, and leaves the
// repository at its base or at a judged commit. The moments are system calls, seen by a
// seccomp filter from outside, so the program under test is the one that users have.
//
// It holds no code but tests. `make crash` runs them at full length.
package crash
