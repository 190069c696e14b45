// Package attempt is one attempt at a change, in the order of its functions: Begin makes
// the box from a commit, Open lets a builder in, Build has it work, Judge reads what it
// left, Checks are what verifies it, Decide holds it to the policy as code, Attest says
// what is known of what landed, and Reject keeps what did not. In between the change
// itself runs the checks and lands ([change.Change.Verify], [change.Change.Land]).
//
// Ticks, audit cycles and pipelines are the callers. Each says what is asked for, what it
// costs, how the commit reads, and what follows each outcome; the way is the same for all.
//
// It does not write the repository (host/change does), makes no paid call
// (host/internal/modelcall does), knows no workflow, and keeps no record: what a person should
// know goes through Note.
package attempt
