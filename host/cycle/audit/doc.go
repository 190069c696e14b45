// Package audit reads and writes the texts of an audit cycle: audits, plans, and the
// whole-file answers of a revision. It knows the five sections, gives findings ids
// that stay the same across iterations, and checks what a refinement added or lost.
//
// Everything here is pure: text in, values out. It calls no model, writes no file,
// decides about no gate, and believes nothing that a text says about files.
//
// Caller: host/cycle.
package audit
