// Command alone runs a command in a network namespace in which there is loopback and
// nothing else: whatever the command does, no other host is asked.
//
//	alone COMMAND [ARGUMENT...]
//
// It needs no rights: an ordinary user gets a user namespace around it, in which he is
// who he was. Where the kernel allows neither it says so and exits with 125.
//
// It hides no files and no processes. Caller: .ci/e2e.
package main
